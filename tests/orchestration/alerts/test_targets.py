"""Sending an alert to Slack, by e-mail, to a webhook and through Apprise, against receivers on loopback."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_string, policy
from typing import Any

import dagster as dg
import pytest
from pydantic import ValidationError

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.alerts import targets
from ragval_pipeline.orchestration.alerts.targets import (
    AlertNotSentError,
    AlertTarget,
    AppriseAlert,
    EmailAlert,
    SlackAlert,
    WebhookAlert,
)
from ragval_pipeline.orchestration.component.attributes import DagsterSettings
from ragval_pipeline.reporting.alert import Alert, ToldFinding
from ragval_pipeline.validation.verdict import RunVerdict
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


@pytest.mark.parametrize(("verdict", "kind"), [
    ("pass", "success"), ("not_measured", "warning"), ("fail", "failure"), ("error", "failure"),
])  # fmt: skip
def test_apprise_gets_title_text_and_the_kind_of_the_verdict(
    http: HttpReceiver, verdict: RunVerdict, kind: str
) -> None:
    AppriseAlert(url=f"{http.url.replace('http', 'json')}/hook").send(replace(ALERT, verdict=verdict))
    [(path, _, body)] = http.got
    assert (path, body["type"]) == ("/hook", kind)
    assert body["title"].endswith(": book (was Pass)")
    assert body["message"] == "1 of 3 is not met.\n\nRun: run-1"


def test_apprise_sends_mail(mail: MailReceiver) -> None:
    AppriseAlert(url=f"mailto://127.0.0.1:{mail.port}?from=a@x.test&to=b@x.test&mode=insecure").send(ALERT)
    [text] = mail.got
    assert message_from_string(text, policy=policy.default)["Subject"] == "Fail: book (was Pass)"


def test_apprise_sends_no_more_than_a_service_takes(http: HttpReceiver) -> None:
    found = ToldFinding("coverage.missing_page", "error", "word " * 120, "Do this.", new=True)
    address = f"{http.url.replace('http', 'mmost')}/{'t' * 26}"
    AppriseAlert(url=address).send(replace(ALERT, findings=(found,) * 9, report="s3://b/report.html"))
    AppriseAlert(url=address).send(replace(ALERT, report=f"s3://{'b' * 5000}"))
    fitted, cut = [body["text"] for body in http.bodies]
    assert len(fitted) <= 4000
    assert "and 4 more in the report" in fitted
    assert "Report: s3://b/" in fitted
    assert 3500 < len(cut) <= 4000


def test_apprise_waits_no_longer_for_a_service_than_other_targets(
    http: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(list[Any]):
        def append(self, entry: Any) -> None:
            time.sleep(1)

    http.got = Slow()
    monkeypatch.setattr(targets, "TIMEOUT_S", 0.2)
    with pytest.raises(AlertNotSentError, match="Connection error"):
        AppriseAlert(url=f"{http.url.replace('http', 'json')}?rto=60").send(ALERT)


def test_apprise_says_why_a_service_refused_without_its_address(http: HttpReceiver) -> None:
    http.status = 401
    target = AppriseAlert(url=f"{http.url.replace('http://', f'ntfy://me:{SECRET}@')}/topic%2Dsecret")
    with pytest.raises(AlertNotSentError, match=r"^apprise ntfy \w{8}: it was not sent \(.*error=401\)$") as failure:
        target.send(ALERT)
    assert not any(part in str(failure.value) for part in ("127", "topic-", SECRET))


@pytest.mark.parametrize("url", [
    f"no address {SECRET}", f"pigeon://{SECRET}", f"discord://{SECRET}", "${T_1:-}", f"json://a/{SECRET}, json://b",
])  # fmt: skip
def test_an_address_that_apprise_does_not_take_is_refused_without_repeating_it(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    target = AppriseAlert(url=url)
    for step in [lambda: target.send(ALERT)] + [target.check] * ("$" not in url):
        with pytest.raises(SuiteError, match="not the address of one service that Apprise knows") as error:
            step()
        assert SECRET not in f"{error.value}{error.value.remedy}{caplog.text}"


def test_an_address_is_checked_as_soon_as_its_variables_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    target = AppriseAlert(url="json://${T_1}/${T_2:-x}")
    target.check()
    monkeypatch.setenv("T_1", "?")
    with pytest.raises(SuiteError, match=target.name):
        target.check()
    monkeypatch.setenv("T_1", "a.test")
    target.check()


def test_apprise_is_named_by_what_is_written_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("T_1", f"json://{SECRET}")
    assert AppriseAlert(url="discord://${A}/${B}").name == "apprise discord 223aeab6"
    assert AppriseAlert(url=dg.EnvVar("T_1")).name == AppriseAlert(url="${T_1}").name == "apprise a045edb3"


def test_without_its_extra_apprise_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "find_spec", {}.get)
    with pytest.raises(SuiteError, match=r"need apprise\. Install it with: pip install .*\[apprise\]"):
        AppriseAlert(url="json://a").check()


@pytest.mark.parametrize("target", [
    SlackAlert(channel="#rag", token=SECRET, base_url=NOBODY),
    EmailAlert(to=("a@x.test",), sender="b@x.test", host="127.0.0.1", port=9, user="me", password=SECRET),
    WebhookAlert(url=f"{NOBODY}/{SECRET}", headers={"Authorization": SECRET}),
    WebhookAlert(url=f"no address {SECRET}"),
    AppriseAlert(url=f"json://{SECRET}:{SECRET}@127.0.0.1:9/{SECRET}?+Authorization={SECRET}"),
    AppriseAlert(url=f"mailtos://me:{SECRET}@127.0.0.1:9?from={SECRET}@x.test&to=b@x.test"),
    WebhookAlert(url=f"http://127.0.0.1:9/{SECRET}", headers={"Authorization": f"{SECRET}\n"}),
])  # fmt: skip
def test_a_failure_names_the_place_and_no_secret(target: AlertTarget) -> None:
    with pytest.raises(AlertNotSentError) as failure:
        target.send(ALERT)
    assert SECRET not in f"{failure.value}{target!r}{target.name}"
    assert str(failure.value).startswith(target.name)
    assert failure.value.__cause__ is None


def test_nothing_of_a_secret_address_is_logged(http: HttpReceiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    WebhookAlert(url=f"{http.url}/{SECRET}", headers={"Authorization": SECRET}).send(ALERT)
    slack(http).send(ALERT)
    AppriseAlert(url=f"{http.url.replace('http', 'json')}/{SECRET}").send(ALERT)
    assert len(http.got) == 3
    assert SECRET not in caplog.text


def test_what_other_threads_log_meanwhile_is_kept(http: HttpReceiver, caplog: pytest.LogCaptureFixture) -> None:
    class Logged(list[Any]):
        def append(self, entry: Any) -> None:
            for name in ("httpx", "apprise"):
                logging.getLogger(name).warning("of another thread")
            super().append(entry)

    http.got, http.status = Logged(), 500
    for target in (WebhookAlert(url=http.url), AppriseAlert(url=http.url.replace("http", "json"))):
        with pytest.raises(AlertNotSentError, match="500") as failure:
            target.send(ALERT)
        assert "thread" not in str(failure.value)
    assert caplog.text.count("of another thread") == 4


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
    {"type": "apprise", "url": [SECRET]},
])  # fmt: skip
def test_wrong_settings_are_refused_without_repeating_them(written: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as error:
        DagsterSettings.model_validate({"alerts": [written]})
    assert SECRET not in str(error.value)
