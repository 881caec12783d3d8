"""One page under several addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import LISTED, Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Other addresses of the page.

    Attributes:
        points: Number of the points that are stored under this one.
        others: The other addresses.
    """

    points: int
    others: Sequence[str]

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"also stored as {', '.join(self.others[:LISTED])}"


SQL = """
with part as (  -- paths that differ in case may be two pages
  select *, lower(page_key) as folded from addresses
), held as (
  select source_url, page_key, folded, unnest(chunks) as chunk from part
  where folded in (select folded from part group by folded having count(*) > 1)
), again as (  -- the same chunk under addresses that differ in fragment or case
  select distinct one.source_url, other.source_url as other, one.page_key <> other.page_key as is_of_case
  from held as one join held as other using (folded, chunk) where one.source_url <> other.source_url
), variant as (
  select one.source_url, other.bare as other from addresses as one join addresses as other using (page_key)
  where one.bare <> other.bare
  union select source_url, other from again
)
select source_url as name, page_key as page, points, list(other order by other) as others, others as _copies,
  -- only addresses that differ in case are two pages, of which the site has one
  case when page_key not in (
    select page_key from again join addresses using (source_url) where is_of_case) then ['FIELD'] end as _without
from addresses join variant using (source_url) group by source_url, page_key, points
"""

RULE = Rule(
    code="coverage.url_variant",
    severity="warning",
    level="subject",
    group="coverage",
    subject_kind="page",
    action="delete",
    title="One page under several addresses",
    means="is also stored under another address",
    many="are also stored under other addresses",
    measured=(
        "Stored URLs that refer to the same page are grouped, and every page with more than one URL is "
        "listed. URLs that differ in case or fragment count only if the same chunk is stored under both."
    ),
    cause=(
        "Links with http and https, or with and without a trailing slash, .html, www or a fragment, were "
        "ingested as different pages."
    ),
    remedy=(
        "Normalise URLs before ingesting. For each page, keep one URL and delete the points of the others. "
        "If each URL holds a different part of the page, re-ingest the page first."
    ),
    breaks={Aspect.FIELD, Aspect.ONCE, Aspect.POSITION},
    fields=("source_url",),
    repair="copies",
    keeps_one=True,
    to_copy="nothing",
    details=Details,
    sql=SQL,
)
