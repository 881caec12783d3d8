"""Pages changed since they were embedded."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="coverage.stale_page",
    severity="warning",
    level="subject",
    group="coverage",
    subject_kind="page",
    action="reingest",
    title="Pages changed since they were embedded",
    means="changed after it was embedded",
    many="changed after they were embedded",
    measured=(
        "The page's lastmod date in the sitemap is compared with the time stored with its newest chunk. "
        "Without plausible dates nothing is reported."
    ),
    cause="The page was edited and the index was not updated.",
    remedy="Re-ingest these URLs.",
    breaks={Aspect.VERSION},
    repair="complete",
)
