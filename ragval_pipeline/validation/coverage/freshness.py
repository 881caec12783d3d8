"""Pages that changed after they were embedded, by the sitemap's own dates.

What lives here: ``coverage.stale_page`` by lastmod and ``source.suspicious_lastmod``. What does not: changes seen in
the text itself (``validation/integrity``).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.validation.coverage.indexed import IndexedPage
from ragval_pipeline.validation.times import parse_time, utc_text

#: Clocks differ a little; more than this ahead is the future.
_CLOCK_SKEW = timedelta(minutes=10)


def freshness_findings(inventory: SiteInventory, indexed: Mapping[str, IndexedPage], *, now: datetime) -> list[Finding]:
    """Judge lastmod first, then pages by it: a build that stamps every page alike says nothing about any page."""
    dated = {page.key: moment for page in inventory.in_scope if (moment := parse_time(page.lastmod)) is not None}
    future = {key for key, moment in dated.items() if moment > now + _CLOCK_SKEW}
    findings = []
    stamped = len(dated) > 2 and len(set(dated.values())) == 1
    if stamped or (dated and len(future) == len(dated)):
        reason = "every page has the same lastmod" if stamped else "every lastmod lies in the future"
        findings.append(
            make_finding(
                "source.suspicious_lastmod",
                [inventory.location or "sitemap"],
                details={"pages": len(dated), "distinct": len(set(dated.values())), "future": len(future)},
                message=f"The sitemap's dates cannot be true: {reason}.",
            )
        )
        return findings
    subjects = []
    for page in inventory.in_scope:
        changed, known = dated.get(page.key), indexed.get(page.key)
        if changed is None or known is None or known.newest is None or page.key in future:
            continue
        if changed > known.newest:
            details = {"lastmod": page.lastmod, "embedded_at": utc_text(known.newest)}
            subjects.append(Subject(name=page.url, page=page.key, details=details))
    if subjects:
        findings.append(make_finding("coverage.stale_page", subjects))
    return findings
