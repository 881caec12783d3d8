"""Numbers with their units, rounded so that they still say the same."""

from __future__ import annotations

from typing import Literal

#: Means and scores are sums of floats: a difference this small, relative to the larger value (at least 1), is rounding.
TOLERANCE = 1e-9  # definition

Unit = Literal["percent", "score", "milliseconds", "count", "times"]

_DIGITS: dict[Unit, int] = {"percent": 1, "score": 3, "milliseconds": 1, "count": 0, "times": 2}
_MOST_DIGITS = 6


def show_percent(share: float | None) -> str:
    """A fraction 0..1 as percent; a dash without one."""
    return "-" if share is None else show_number(share, "percent")


def show_score(score: float | None) -> str:
    """A score with three digits; a dash without one."""
    return "-" if score is None else f"{score:.3f}"


def show_number(value: float, unit: Unit, threshold: float | None = None) -> str:
    """A value with its unit, in so few digits that it is on the same side of 0, 100 % and a threshold as unrounded."""
    scale = 100.0 if unit == "percent" else 1.0
    shown, limit = value * scale, None if threshold is None else threshold * scale
    first = 0 if unit == "milliseconds" and abs(shown) >= 100 else _DIGITS[unit]
    digits = next((d for d in range(first, _MOST_DIGITS) if _honest(shown, limit, unit, d)), _MOST_DIGITS)
    text = f"{shown:,.{digits}f}"
    if unit in {"percent", "milliseconds"} and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text + {"percent": " %", "milliseconds": " ms"}.get(unit, "")


def _honest(value: float, limit: float | None, unit: Unit, digits: int) -> bool:
    rounded = round(value, digits)
    marks = [0.0, *([100.0] if unit == "percent" else []), *([] if limit is None else [limit])]
    return all(_side(rounded, mark) == _side(value, mark) for mark in marks)


def _side(value: float, mark: float) -> int:
    # Values that a verdict considers equal must not look different.
    slack = max(abs(mark), 1.0) * TOLERANCE
    return 0 if abs(value - mark) <= slack else (1 if value > mark else -1)
