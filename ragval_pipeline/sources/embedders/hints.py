"""How long a server asks to wait, read from the headers of its answer."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def wait_hint(headers: Mapping[str, str] | None, *, now: float | None = None) -> float | None:
    """Seconds that the server asks to wait; None when it does not say or what it says is past.

    Read in this order: ``Retry-After-Ms``, ``Retry-After`` (seconds or HTTP date), ``X-RateLimit-Reset`` (Unix time).

    Args:
        headers: Response headers, names in any case.
        now: Unix time in seconds, for tests.
    """
    values = {name.lower(): value for name, value in (headers or {}).items()}
    clock = time.time() if now is None else now
    reset = _number(values.get("x-ratelimit-reset"))
    milliseconds = _number(values.get("retry-after-ms"))
    candidates = (
        None if milliseconds is None else milliseconds / 1000,
        _number(values.get("retry-after")),
        _until_date(values.get("retry-after"), clock),
        None if reset is None else reset - clock,
    )
    return next((seconds for seconds in candidates if seconds is not None and seconds > 0), None)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _until_date(text: str | None, clock: float) -> float | None:
    try:
        return parsedate_to_datetime(text or "").timestamp() - clock
    except (ValueError, OverflowError):
        return None
