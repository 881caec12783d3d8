"""Sending an alert to Slack, by e-mail and to a webhook, against receivers on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_string, policy
from typing import Any

import dagster as dg
import pytest
from pydantic import ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.alerts.targets import (
    AlertNotSentError,
    AlertTarget,
    EmailAlert,
    SlackAlert,
    WebhookAlert,
)
from ragval_pipeline.orchestration.component.attributes import DagsterSettings
from ragval_pipeline.reporting.alert import Alert
from tests.orchestration.alerts.receivers import HttpReceiver, MailReceiver, http_receiver, mail_receiver
from tests.orchestration.world import NOBODY

ALERT = Alert(suite="book", verdict="fail", before="pass", headline="1 of 3 is not met.", run_id="run-1")
SECRET = "xoxb-very-secret"


@pytest.fixture
def http() -> Iterator[HttpReceiver]:
    with http_receiver() as receiver:
        yield receiver


@pytest.fixture
def mail() -> Iterator[MailReceiver]:
    with mail_receiver() as receiver:
        yield receiver


def slack(http: HttpReceiver) -> SlackAlert:
    return SlackAlert(channel="#rag", token=SECRET, base_url=http.url)


def email(mail: MailReceiver, **more: Any) -> EmailAlert:
    settings = {"to": ("a@x.test", "b@x.test"), "sender": "ragval@x.test", "host": "127.0.0.1", "port": mail.port}
    return EmailAlert(**{**settings, "security": "none", **more})


def test_slack_gets_the_message_with_its_token(http: HttpReceiver) -> None:
    slack(http).send(ALERT)
    [(path, headers, body)] = http.got
    assert path == "/chat.postMessage"
    assert headers["authorization"] == f"Bearer {SECRET}"
    assert (body["channel"], body["text"]) == ("#rag", "Fail: book (was Pass)")
    assert body["blocks"][0]["type"] == "header"


def test_mail_reaches_every_receiver_as_text(mail: MailReceiver) -> None:
    email(mail).send(ALERT)
    [text] = mail.got
    message = message_from_string(text, policy=policy.default)
    assert message["Subject"] == "Fail: book (was Pass)"
    assert message["To"] == "a@x.test, b@x.test"
    assert "1 of 3 is not met." in message.get_content()


def test_a_mail_server_that_refuses_is_reported(mail: MailReceiver) -> None:
    mail.refuses = True
    with pytest.raises(AlertNotSentError, match=r"email a@x\.test, b@x\.test: 127\.0\.0\.1 "):
        email(mail).send(ALERT)


def test_a_webhook_gets_json_and_headers(http: HttpReceiver) -> None:
    WebhookAlert(url=f"{http.url}/hook", headers={"Authorization": f"Bearer {SECRET}"}).send(ALERT)
    [(path, headers, body)] = http.got
    assert (path, headers["authorization"]) == ("/hook", f"Bearer {SECRET}")
    assert (body["suite"], body["verdict"]) == ("book", "fail")


@pytest.mark.parametrize("target", [
    SlackAlert(channel="#rag", token=SECRET, base_url=NOBODY),
    EmailAlert(to=("a@x.test",), sender="b@x.test", host="127.0.0.1", port=9, user="me", password=SECRET),
    WebhookAlert(url=f"{NOBODY}/{SECRET}", headers={"Authorization": SECRET}),
    WebhookAlert(url=f"no address {SECRET}"),
    WebhookAlert(url=f"http://127.0.0.1:9/{SECRET}", headers={"Authorization": f"{SECRET}\n"}),
])  # fmt: skip
def test_a_failure_names_the_place_and_no_secret(target: AlertTarget) -> None:
    with pytest.raises(AlertNotSentError) as failure:
        target.send(ALERT)
    assert SECRET not in f"{failure.value}{target!r}{target.name}"
    assert str(failure.value).startswith(target.name)
    assert failure.value.__cause__ is None


def test_nothing_of_a_webhooks_address_is_logged(http: HttpReceiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    WebhookAlert(url=f"{http.url}/{SECRET}", headers={"Authorization": SECRET}).send(ALERT)
    slack(http).send(ALERT)
    assert len(http.got) == 2
    assert SECRET not in caplog.text


def test_secrets_are_read_when_an_alert_is_sent(http: HttpReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = [
        SlackAlert(channel="#rag", token=token, base_url=http.url) for token in ("${T_1:-}${T_2}", dg.EnvVar("T_2"))
    ]
    with pytest.raises(SuiteError, match="T_2 is not set"):
        targets[0].send(ALERT)
    monkeypatch.setenv("T_2", SECRET)
    for target in targets:
        target.send(ALERT)
    assert [headers["authorization"] for _, headers, _ in http.got] == [f"Bearer {SECRET}"] * 2


@pytest.mark.parametrize("written", [
    {"type": "pager"}, {"channel": "#rag"}, {"type": "slack"}, {"type": "webhook", "url": SECRET, "more": SECRET},
])  # fmt: skip
def test_wrong_settings_are_refused_without_repeating_them(written: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as error:
        DagsterSettings.model_validate({"alerts": [written]})
    assert SECRET not in str(error.value)
