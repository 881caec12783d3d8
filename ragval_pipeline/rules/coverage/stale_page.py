"""Pages changed since they were embedded."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.rules.source.suspicious_lastmod import DATES


class Details(NamedTuple):
    """When a page changed, and when its chunks were embedded.

    Attributes:
        lastmod: As in the sitemap.
        embedded_at: The latest time of its chunks.
    """

    lastmod: str | None
    embedded_at: str

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"changed {self.lastmod}, embedded {self.embedded_at}"


SQL = f"""
{DATES.strip()}, stored as (  -- under the address of most points
  select page_key, arg_min(address, (-points, address)) as address, any_value(newest) as newest
  from (
    select page_key, address, any_value(newest) as newest, sum(points) as points
    from (
      select *, case when count(*) over (partition by page_key) > 1 then bare else source_url end as address
      from addresses
    ) group by page_key, address
  ) group by page_key
)
select address as name, page_key as page, lastmod, stored.newest as embedded_at
from site join stored using (page_key), latest
where in_scope and modified > stored.newest
  and modified::timestamp <= moment and not exists (from dates where reason is not null)
"""  # noqa: S608  no value in it is from elsewhere

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
    details=Details,
    sql=SQL,
)
