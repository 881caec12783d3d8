"""Readable values of criteria: percent, milliseconds, scores, counts."""

from __future__ import annotations

from ragval_pipeline.suite.criteria import criterion_of
from ragval_pipeline.text.numbers import Unit, show_number
from ragval_pipeline.validation.verdict import CriterionResult

_SIGNS = {">=": "≥", "<=": "≤"}


def unit_of(name: str) -> Unit:
    """The display unit of the criterion ``name``; a score if it is unknown, as in the report of another version."""
    criterion = criterion_of(name)
    return "score" if criterion is None else criterion.unit


def show_value(result: CriterionResult) -> str:
    """The value with its unit; a dash if not measured.

    Rounding never turns a missed gate into a met one, 99.97 % into 100 %, or a small value into 0: then more digits are
    shown.
    """
    if result.value is None:
        return "-"
    return show_number(result.value, unit_of(result.name), result.threshold)


def show_measured(name: str, value: float | None) -> str:
    """A value of the criterion ``name`` with its unit; a dash if not measured."""
    return "-" if value is None else show_number(value, unit_of(name))


def show_gate(result: CriterionResult) -> str:
    """The gate with its operator and unit, ``≥ 90 %``; empty without a gate."""
    if result.threshold is None:
        return ""
    return f"{_SIGNS[result.operator]} {show_number(result.threshold, unit_of(result.name))}"


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
