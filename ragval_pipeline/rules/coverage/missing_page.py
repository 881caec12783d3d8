"""Pages missing from the index."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

SQL = """
select url as name, page_key as page from site
where in_scope and page_key not in (select page_key from addresses)
  and exists (from addresses)  -- no point names a page: nothing is compared
"""

RULE = Rule(
    code="coverage.missing_page",
    severity="error",
    level="subject",
    group="coverage",
    subject_kind="page",
    action="reingest",
    title="Pages missing from the index",
    means="of the site has no chunk",
    many="of the site have no chunk",
    measured=(
        "The pages in scope of the site are compared with the pages of all points. Variants of a URL, "
        "such as with and without a trailing slash, count as the same page."
    ),
    cause=(
        "The page was never ingested, its ingestion failed, or its points were deleted or overwritten by those "
        "of other pages with the same ids."
    ),
    remedy=(
        "Re-ingest these URLs. If other pages are missing then, make point ids from the whole address and the "
        "chunk number."
    ),
    breaks={Aspect.PRESENCE, Aspect.TARGET},
    reads={Aspect.FIELD, Aspect.PLACE, Aspect.LISTED},
    fields=("source_url",),
    lowers=("coverage", "source_captured", "self_retrieval"),
    judged_by=("coverage",),
    repair="complete",
    sql=SQL,
)
