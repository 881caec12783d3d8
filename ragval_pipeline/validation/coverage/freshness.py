"""Pages that changed after they were embedded, by the sitemap's own dates."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.sitemap.lastmod import parse_lastmod
from ragval_pipeline.validation.coverage.indexed import Covered
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.times import CLOCK_SKEW, utc_text


@detector("source.suspicious_lastmod", "coverage.stale_page", needs=Covered)
def freshness_findings(covered: Covered) -> Iterator[Finding]:
    """Judge lastmod first, then pages by it: a build that stamps every page alike says nothing about any page."""
    inventory, indexed = covered.inventory, covered.indexed
    dated = {page.key: moment for page in inventory.in_scope if (moment := parse_lastmod(page.lastmod)) is not None}
    suspicion = _suspicion(list(dated.values()), covered.now)
    if suspicion is not None:
        yield _suspicious(inventory, list(dated.values()), suspicion, covered.now)
        return
    subjects = []
    for page in inventory.in_scope:
        changed, known = dated.get(page.key), indexed.get(page.key)
        if changed is not None and known is not None and known.newest is not None and changed > known.newest:
            details = {"lastmod": page.lastmod, "embedded_at": utc_text(known.newest)}
            subjects.append(Subject(name=known.spelling, page=page.key, details=details))
    if subjects:
        yield make_finding("coverage.stale_page", subjects)


def _suspicion(moments: list[datetime], now: datetime) -> str | None:
    """Why the dates cannot be those of changes; two pages may well have changed at the same time."""
    if len(moments) > 2 and max(moments) - min(moments) <= CLOCK_SKEW:
        return "every page has the same lastmod"
    if moments and min(moments) > now + CLOCK_SKEW:
        return "every lastmod lies in the future"
    return None


def _suspicious(inventory: SiteInventory, moments: list[datetime], reason: str, now: datetime) -> Finding:
    return make_finding(
        "source.suspicious_lastmod",
        [inventory.location or "sitemap"],
        details={
            "pages": len(moments),
            "distinct": len(set(moments)),
            "future": sum(moment > now + CLOCK_SKEW for moment in moments),
            "first": utc_text(min(moments)),
            "last": utc_text(max(moments)),
        },
        message=f"The sitemap's dates say nothing about changes: {reason}.",
    )
