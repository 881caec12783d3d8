"""Readable values of criteria: percent, milliseconds, scores, counts."""

from __future__ import annotations

import re
from typing import Literal

from ragval_pipeline.suite.criteria import measure_of
from ragval_pipeline.validation.verdict import TOLERANCE, CriterionResult

Unit = Literal["percent", "score", "milliseconds", "count", "times"]

_SCORES = re.compile(r"avg_similarity|mrr|map|ndcg_at_\d+")
_COUNTS = frozenset({"error_findings", "no_regression"})
_DIGITS: dict[Unit, int] = {"percent": 1, "score": 3, "milliseconds": 1, "count": 0, "times": 2}
_MOST_DIGITS = 6
_SIGNS = {">=": "≥", "<=": "≤"}


def unit_of(name: str) -> Unit:
    """The display unit of the criterion ``name``, whatever the partition."""
    name = measure_of(name)
    if name.endswith("_ms"):
        return "milliseconds"
    if name in _COUNTS:
        return "count"
    if name == "times_stored":
        return "times"
    return "score" if _SCORES.fullmatch(name) else "percent"


def show_value(result: CriterionResult) -> str:
    """The value with its unit; a dash if not measured.

    Rounding never turns a missed gate into a met one, 99.97 % into 100 %, or a small value into 0: then more digits are
    shown.
    """
    if result.value is None:
        return "-"
    return _show(result.value, unit_of(result.name), result.threshold)


def show_measured(name: str, value: float | None) -> str:
    """A value of the criterion ``name`` with its unit; a dash if not measured."""
    return "-" if value is None else _show(value, unit_of(name), None)


def show_gate(result: CriterionResult) -> str:
    """The gate with its operator and unit, ``≥ 90 %``; empty without a gate."""
    if result.threshold is None:
        return ""
    return f"{_SIGNS[result.operator]} {_show(result.threshold, unit_of(result.name), None)}"


def show_percent(share: float | None) -> str:
    """A fraction 0..1 as percent; a dash without one."""
    return "-" if share is None else _show(share, "percent", None)


def show_score(score: float | None) -> str:
    """A score with three digits; a dash without one."""
    return "-" if score is None else f"{score:.3f}"


def show_seconds(seconds: float) -> str:
    """A duration: ``0.4 s``, ``42.5 s``, ``3 min 12 s``."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def show_spent(calls: int, tokens: float | None, usd: float | None, prices_of: str | None) -> str:
    """The cost of embedding in a few words; tokens and money only if known, money only for paid providers.

    ``prices_of`` is year and month of the prices; None if free.
    """
    told = f"{calls:,} embedding call{'s' * (calls != 1)}"
    if tokens:
        told += f", {tokens:,.0f} tokens"
    if usd is not None and prices_of is not None:
        price = f"{usd:,.2f}" if usd >= 0.01 else "under 0.01"
        told += f", {price} USD by the list price of {prices_of} (check yours)"
    return told


def _show(value: float, unit: Unit, threshold: float | None) -> str:
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
    # Same tolerance as the verdict: values that it considers equal must not look different.
    slack = max(abs(mark), 1.0) * TOLERANCE
    return 0 if abs(value - mark) <= slack else (1 if value > mark else -1)
