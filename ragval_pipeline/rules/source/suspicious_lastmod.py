"""Sitemap dates cannot be trusted."""

from __future__ import annotations

from ragval_pipeline.rules.rule import Found, Rule, Told

#: What the dates of all pages are, and why they are not those of changes, if they are not.
DATES = """
with latest as (  -- later times are in the future
  select now::timestamp + to_minutes($SKEW_MINUTES) as moment from run
), dates as (
  select count(*) as pages, count(distinct modified) as several, min(modified) as earliest, max(modified) as newest,
    count(*) filter (modified::timestamp > moment) as future,
    -- two pages may have changed at the same time, and a build does not date a few pages only
    case when pages > greatest(2, $MOST * (select count(*) from site where in_scope))
        and newest::timestamp - earliest::timestamp <= to_minutes($SKEW_MINUTES) then 'every lastmod is the same'
      when earliest::timestamp > any_value(moment) then 'every lastmod is in the future' end as reason
  from site, latest where in_scope and modified is not null
)
"""

SQL = f"""
{DATES.strip()}
select coalesce(site, 'sitemap') as name, reason as all_reason, pages as all_pages, several as all_distinct,
  future as all_future, earliest as all_first, newest as all_last
from dates, run where reason is not null
"""  # noqa: S608  no value in it is from elsewhere


def tell(found: Found) -> Told:
    """Why they cannot be dates of changes."""
    whole = dict(found.whole)
    reason = whole.pop("reason")
    return Told(f"The sitemap's dates cannot be used to detect changes: {reason}.", details=whole)


RULE = Rule(
    code="source.suspicious_lastmod",
    severity="info",
    level="corpus",
    group="coverage",
    subject_kind="url",
    action="site",
    title="Sitemap dates cannot be trusted",
    means="has lastmod dates that carry no information",
    many="have lastmod dates that carry no information",
    measured=(
        "The lastmod dates of all pages are compared with each other and with the time of the run. If more "
        "than half of the pages have one and all are equal, or all are in the future, no page is reported as stale "
        "based on its date."
    ),
    cause="Every lastmod is the same, or in the future: the build writes its own time.",
    remedy="Configure the site generator to write the date on which each page last changed.",
    sql=SQL,
    tell=tell,
)
