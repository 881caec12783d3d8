"""Alerts to Slack. What does not live here: what they say (``reporting/alert_text``)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

from pydantic import Field, SecretStr

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.alerts.errors import AlertNotSentError
from ragval_pipeline.orchestration.alerts.secret import Secret, read_secret
from ragval_pipeline.orchestration.alerts.target import TIMEOUT_S, Target
from ragval_pipeline.reporting.alert import Alert
from ragval_pipeline.reporting.alert_text import slack_blocks, subject
from ragval_pipeline.reporting.text import one_line


class SlackAlert(Target):
    """A Slack channel, through dagster-slack's resource (``pip install "ragval-pipeline[slack]"``).

    Args:
        channel: Name or id; the bot must be its member.
        token: Bot token with ``chat:write``, best as ``${SLACK_BOT_TOKEN}`` or ``dg.EnvVar``.
        base_url: Address of another Slack API, such as GovSlack's; null: Slack's own.
    """

    type: Literal["slack"] = "slack"
    channel: str = Field(min_length=1)
    token: Secret = SecretStr("${SLACK_BOT_TOKEN}")
    base_url: str | None = None

    @property
    def name(self) -> str:
        """Channel, after ``slack``."""
        return f"slack {self.channel}"

    def check(self) -> None:
        """The extra is installed.

        Raises:
            SuiteError: It is not.
        """
        if find_spec("dagster_slack") is None:
            raise SuiteError(
                "alerts to Slack need dagster-slack", remedy='Install it: pip install "ragval-pipeline[slack]".'
            )

    def send(self, alert: Alert) -> None:
        """Post it as a message of blocks."""
        from dagster_slack import SlackResource
        from slack_sdk.errors import SlackApiError, SlackClientError

        client = SlackResource(token=read_secret(self.token) or "").get_client()
        client.timeout = TIMEOUT_S
        if self.base_url:
            client.base_url = f"{self.base_url.rstrip('/')}/"
        try:
            client.chat_postMessage(channel=self.channel, text=subject(alert), blocks=slack_blocks(alert))
        except SlackApiError as error:
            said = error.response.get("error") or f"status {error.response.status_code}"
            raise AlertNotSentError(self.name, f"Slack refused it ({one_line(str(said))})") from None
        except (SlackClientError, OSError) as error:
            raise AlertNotSentError(self.name, f"Slack could not be reached ({type(error).__name__})") from None
