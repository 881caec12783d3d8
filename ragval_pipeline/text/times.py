"""Reading the times that payloads hold, and writing those of the report."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def parse_time(text: str | None) -> datetime | None:
    """A time as aware UTC datetime; None if the text is not a time.

    ISO 8601 dates and times, with or without zone (UTC then), the dates of mail and HTTP (RFC 5322), and Unix seconds,
    milliseconds, microseconds or nanoseconds written as numbers.
    """
    cleaned = (text or "").strip()
    if not cleaned:
        return None
    try:
        number = float(cleaned)
    except ValueError:
        return _iso(cleaned) or _mail(cleaned)
    # 20260131 is a date: as a number it would be a day of August 1970.
    return _unix(number) or _iso(cleaned)


def utc_text(moment: datetime) -> str:
    """A moment as the report writes it: UTC, ISO 8601 with Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _iso(text: str) -> datetime | None:
    # ISO 8601 allows "z", but Python 3.11 only reads "Z".
    for notation in (text, text.upper().removesuffix(" UTC").removesuffix(" GMT")):
        try:
            return _in_utc(datetime.fromisoformat(notation))
        except (ValueError, OverflowError):
            continue
    return None


def _mail(text: str) -> datetime | None:
    try:
        return _in_utc(parsedate_to_datetime(text))
    except (ValueError, OverflowError):
        return None


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _unix(number: float) -> datetime | None:
    for divisor in (1, 1e3, 1e6, 1e9):  # definition
        # Before 1990 a number is an index or a length, not an embedding time; after 2200 it has another unit.
        if 631_152_000 <= number / divisor < 7_258_118_400:  # definition
            return datetime.fromtimestamp(number / divisor, UTC)
    return None


def as_time(stored: object) -> str | None:
    """A stored time for display: seconds since 1970 and the like as ISO 8601, a text unchanged."""
    number = _number(stored)
    moment = None if number is None else parse_time(str(stored))
    return utc_text(moment) if moment is not None else stored if isinstance(stored, str) else None


def _number(stored: object) -> float | None:
    if not isinstance(stored, str | int | float) or isinstance(stored, bool):
        return None
    try:
        return float(stored)
    except ValueError:
        return None
