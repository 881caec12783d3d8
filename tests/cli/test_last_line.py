from __future__ import annotations

from ragval_pipeline.cli.run import closing_line
from ragval_pipeline.findings.factory import make_finding, merge_findings
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.site.inventory import NO_SOURCE
from ragval_pipeline.sources.workers import WorkerError
from ragval_pipeline.validation.measurement import failed_measurement
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import RunVerdict
from tests.reporting.factory import criterion, report

MISSING = make_finding("coverage.missing_page", ["https://a.example/docs/x"])


def reported(verdict: RunVerdict, *findings: Finding, unmeasured: dict[str, str] | None = None) -> ValidationReport:
    criteria = [
        criterion(name, None, 1.0, required=True, reason=f"not measured: {reason}", reason_code="no_data")
        for name, reason in (unmeasured or {}).items()
    ]
    return report(verdict, findings=list(findings), criteria=criteria)


def test_a_failed_system_is_named_although_an_error_in_the_index_comes_first() -> None:
    refused = make_finding("embedder.unreachable", ["401"], message="embedder: the key was refused.", remedy="Set it.")
    assert closing_line(reported("error", MISSING, refused)) == "embedder: the key was refused. Set it."


def test_a_remedy_that_the_message_holds_is_not_said_twice() -> None:
    refused = make_finding("index.unreachable", ["x"], message="Qdrant: refused. Start it.", remedy="Start it.")
    assert closing_line(reported("error", refused)) == "Qdrant: refused. Start it."


def test_what_was_not_measured_is_named_with_its_reasons_once() -> None:
    reasons = {"coverage": "nothing to compare", "query_pass_rate": "nothing to compare", "error_findings": "see above"}
    line = closing_line(reported("not_measured", unmeasured=reasons))
    assert line.endswith("coverage, query_pass_rate not measured: nothing to compare.")


def test_what_a_suite_without_a_source_cannot_measure_can_be_switched_off() -> None:
    reasons = {"coverage": NO_SOURCE, "content_integrity": NO_SOURCE, "query_pass_rate": "nothing was asked"}
    line = closing_line(reported("not_measured", unmeasured=reasons))
    assert line.endswith(". Set source, or criteria: {coverage: null, content_integrity: null}.")


def test_what_kept_the_run_from_measuring_is_named_with_its_remedy() -> None:
    empty = make_finding("index.empty", ["docs"], message="The collection docs is empty.", remedy="Run the ingestion.")
    line = closing_line(reported("not_measured", empty, unmeasured={"coverage": "there are no points"}))
    assert line == "The collection docs is empty. Run the ingestion."


def test_where_nothing_but_the_measuring_failed_the_line_says_why_and_what_to_do() -> None:
    empty = make_finding("index.empty", ["docs"], message="The collection docs is empty.", remedy="Run the ingestion.")
    counted = criterion("error_findings", 1.0, 0.0, required=True)
    failed = report("fail", findings=[empty], criteria=[counted])
    assert closing_line(failed) == "The collection docs is empty. Run the ingestion."
    assert closing_line(report("fail", findings=[empty, MISSING], criteria=[counted])) != closing_line(failed)


def test_checks_that_the_machine_ended_say_what_to_do() -> None:
    killed = WorkerError("a worker process was killed", "Give the run more memory.")
    ended = [
        finding
        for name in ("chunk_structure", "content_integrity")
        for finding in failed_measurement(name, killed).findings
    ]
    line = closing_line(reported("not_measured", *merge_findings(ended), unmeasured={"error_findings": "crashed"}))
    assert line.startswith("2 checks failed to run")
    assert line.endswith(" A worker process was killed. Give the run more memory.")


def test_a_crash_says_how_to_see_more() -> None:
    crashed = make_finding("check.crashed", ["coverage_report"], message="coverage_report failed to run (TypeError).")
    line = closing_line(reported("not_measured", crashed, unmeasured={"error_findings": "something crashed"}))
    assert line == "coverage_report failed to run (TypeError). --log-level DEBUG shows where."
