"""A seed's success criteria from the run's verdicts."""

from __future__ import annotations

from decimal import Decimal

from ragval_pipeline.reporting.profiles.entities import SuccessCriterion
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

_MET = {"met": True, "not_met": False, "not_measured": None}


def success(
    report: ValidationReport, field: str, criterion: str, *, percent: bool = False, scale: float = 1.0
) -> SuccessCriterion:
    """How one of the seed's criteria stands.

    Args:
        report: The run.
        field: The seed's name for the value.
        criterion: ragval's name for it.
        percent: The seed states it in percent.
        scale: Factor from ragval's unit to the seed's, e.g. 0.001 from milliseconds to seconds.
    """
    result = next((entry for entry in report.criteria if entry.name == criterion), None)
    if result is None or result.threshold is None:
        return SuccessCriterion(field=field, value=None, gate=None, met=None)
    factor = 100.0 if percent else scale
    return SuccessCriterion(
        field=field,
        value=None if result.value is None else _scaled(result.value, factor),
        gate=_scaled(result.threshold, factor),
        met=_MET[result.verdict],
    )


def verdict_of(results: list[CriterionResult], names: tuple[str, ...]) -> bool:
    """Whether all of some criteria are met, those that do not apply left out; false when none is left."""
    judged = [entry for entry in results if entry.name in names and not entry.excused]
    return bool(judged) and all(entry.verdict == "met" for entry in judged)


def _scaled(value: float, factor: float) -> float:
    # As decimals: 0.29 is 29 percent, not 28.999999999999996.
    return float(Decimal(repr(value)) * Decimal(repr(factor)))
