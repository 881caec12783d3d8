"""What the reports of the profiles share: their entities, their criteria and the rules that they judge by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.thresholds import ROUNDING
from ragval_pipeline.validation.verdict import CriterionResult


class SeedEntity(BaseModel):
    """Base of a seed's entities: created once, never changed."""

    model_config = ConfigDict(frozen=True)


class SuccessCriterion(SeedEntity):
    """A success criterion of a seed: ``value`` and ``gate`` in the seed's unit; ``met`` null when not measured."""

    field: str
    value: float | None
    gate: float | None
    met: bool | None


class RuleViolation(SeedEntity):
    """A value that a rule of the seed does not allow, shown as it is all the same."""

    entity: str
    where: str = Field(description="Path of the entity in this file, e.g. query_results[3].top_results[0]")
    field: str
    rule: str
    value: Any = None


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


@dataclass(frozen=True)
class Rule:
    """A rule of a seed for one field; ``holds`` is only asked of values that are there."""

    field: str
    rule: str
    holds: Callable[[Any], bool]


def broken_rules(
    entity: SeedEntity, where: str, *, required: Iterable[str] = (), rules: Iterable[Rule] = ()
) -> Iterator[RuleViolation]:
    """Required fields of an entity that are null, and values that break a rule.

    Args:
        entity: What is looked at.
        where: Its path in the report.
        required: Fields that must have a value.
        rules: Rules for values that are there.
    """
    name = type(entity).__name__
    for field in required:
        if getattr(entity, field) is None:
            yield RuleViolation(entity=name, where=where, field=field, rule="is required")
    for rule in rules:
        value = getattr(entity, rule.field)
        if value is not None and not rule.holds(value):
            yield RuleViolation(entity=name, where=where, field=rule.field, rule=rule.rule, value=value)


def is_share(value: float) -> bool:
    """Whether a value lies in 0..1; a cosine of 1.0000002 is rounding."""
    return -ROUNDING <= value <= 1.0 + ROUNDING


def is_filled(text: str) -> bool:
    """Whether a text holds more than blanks and characters that nobody sees."""
    return not is_blank(text)
