"""What each place was told last of each suite: the cursor of the alert sensor.

What lives here: the shape and its text. What does not: changing it (``sensor``). Every place has a memory of its own,
so that one that fails is told later and the others are not told twice.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ragval_pipeline.validation.verdict import RunVerdict


class Told(BaseModel):
    """The last validation of a suite that a place knows of, whether or not there was something to tell.

    Args:
        run_id: Its run.
        ended: When that ended, Unix seconds.
        verdict: Its verdict.
        findings: Keys of its findings.
    """

    model_config = ConfigDict(frozen=True)

    run_id: str
    ended: float
    verdict: RunVerdict
    findings: tuple[str, ...] = ()


class Memory(BaseModel):
    """By place and suite."""

    version: Literal[1] = 1
    told: dict[str, dict[str, Told]] = {}

    def of(self, target: str, suite: str) -> Told | None:
        """What a place was told last of a suite."""
        return self.told.get(target, {}).get(suite)

    def keep(self, target: str, suite: str, told: Told) -> None:
        """Remember it."""
        self.told.setdefault(target, {})[suite] = told

    @classmethod
    def of_cursor(cls, cursor: str | None) -> Memory:
        """What a cursor holds; nothing for none, and for one of another shape."""
        try:
            return cls.model_validate_json(cursor or "{}")
        except ValidationError:
            return cls()
