"""Where alerts go: Slack, e-mail, a webhook, as a configuration file names them.

What lives here: choosing by ``type``. What does not: any one place (``slack``, ``email``, ``webhook``).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter

from ragval_pipeline.orchestration.alerts.email import EmailAlert
from ragval_pipeline.orchestration.alerts.slack import SlackAlert
from ragval_pipeline.orchestration.alerts.target import AlertTarget
from ragval_pipeline.orchestration.alerts.webhook import WebhookAlert

#: What a configuration file may name; ``type`` tells them apart.
AnyTarget = Annotated[SlackAlert | EmailAlert | WebhookAlert, Field(discriminator="type")]


def target_of(written: Any) -> AlertTarget:
    """A target from its settings, ``{type: slack, channel: "#rag"}``.

    Raises:
        pydantic.ValidationError: The settings are wrong.
    """
    known: TypeAdapter[AlertTarget] = TypeAdapter(AnyTarget, config=ConfigDict(hide_input_in_errors=True))
    return known.validate_python(written)
