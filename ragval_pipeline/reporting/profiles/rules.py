"""Finding the values of a profile's report that break a rule of its seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.reporting.profiles.entities import RuleViolation, SeedEntity
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.thresholds import ROUNDING


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
