"""Alerts by e-mail. What does not live here: what they say (``reporting/alert_text``)."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from typing import Literal

from pydantic import Field

from ragval_pipeline.orchestration.alerts.errors import AlertNotSentError
from ragval_pipeline.orchestration.alerts.secret import Secret, Setting, read_secret, read_setting
from ragval_pipeline.orchestration.alerts.target import TIMEOUT_S, Target
from ragval_pipeline.reporting.alert import Alert
from ragval_pipeline.reporting.alert_text import plain_text, subject


class EmailAlert(Target):
    """E-mail over SMTP.

    Args:
        to: Receivers.
        sender: Whom it is from.
        host: SMTP server.
        port: Its port.
        security: ``starttls``, ``tls`` from the first byte, or ``none``.
        user: For servers that ask for a login, with ``password``.
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
        """Receivers, after ``email``."""
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
