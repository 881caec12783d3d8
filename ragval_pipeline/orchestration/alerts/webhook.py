"""Alerts to a webhook. What does not live here: what they say (``reporting/alert_text``)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Literal

from pydantic import Field

from ragval_pipeline.orchestration.alerts.errors import AlertNotSentError
from ragval_pipeline.orchestration.alerts.secret import Secret, read_secret
from ragval_pipeline.orchestration.alerts.target import TIMEOUT_S, Target
from ragval_pipeline.reporting.alert import Alert
from ragval_pipeline.reporting.alert_text import webhook_body


class WebhookAlert(Target):
    """An HTTP endpoint that takes JSON: incoming webhooks of Slack, Mattermost or Teams, or one of your own.

    Args:
        url: Where to post; often a secret by itself, so best as ``${NAME}`` or ``dg.EnvVar``.
        headers: Sent with it, such as ``Authorization``.
    """

    type: Literal["webhook"] = "webhook"
    url: Secret
    headers: dict[str, Secret] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """A hash of the address as it is written, after ``webhook``: many an address is a secret."""
        return f"webhook {sha256(self.url.get_secret_value().encode()).hexdigest()[:8]}"

    def send(self, alert: Alert) -> None:
        """Post it; any answer but 2xx is a failure."""
        import httpx

        url = read_secret(self.url) or ""
        headers = {name: read_secret(value) or "" for name, value in self.headers.items()}
        try:
            with _unlogged():
                answer = httpx.post(url, json=webhook_body(alert), headers=headers, timeout=TIMEOUT_S)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise AlertNotSentError(self.name, f"it could not be reached ({type(error).__name__})") from None
        if not answer.is_success:
            raise AlertNotSentError(self.name, f"it answered with status {answer.status_code}")


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep the address out of httpx's log, which holds that of every request."""
    log = logging.getLogger("httpx")
    log.addFilter(_nothing)
    try:
        yield
    finally:
        log.removeFilter(_nothing)


def _nothing(record: logging.LogRecord) -> bool:
    return False
