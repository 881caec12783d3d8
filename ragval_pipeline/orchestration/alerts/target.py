"""What every place that alerts go to has in common: what it is sent, its secrets, the error of what did not arrive."""

from __future__ import annotations

import os
from typing import Annotated, Any, Protocol

import dagster as dg
from pydantic import BaseModel, BeforeValidator, ConfigDict, SecretStr

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.reporting.alert import Alert
from ragval_pipeline.suite.interpolation import interpolate

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


class AlertNotSentError(RagvalError):
    """A place that alerts go to refused one, or could not be reached; the message holds no secret.

    Args:
        target: Name of the place.
        problem: What happened, one clause.
    """

    exit_code = 3

    def __init__(self, target: str, problem: str) -> None:
        self.target = target
        self.problem = problem
        super().__init__(f"{target}: {problem}")


def _placeholder(value: Any) -> Any:
    return f"${{{value.env_var_name}}}" if isinstance(value, dg.EnvVar) else value


#: ``${NAME}``, ``dg.EnvVar("NAME")`` or the secret itself.
Secret = Annotated[SecretStr, BeforeValidator(_placeholder)]
#: The same for what is no secret.
Setting = Annotated[str, BeforeValidator(_placeholder)]


def read_secret(secret: SecretStr | None) -> str | None:
    """The secret, its placeholders read from the environment; null for none, and for one that comes out empty.

    Raises:
        SuiteError: A variable is not set.
    """
    return None if secret is None else read_setting(secret.get_secret_value())


def read_setting(text: str) -> str | None:
    """``read_secret`` for what is no secret."""
    return str(interpolate(text, os.environ)).strip() or None
