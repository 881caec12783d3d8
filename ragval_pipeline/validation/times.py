"""Reading the times that payloads and sitemaps hold. What does not live here: judging them."""

from __future__ import annotations

from datetime import UTC, datetime


def parse_time(text: str | None) -> datetime | None:
    """A time as aware UTC datetime; null when the text is none.

    ISO 8601 dates and times, with or without zone (UTC then), and Unix seconds or milliseconds written as numbers.
    """
    if text is None or not text.strip():
        return None
    cleaned = text.strip()
    try:
        number = float(cleaned)
    except ValueError:
        return _iso(cleaned)
    return _unix(number)


def utc_text(moment: datetime) -> str:
    """A moment as the report writes it: UTC, ISO 8601 with Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _iso(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _unix(number: float) -> datetime | None:
    seconds = number / 1000 if abs(number) > 1e11 else number
    # Before 1990 a number is an index or a length, not a time of embedding.
    if not 631_152_000 <= seconds < 32_503_680_000:
        return None
    return datetime.fromtimestamp(seconds, UTC)
