"""Percentiles as seed 004 asks for them. What does not live here: what they are taken of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def nearest_rank(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least ``percent`` of the values do not exceed: one that was really measured.

    Args:
        values: At least one.
        percent: Above 0, at most 100.
    """
    ordered = sorted(values)
    # In whole hundredths: 0.95 * 20 must be 19, not 19.000000000000004.
    rank = math.ceil(round(percent * len(ordered), 9) / 100)  # definition
    return ordered[max(rank, 1) - 1]


def summary(values: Sequence[float]) -> dict[str, Any]:
    """``{p50, p95, max, n}``; null figures without values."""
    if not values:
        return {"p50": None, "p95": None, "max": None, "n": 0}
    middle, high = (nearest_rank(values, percent) for percent in (50, 95))  # definition
    return {"p50": middle, "p95": high, "max": max(values), "n": len(values)}
