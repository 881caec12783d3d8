"""What a site says it has: the pages of its sitemap with their dates, and the files that list them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """A page as the sitemap spells it, its ``lastmod`` as it stands there, and the file that lists it first."""

    url: str
    lastmod: str | None
    sitemap: str


@dataclass(frozen=True, slots=True)
class SitemapListing:
    """All pages, each once, in the order of the files that were read; ``site_host`` is the most frequent host."""

    entries: tuple[SitemapEntry, ...]
    files: tuple[str, ...]
    site_host: str | None
    location: str


_W3C = re.compile(
    r"(?P<date>\d{4}(-\d{2}(-\d{2})?)?)"
    r"([T ](?P<clock>\d{2}:\d{2}(:\d{2})?)(?P<fraction>\.\d+)?\s?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?",
    re.ASCII | re.IGNORECASE,
)


def parse_lastmod(text: str | None) -> datetime | None:
    """Read a W3C date and time (https://www.w3.org/TR/NOTE-datetime), as sitemaps use it.

    Args:
        text: ``2025``, ``2025-01``, ``2025-01-31`` or a date with a time; a blank instead of the ``T`` is accepted.

    Returns:
        An aware time in UTC; the first instant of a year, month or day without a time; UTC is assumed without a
        zone. None when the text is no such date.
    """
    match = _W3C.fullmatch((text or "").strip())
    if match is None:
        return None
    date = match["date"] + "-01" * (2 - match["date"].count("-"))
    fraction = (match["fraction"] or ".0")[:7]
    clock = (match["clock"] or "00:00") + (":00" if (match["clock"] or "").count(":") < 2 else "")
    zone = (match["zone"] or "Z").upper()
    try:
        return datetime.fromisoformat(f"{date}T{clock}{fraction.ljust(7, '0')}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
