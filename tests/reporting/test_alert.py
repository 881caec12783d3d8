"""What an alert tells, and how each medium writes it."""

from __future__ import annotations

import json

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.alert import (
    TOP_FINDINGS,
    Alert,
    alert_of,
    alert_without_report,
    body_text,
    finding_keys,
    is_worth_telling,
    plain_text,
    slack_blocks,
    subject,
    webhook_body,
)
from ragval_pipeline.reporting.document import run_document
from ragval_pipeline.validation.verdict import RunVerdict
from tests.reporting.factory import HOSTILE, RUN_ID, criterion, report

CRITERIA = [
    criterion("coverage", 12 / 13, 1.0, required=True, reason="1 of 13 pages has no chunk"),
    criterion("metadata_completeness", 1.0, 1.0, required=True),
    criterion("avg_similarity", 0.2, 0.5),
]
MISSING = make_finding("coverage.missing_page", [Subject(name="https://docs.example.com/docs/intro")])
EXACT = make_finding("chunk.duplicate_text", [Subject(name="p1"), Subject(name="p2")])


def failing(**more: object) -> Alert:
    run = report("fail", criteria=CRITERIA, findings=[MISSING, EXACT], **more)
    return alert_of(
        run_document(run), before="pass", known=(), location="s3://b/report.html", run_url="http://d.test/runs/1"
    )


@pytest.mark.parametrize(("before", "now", "told"), [
    (None, "pass", False), (None, "fail", True), (None, "error", True), (None, "not_measured", True),
    ("pass", "pass", False), ("pass", "fail", True), ("fail", "fail", False), ("fail", "pass", True),
    ("fail", "error", True), ("error", "error", False), ("error", "pass", True),
])  # fmt: skip
def test_only_a_change_of_verdict_is_worth_telling(before: RunVerdict | None, now: RunVerdict, told: bool) -> None:
    assert is_worth_telling(before, now) is told


def test_it_tells_the_required_criteria_that_are_not_met_and_no_other() -> None:
    [told] = failing().criteria
    assert (told.name, told.value, told.gate) == ("coverage", "92.3 %", "≥ 100 %")
    assert told.reason == "1 of 13 pages has no chunk"


def test_new_findings_come_first_and_are_marked() -> None:
    run = report("fail", criteria=CRITERIA, findings=[MISSING, EXACT])
    alert = alert_of(run_document(run), before="pass", known=finding_keys([MISSING.reported()]))
    assert [(finding.code, finding.new) for finding in alert.findings] == [
        ("chunk.duplicate_text", True),
        ("coverage.missing_page", False),
    ]


def test_of_a_first_validation_no_finding_is_called_new() -> None:
    alert = alert_of(run_document(report("fail", findings=[MISSING])), before=None, known=())
    assert [finding.new for finding in alert.findings] == [False]


def test_the_first_few_findings_are_named_and_the_rest_counted() -> None:
    findings = [make_finding("payload.missing_field", [Subject(name="p")], scope=f"f{n}") for n in range(9)]
    alert = alert_of(run_document(report("fail", findings=findings)), before=None, known=())
    assert (len(alert.findings), alert.more_findings) == (TOP_FINDINGS, 9 - TOP_FINDINGS)
    assert f"and {9 - TOP_FINDINGS} more in the report" in plain_text(alert)


def test_a_subject_says_what_changed() -> None:
    assert subject(failing()) == "Fail: demo_book (was Pass)"
    assert subject(alert_of(run_document(report()), before="fail", known=())) == "Pass: demo_book (was Fail)"


def test_the_plain_text_says_verdict_criteria_findings_and_where_to_look() -> None:
    text = plain_text(failing())
    for part in (
        "❌ Fail: demo_book (was Pass)", "Pages in the index 92.3 % (required: ≥ 100 %): 1 of 13 pages has no chunk",
        "Pages missing from the index (error, new)", MISSING.remedy, "Report: s3://b/report.html",
        "Run: http://d.test/runs/1", "Collection: ragval_demo",
    ):  # fmt: skip
        assert part in text


def test_an_alert_about_a_run_without_a_report_names_the_run() -> None:
    text = plain_text(alert_without_report("demo_book", RUN_ID, before="pass"))
    assert "before it could write a report" in text
    assert f"Run: {RUN_ID}" in text


@pytest.mark.parametrize(("limit", "findings", "criteria"), [(10_000, 5, 3), (2000, 2, 3), (500, 0, 1), (300, 0, 0)])
def test_a_text_with_a_limit_leaves_out_findings_then_criteria(limit: int, findings: int, criteria: int) -> None:
    met = [criterion(f"c{n}", 0.5, 1.0, required=True, reason="why " * 100) for n in range(3)]
    found = [make_finding("payload.missing_field", [Subject(name="p")], scope=f"f{n}" * 99) for n in range(7)]
    alert = alert_of(
        run_document(report("fail", criteria=met, findings=found)), before=None, known=(), location="s3://b/report.html"
    )
    text = body_text(alert, limit)
    assert len(text) <= limit
    assert text.endswith("Report: s3://b/report.html\nRun: " + RUN_ID + "\nCollection: ragval_demo\n")
    assert (text.count("(error)"), text.count("(required:")) == (findings, criteria)
    assert (f"and {7 - findings} more in the report" in text) == (findings > 0)


def test_slack_gets_a_header_sections_and_links() -> None:
    blocks = slack_blocks(failing())
    assert [block["type"] for block in blocks] == ["header", "section", "section", "section", "context"]
    assert blocks[0]["text"]["text"] == "❌ Fail: demo_book (was Pass)"
    assert "<http://d.test/runs/1|run>" in blocks[-1]["elements"][0]["text"]


@pytest.mark.parametrize("text", ["<!channel> <@U1>", "<http://evil.test|click>", *HOSTILE])
def test_nothing_that_an_index_holds_calls_people_or_becomes_a_link(text: str) -> None:
    criteria = [criterion("coverage", 0.5, 1.0, required=True, reason=text)]
    alert = alert_of(run_document(report("fail", criteria=criteria, collection_name=text)), before=None, known=())
    shown = json.dumps(slack_blocks(alert), ensure_ascii=False)
    assert not any(mark in shown for mark in ("<!", "<@", "<#", "<http://evil", "\x1b", "\u202e"))


def test_texts_keep_within_what_slack_takes() -> None:
    criteria = [criterion(f"c{n}", 0.5, 1.0, required=True, reason="why " * 100) for n in range(40)]
    blocks = slack_blocks(
        alert_of(run_document(report("fail", criteria=criteria, suite="s" * 300)), before=None, known=())
    )
    assert len(blocks[0]["text"]["text"]) <= 150
    assert all(len(block["text"]["text"]) <= 3000 for block in blocks if block["type"] == "section")


def test_a_webhook_gets_every_field_and_a_text_that_chat_tools_show() -> None:
    body = json.loads(json.dumps(webhook_body(failing())))
    assert body["text"] == plain_text(failing())
    assert (body["suite"], body["verdict"], body["before"]) == ("demo_book", "fail", "pass")
    assert body["findings"][0]["code"] == "coverage.missing_page"
