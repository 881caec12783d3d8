"""What the reports of all profiles share: the base of entities, success criteria and broken rules."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


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
