"""Secrets of alert targets: written as ``${NAME}``, read when an alert is sent, never shown.

What lives here: the field type and reading it. What does not: the targets.
"""

from __future__ import annotations

import os
from typing import Annotated, Any

import dagster as dg
from pydantic import BeforeValidator, SecretStr

from ragval_pipeline.suite.interpolation import interpolate


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
