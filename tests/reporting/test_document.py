from __future__ import annotations

import io
import random
import re

import pytest
from rich.console import Console

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.orchestration.metadata import offenders_in_words
from ragval_pipeline.reporting.alert import alert_of
from ragval_pipeline.reporting.document import Criteria, RunDocument, run_document
from ragval_pipeline.reporting.files.junit import junit_xml
from ragval_pipeline.reporting.files.summary_md import summary_md
from ragval_pipeline.reporting.outline import title_of
from ragval_pipeline.reporting.run import Run
from ragval_pipeline.reporting.terminal.summary import render_summary
from ragval_pipeline.validation.query_report import HeldTo
from ragval_pipeline.validation.report import ValidationReport
from tests.reporting import factory
from tests.reporting.factory import report_html

UNJUDGED = HeldTo(top_k=5, conditions=[], min_similarity=None, module_match=None)
CODES = (
    "chunk.stale_tail", "coverage.foreign_host", "coverage.missing_page", "integrity.not_captured",
    "payload.empty_field", "query.failed", "text.boilerplate", "text.mojibake", "vector.zero",
)  # fmt: skip


def world(seed: int) -> ValidationReport:
    """A report of findings of any severity and share, in any order, some of which follow from another."""
    rng = random.Random(seed)
    codes = rng.sample(CODES, rng.randint(3, len(CODES)))
    findings = []
    for number, code in enumerate(codes):
        above = rng.choice([None, *codes[:number]])
        changed = {"severity": rng.choice(["error", "warning", "info"]), "because": above, "share": rng.random()}
        findings.append(make_finding(code, [f"s{number}"]).model_copy(update=changed))
    return factory.report("fail", findings=rng.sample(findings, len(findings)))


def nested(document: RunDocument) -> list[str]:
    return [entry.finding.code for entry in document.entries]


def printed(report: ValidationReport) -> str:
    page = io.StringIO()
    render_summary(report, Console(file=page, width=200), report_path=None)
    return page.getvalue()


@pytest.mark.parametrize("seed", range(20))
def test_all_outputs_show_the_same_findings_in_the_same_order(seed: int) -> None:
    report = world(seed)
    document = run_document(report)
    assert sorted(nested(document)) == sorted(finding.code for finding in report.findings)
    summary, page = summary_md(document).decode(), report_html(factory.bundle(report)).decode()
    assert re.findall(r"^ *- \S+ \*\*.*?\*\* `([a-z._]+)`:", summary, re.MULTILINE) == nested(document)
    assert re.findall(r'<article class="finding.*?<a class="code" href="[^"]*">([a-z._]+)</a>', page, re.DOTALL) == (
        nested(document)
    )
    named = re.findall(r"  ([a-z_]+\.[a-z_]+)$", printed(report).partition("Required")[0], re.MULTILINE)
    assert named == nested(document)


@pytest.mark.parametrize("seed", range(20))
def test_outputs_without_room_for_the_tree_show_it_level_by_level(seed: int) -> None:
    report = world(seed)
    document = run_document(report)
    flat = [finding.code for finding in document.findings]
    loud = [finding.code for finding in document.findings if finding.severity != "info"]
    assert sorted(flat) == sorted(nested(document))
    assert flat[: len(loud)] == loud
    alert = alert_of(document, before=None, known=())
    assert [finding.code for finding in alert.findings] == loud[: len(alert.findings)]
    assert offenders_in_words(document).split(";\n")[: len(loud)] == (
        [f"{offender(document, code)}: {title_of(code)}" for code in loud[:3]] or [""]
    )
    card = Run(report, "runs/1")._repr_html_()
    assert re.findall(r"<li><b>([a-z]+)</b>", card) == [finding.severity for finding in document.findings[:5]]


def offender(document: RunDocument, code: str) -> str:
    [entry] = [entry for entry in document.entries if entry.finding.code == code]
    return next(entry.subjects()).line


def test_among_findings_of_one_level_the_roots_keep_the_order_of_the_tree() -> None:
    document = run_document(world(3))
    roots = [entry.finding.code for entry in document.tree if entry.finding.severity != "info"]
    assert [finding.code for finding in document.findings][: len(roots)] == roots


def test_criteria_begin_with_what_is_wrong() -> None:
    results = [
        factory.criterion("coverage", 1.0, 1.0, required=True),
        factory.criterion("accuracy", None, 1.0, required=True),
        factory.criterion("query_pass_rate", 0.5, 1.0, required=True),
        factory.criterion("mrr", 0.9, 0.5),
        factory.criterion("relevance_rate", 0.1, 0.5),
        factory.criterion("ann_recall", None, 0.5),
    ]
    names = ["query_pass_rate", "accuracy", "coverage", "relevance_rate", "mrr", "ann_recall"]
    assert [result.name for result in Criteria.of(results).all] == names
    shown = junit_xml(run_document(factory.report("fail", criteria=results))).decode()
    assert re.findall(r'name="([a-z_]+)" time', shown.partition('name="queries"')[0]) == names


def test_questions_begin_with_those_that_failed_and_drafts_come_last() -> None:
    unjudged = factory.query("draft", "Q?", 0.5, passed=None, given={"status": "draft"}, held_to=UNJUDGED)
    queries = [
        factory.query("good", "Q?", 0.9), unjudged, factory.query("bad", "Q?", 0.1, passed=False),
        factory.query("also good", "Q?", 0.9),
    ]  # fmt: skip
    document = run_document(factory.report("fail", query_results=queries))
    assert [query.query_id for _, query in document.questions] == ["bad", "good", "also good", "draft"]
    assert [number for number, _ in document.questions] == [2, 0, 3, 1]
    assert [query.query_id for query in document.failed_questions] == ["bad"]
    cases = re.findall(r'name="([a-z ]+): Q', junit_xml(document).decode())
    assert cases == ["bad", "good", "also good", "draft"]


def test_a_headline_names_three_causes_errors_before_warnings_and_counts_the_rest() -> None:
    codes = ("coverage.foreign_host", "integrity.not_captured", "text.mojibake", "vector.zero")
    errors = [make_finding(code, ["1"]).model_copy(update={"severity": "error"}) for code in codes]
    leftover = make_finding("chunk.stale_tail", ["1"]).model_copy(update={"severity": "warning", "share": 1.0})
    gone = make_finding("integrity.gone", ["1"]).model_copy(
        update={"severity": "error", "because": "chunk.stale_tail", "share": 1.0}
    )
    missed = [factory.criterion("error_findings", 5, 0, required=True)]
    told = run_document(factory.report("fail", criteria=missed, findings=[leftover, gone, *errors])).sentence
    assert told.count(";") == 3
    assert "older version" not in told
    assert "2 more errors" in told


def test_errors_beside_a_pass_are_said_to_be_tolerated() -> None:
    failed = make_finding("query.failed", ["q1"]).model_copy(update={"severity": "error"})
    passed = [factory.criterion("query_pass_rate", 0.95, 0.9, required=True)]
    told = run_document(factory.report("pass", criteria=passed, findings=[failed])).sentence
    assert ", with 1 error that the gates tolerate: “" in told
