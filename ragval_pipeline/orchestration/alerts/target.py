"""What every place that alerts go to has in common. What does not live here: any one place."""

from __future__ import annotations

from typing import Protocol

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.reporting.alert import Alert

#: One place must not keep the others from being told within the minute that a sensor has.
TIMEOUT_S = 10


class AlertTarget(Protocol):
    """A place that alerts go to."""

    @property
    def name(self) -> str:
        """What tells it from others, without secrets: the sensor remembers under it what was told."""

    def check(self) -> None:
        """Raise ``SuiteError`` when it cannot work, before anything is sent."""

    def send(self, alert: Alert) -> None:
        """Tell it; raise ``AlertNotSentError`` when it does not arrive, ``SuiteError`` for a variable not set."""


class Target(BaseModel):
    """Base of the places that ragval knows: frozen settings, and no error repeats what was given."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    def check(self) -> None:
        """Nothing to check."""
