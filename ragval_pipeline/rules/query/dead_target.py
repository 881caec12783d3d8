"""Questions that expect what does not exist."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="query.dead_target",
    severity="error",
    level="subject",
    group="queries",
    subject_kind="query",
    action="query",
    title="Questions that expect what does not exist",
    means="expects a page, module, chapter or point that does not exist",
    many="expect a page, module, chapter or point that does not exist",
    measured=(
        "The pages, modules and chapters that queries expect are looked up in the sitemap and in the index, "
        "and point ids in the index."
    ),
    cause="The expectation is misspelled, or the page was renamed.",
    remedy="Correct the expectation.",
    breaks={Aspect.TARGET},
    reads={Aspect.FIELD, Aspect.PRESENCE},
    repair="drop_expectation",
    explains_queries_only=True,
)
