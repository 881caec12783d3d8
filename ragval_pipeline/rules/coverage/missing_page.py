"""Pages missing from the index."""

import math

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Found, Rule, Told

SQL = """
with listed as (
  select url, page_key, page_key in (select page_key from addresses) as stored, row_number() over (order by nth) as nth,
    regexp_replace(page_key, '/[^/]*/?$', '') as folder
  from site where in_scope
), lacking as (
  select * from listed where not stored and exists (from addresses)  -- no point names a page: nothing is compared
)
select url as name, page_key as page, (select count(*) from listed) as all_listed,
  min(nth) over () as all_first, max(nth) over () as all_last,
  exists (from listed where stored and folder in (select folder from lacking)) as all_within
from lacking
"""

#: Chance that so many of the pages follow each other although each was lost for itself, below which they were not.
_CHANCE = 0.05  # definition
_IN_A_ROW = (
    "They follow each other where the site lists its pages ({first} to {last} of {listed}), and pages beside them in "
    "the same folder are stored: a batch of the ingestion failed or was not written, or they are newer than the index."
)
_AT_THE_END = (
    "They are the last {count} of the {listed} pages that the site lists, and pages beside them in the same folder are "
    "stored: the ingestion stopped before the end, reads no more pages than a limit, or they are newer than the index."
)
_WRITE_AGAIN = (
    "Re-ingest these URLs. If they were on the site at the last ingestion, let it stop with an error when a batch "
    "fails, instead of going on."
)
_READ_ON = (
    "Re-ingest these URLs. If they were on the site at the last ingestion, first remove what stops it, such as a limit "
    "of pages or an error."
)


def tell(found: Found) -> Told:
    """Another cause and remedy for pages that follow each other in the site's list, and are not a whole folder."""
    count, listed, first, last = len(found), *(int(found.whole[name]) for name in ("listed", "first", "last"))
    in_a_row = last - first + 1 == count
    if not in_a_row or not found.whole["within"] or _by_chance(count, listed) > _CHANCE:
        return Told(details={})
    told, remedy = (_AT_THE_END, _READ_ON) if last == listed else (_IN_A_ROW, _WRITE_AGAIN)
    cause = told.format(count=count, listed=listed, first=first, last=last)
    return Told(cause=cause, remedy=remedy, details={})


def _by_chance(count: int, listed: int) -> float:
    """How probably so many of the listed pages follow each other, 0..1, if each was lost for itself."""
    ways = math.lgamma(listed + 1) - math.lgamma(count + 1) - math.lgamma(listed - count + 1)
    return (listed - count + 1) * math.exp(-ways)


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
    tell=tell,
)
