"""A page host that cannot be read, as a part of manifests."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ragval_pipeline.errors import SystemFailure


class HostFailure(BaseModel):
    """Why reading ended early: the page host did not answer, or refused access."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    problem: str
    code: str
    system: str
    subject: str
    remedy: str = ""
    attempts: int = 1
    details: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, failure: SystemFailure) -> HostFailure:
        """The facts of a failure."""
        return cls(**{name: getattr(failure, name) for name in cls.model_fields})

    def error(self) -> SystemFailure:
        """The failure as it was raised."""
        return SystemFailure(**self.model_dump())
