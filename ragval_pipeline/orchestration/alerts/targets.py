"""Targets of alerts: Slack, e-mail, a webhook, any service of Apprise, or your own; and their common base."""

from __future__ import annotations

import logging
import os
import re
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from email.message import EmailMessage
from hashlib import sha256
from importlib.util import find_spec
from typing import Annotated, Any, Literal, Protocol
from urllib.parse import unquote

import dagster as dg
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from ragval_pipeline.errors import RagvalError, SuiteError, install_line
from ragval_pipeline.reporting.alert import Alert, body_text, plain_text, slack_blocks, subject, webhook_body
from ragval_pipeline.suite.interpolation import interpolate, interpolate_known, is_unread
from ragval_pipeline.text.display import one_line, shorten

#: One target must not use up the minute that a sensor has for all.
TIMEOUT_S = 10


class AlertTarget(Protocol):
    """A target of alerts."""

    @property
    def name(self) -> str:
        """A unique name without secrets: the key of the sensor's memory."""

    def check(self) -> None:
        """Raise ``SuiteError`` if it cannot work, before anything is sent."""

    def send(self, alert: Alert) -> None:
        """Send an alert; raise ``AlertNotSentError`` if that fails, ``SuiteError`` for a variable that is not set."""


class Target(BaseModel):
    """Base of the built-in targets: frozen settings; errors never repeat the input."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    def check(self) -> None:
        """Nothing to check."""


class AlertNotSentError(RagvalError):
    """A target refused an alert, or could not be reached; the message has no secrets."""

    exit_code = 3

    def __init__(self, target: str, problem: str) -> None:
        self.target = target
        self.problem = problem
        super().__init__(f"{target}: {problem}")


def _placeholder(value: Any) -> Any:
    return f"${{{value.env_var_name}}}" if isinstance(value, dg.EnvVar) else value


#: ``${NAME}``, ``dg.EnvVar("NAME")`` or the secret itself.
Secret = Annotated[SecretStr, BeforeValidator(_placeholder)]
#: The same for settings that are not secret.
Setting = Annotated[str, BeforeValidator(_placeholder)]


def read_secret(secret: SecretStr | None) -> str | None:
    """The secret, with placeholders read from the environment; None for none or an empty one.

    Raises:
        SuiteError: A variable is not set.
    """
    return None if secret is None else read_setting(secret.get_secret_value())


def read_setting(text: str) -> str | None:
    """``read_secret`` for settings that are not secret."""
    return str(interpolate(text, os.environ)).strip() or None


class EmailAlert(Target):
    """E-mail over SMTP.

    Attributes:
        to: Recipients.
        sender: The From address.
        host: SMTP server.
        port: Its port.
        security: ``starttls``, ``tls`` from the first byte, or ``none``.
        user: For servers that need a login, with ``password``.
        password: Best as ``${SMTP_PASSWORD}`` or ``dg.EnvVar``.
    """

    type: Literal["email"] = "email"
    to: tuple[str, ...] = Field(min_length=1)
    sender: str = Field(min_length=1)
    host: Setting = Field(min_length=1)
    port: int = Field(587, ge=1, le=65535)
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: Setting | None = None
    password: Secret | None = None

    @property
    def name(self) -> str:
        """``email`` and the receivers."""
        return f"email {', '.join(self.to)}"

    def send(self, alert: Alert) -> None:
        """Send it as plain text."""
        message = EmailMessage()
        message["Subject"], message["From"], message["To"] = subject(alert), self.sender, ", ".join(self.to)
        message.set_content(plain_text(alert))
        host = read_setting(self.host) or ""
        user, password = read_setting(self.user or ""), read_secret(self.password)
        try:
            with self._connected(host) as server:
                if user and password:
                    server.login(user, password)
                server.send_message(message)
        except smtplib.SMTPResponseException as error:
            raise AlertNotSentError(self.name, f"{host} refused it (SMTP {error.smtp_code})") from None
        except (smtplib.SMTPException, OSError) as error:
            raise AlertNotSentError(self.name, f"{host} failed ({type(error).__name__})") from None

    def _connected(self, host: str) -> smtplib.SMTP:
        if self.security == "tls":
            return smtplib.SMTP_SSL(host, self.port, timeout=TIMEOUT_S, context=ssl.create_default_context())
        server = smtplib.SMTP(host, self.port, timeout=TIMEOUT_S)
        if self.security == "starttls":
            server.starttls(context=ssl.create_default_context())
        return server


class SlackAlert(Target):
    """A Slack channel, through dagster-slack's resource (``pip install "ragval-pipeline[slack]"``).

    Attributes:
        channel: Name or id; the bot must be a member.
        token: Bot token with ``chat:write``, best as ``${SLACK_BOT_TOKEN}`` or ``dg.EnvVar``.
        base_url: Address of another Slack API, such as GovSlack's; None: Slack's own.
    """

    type: Literal["slack"] = "slack"
    channel: str = Field(min_length=1)
    token: Secret = SecretStr("${SLACK_BOT_TOKEN}")
    base_url: str | None = None

    @property
    def name(self) -> str:
        """``slack`` and the channel."""
        return f"slack {self.channel}"

    def check(self) -> None:
        """Check that the extra is installed.

        Raises:
            SuiteError: It is not.
        """
        if find_spec("dagster_slack") is None:
            raise SuiteError("alerts to Slack need dagster-slack", remedy=f"Install it with: {install_line('slack')}")

    def send(self, alert: Alert) -> None:
        """Post it as a message with blocks."""
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


class WebhookAlert(Target):
    """An HTTP endpoint that takes JSON: incoming webhooks of Slack, Mattermost or Teams, or your own.

    Attributes:
        url: Where to post; often a secret itself, so best as ``${NAME}`` or ``dg.EnvVar``.
        headers: Request headers, such as ``Authorization``.
    """

    type: Literal["webhook"] = "webhook"
    url: Secret
    headers: dict[str, Secret] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """``webhook`` and a hash of the address as written: many addresses are secret."""
        return f"webhook {_digest(self.url)}"

    def send(self, alert: Alert) -> None:
        """Post it; any status other than 2xx is a failure."""
        import httpx

        url = read_secret(self.url) or ""
        headers = {name: read_secret(value) or "" for name, value in self.headers.items()}
        try:
            with _unlogged("httpx"):
                answer = httpx.post(url, json=webhook_body(alert), headers=headers, timeout=TIMEOUT_S)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise AlertNotSentError(self.name, f"it could not be reached ({type(error).__name__})") from None
        if not answer.is_success:
            raise AlertNotSentError(self.name, f"it answered with status {answer.status_code}")


class AppriseAlert(Target):
    """A service that Apprise knows, such as Teams, Discord, PagerDuty, Telegram or ntfy.

    With ``pip install "ragval-pipeline[apprise]"``. The text is cut to what the service takes.

    Attributes:
        url: One address as in https://appriseit.com/services, such as ``discord://ID/TOKEN``; it holds secrets, so best
            as ``${NAME}`` or ``dg.EnvVar``.
    """

    type: Literal["apprise"] = "apprise"
    url: Secret

    @property
    def name(self) -> str:
        """``apprise``, the schema unless a variable holds it, and a hash of the address as written."""
        schema = re.match(r"(\w+)://", self.url.get_secret_value())
        return " ".join(["apprise", *(schema.groups() if schema else ()), _digest(self.url)])

    def check(self) -> None:
        """Check that the extra is installed, and the address, unless a variable of it is not set yet.

        Raises:
            SuiteError: It is not, or Apprise does not know the address.
        """
        if find_spec("apprise") is None:
            raise SuiteError(
                "alerts through Apprise need apprise", remedy=f"Install it with: {install_line('apprise')}"
            )
        address = interpolate_known(self.url.get_secret_value(), os.environ)
        if not is_unread(address):
            self._service(address)

    def send(self, alert: Alert) -> None:
        """Send it as plain text, which Apprise turns into what the service shows."""
        address = read_secret(self.url) or ""
        service = self._service(address)
        kind = {"pass": "success", "not_measured": "warning"}.get(alert.verdict, "failure")
        title = subject(alert)
        text = body_text(alert, limit=service[0].body_maxlen - len(title))
        with _unlogged(*_APPRISE_LOGS) as said:
            sent = service.notify(text, title, notify_type=kind, body_format="text")
        if not sent:
            reason = _without(address, said[-1]) if said else "no reason given"
            raise AlertNotSentError(self.name, f"it was not sent ({shorten(reason, 200).rstrip('.')})")

    def _service(self, address: str) -> Any:
        """Apprise with this one service, that waits no longer than other targets."""
        import apprise

        # Not in threads of its own, where a log could not be attributed to this alert.
        service = apprise.Apprise(asset=apprise.AppriseAsset(async_mode=False))
        with _unlogged(*_APPRISE_LOGS):
            known = service.add(address)
        # Several would all get an alert again when one of them had failed.
        if not known or len(service) != 1:
            raise SuiteError(
                f"{self.name}: not the address of one service that Apprise knows",
                remedy="See https://appriseit.com/services; several addresses are several targets.",
            )
        settings: Any = service[0]
        settings.socket_connect_timeout = settings.socket_read_timeout = TIMEOUT_S
        settings.overflow_mode = apprise.OverflowMode.TRUNCATE
        return service


#: What logs an address on Apprise's way to a service.
_APPRISE_LOGS = (
    "apprise",
    "oauthlib.oauth1.rfc5849",
    "requests_oauthlib.oauth1_auth",
    "urllib3.connectionpool",
    "urllib3.util.retry",
)
#: The warnings of the alert that is being sent.
_said: ContextVar[list[str] | None] = ContextVar("said", default=None)


@contextmanager
def _unlogged(*loggers: str) -> Iterator[list[str]]:
    """Keep addresses out of these logs; yields the warnings that they do not get.

    What other threads log meanwhile is left alone.
    """
    said: list[str] = []

    def passes(record: logging.LogRecord) -> bool:
        if _said.get() is not said:
            return True
        if record.levelno >= logging.WARNING:
            said.append(record.getMessage())
        return False

    token = _said.set(said)
    logs = [logging.getLogger(name) for name in loggers]
    for log in logs:
        log.addFilter(passes)
    try:
        yield said
    finally:
        for log in logs:
            log.removeFilter(passes)
        _said.reset(token)


def _without(address: str, text: str) -> str:
    """``text`` without URLs, and without any part of ``address`` but its schema."""
    text = re.sub(r"\w+://\S+", "…", text)
    written = {part for part in re.split(r"[/?&=@:,#+]+", address.partition("://")[2]) if len(part) > 2}
    for part in sorted({*written, *map(unquote, written)}, key=len, reverse=True):
        text = text.replace(part, "…")
    return text


def _digest(secret: SecretStr) -> str:
    return sha256(secret.get_secret_value().encode()).hexdigest()[:8]


#: Targets in configuration files, distinguished by ``type``.
AnyTarget = Annotated[SlackAlert | EmailAlert | WebhookAlert | AppriseAlert, Field(discriminator="type")]
