"""What a run of a bad index leaves in Dagster: red after its evidence, or because something could not run."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import dagster as dg
import pytest

from ragval_pipeline.demo.workspace import DemoHome
from ragval_pipeline.measuring.table import ASSETS
from ragval_pipeline.orchestration.names import asset_key
from tests.orchestration.world import (
    NAME,
    NOBODY,
    World,
    a_page,
    checked,
    failed_steps,
    left_report,
    materialised,
    metadata_of,
    report_file,
    run_job,
)

#: Only what coverage needs: these runs take a fraction of a second.
COVERAGE = "coverage"
ONLY_COVERAGE_COUNTS = {
    "query_pass_rate": None, "metadata_completeness": None, "error_findings": None, "critical_queries": None,
}  # fmt: skip
EVERYTHING = set(ASSETS)


@pytest.fixture(scope="module")
def red(demo: DemoHome, tmp_path_factory: pytest.TempPathFactory) -> dg.ExecuteInProcessResult:
    """A run over an index that lacks a page, with an asset behind the report and one that has nothing to do with it."""
    world = World.copied(demo, tmp_path_factory.mktemp("red") / "world")
    world.delete_page(a_page(world))

    @dg.asset(deps=[dg.AssetKey([NAME, "validation_report"])])
    def published_index() -> None: ...

    @dg.asset
    def unrelated() -> None: ...

    @dg.asset(deps=[dg.AssetKey([NAME, "coverage_report"])])
    def beside_the_report() -> None: ...

    assets = [published_index, unrelated, beside_the_report]
    return run_job(world.suite(), only=COVERAGE, beside=assets)


def test_a_failed_gate_turns_the_run_red_after_the_report_is_written(red: dg.ExecuteInProcessResult) -> None:
    assert not red.success
    assert materialised(red) >= EVERYTHING
    report = json.loads(report_file(red).read_text(encoding="utf-8"))
    assert report["verdict"] == "fail"
    assert (report_file(red).parent / "report.html").is_file()
    coverage = checked(red, "validation_report")["coverage"]
    assert not coverage.passed
    assert coverage.blocking
    assert coverage.severity == dg.AssetCheckSeverity.ERROR


def test_behind_a_failed_gate_nothing_runs_and_elsewhere_everything_does(red: dg.ExecuteInProcessResult) -> None:
    assert not {"published_index", "beside_the_report"} & materialised(red)
    assert "unrelated" in materialised(red)


def test_a_failed_criterion_carries_its_numbers_and_the_pages_to_blame(
    world: World, red: dg.ExecuteInProcessResult
) -> None:
    for check in (checked(red, "coverage_report")["coverage"], checked(red, "validation_report")["coverage"]):
        metadata = check.metadata
        assert metadata["value_numerator"].value == metadata["value_denominator"].value - 1 == 12
        assert metadata["value"].value == 0.923077
        assert metadata["gate"].value == ">= 1"
        assert metadata["verdict"].value == "not_met"
        assert metadata["value_offenders"].value == 1
    assert "offenders" not in checked(red, "coverage_report")["coverage"].metadata, "listed once"
    [row] = [record.data for record in checked(red, "validation_report")["coverage"].metadata["offenders"].records]
    assert row["code"] == "coverage.missing_page"
    assert row["subject"] == a_page(world)


def test_the_verdict_names_its_first_offenders_and_the_report(world: World, red: dg.ExecuteInProcessResult) -> None:
    shown = checked(red, "validation_report")["verdict"].metadata
    assert shown["offenders"].value.startswith(urlsplit(a_page(world)).path)
    assert shown["report"].value == f"{report_file(red).parent}/report.html"


def test_a_criterion_that_only_warns_leaves_the_run_green(world: World) -> None:
    world.delete_page(a_page(world))
    gates = {**ONLY_COVERAGE_COUNTS, "coverage": {"threshold": 1.0, "required": False}}
    result = run_job(world.suite({"criteria": gates}), only=COVERAGE)
    assert result.success
    coverage = checked(result, "coverage_report")["coverage"]
    assert not coverage.passed
    assert coverage.severity == dg.AssetCheckSeverity.WARN
    assert "coverage" not in checked(result, "validation_report")


def test_what_the_run_does_not_select_is_shown_as_not_measured_and_its_gate_is_closed(world: World) -> None:
    result = run_job(world.suite(), only=COVERAGE)
    assert not result.success
    assert materialised(result) == EVERYTHING
    assert checked(result, "coverage_report")["coverage"].passed
    gate, check = (
        checked(result, name)["query_pass_rate"] for name in ("validation_report", "query_validation_results")
    )
    for shown, severity in ((gate, dg.AssetCheckSeverity.ERROR), (check, dg.AssetCheckSeverity.WARN)):
        assert not shown.passed
        assert shown.severity == severity
        assert shown.metadata["verdict"].value == "not_measured"
        assert "value" not in shown.metadata
    assert "not selected" in metadata_of(result, "query_validation_results")["not_measured"].value


def test_an_unknown_group_in_the_runs_tag_is_an_error_and_not_an_empty_validation(world: World) -> None:
    result = run_job(world.suite(), only="covrage")
    assert failed_steps(result) == {"validation"}
    [message] = [event.step_failure_data.error_display_string for event in result.all_events if event.is_step_failure]
    assert "there is no group covrage" in message
    assert "coverage" in message


def test_a_required_criterion_whose_source_is_not_configured_blocks_unless_the_suite_switches_it_off(
    world: World,
) -> None:
    result = run_job(world.suite({"criteria": ONLY_COVERAGE_COUNTS, "source": None}), only=COVERAGE)
    assert not result.success
    gate = checked(result, "validation_report")["coverage"]
    assert (gate.passed, gate.severity, gate.blocking) == (False, dg.AssetCheckSeverity.ERROR, True)
    report = json.loads(report_file(result).read_text(encoding="utf-8"))
    [coverage] = [criterion for criterion in report["criteria"] if criterion["name"] == "coverage"]
    assert (report["verdict"], coverage["reason_code"]) == ("not_measured", "no_data")
    off = world.suite({"criteria": {"coverage": None, "metadata_completeness": 1.0}, "source": None})
    assert run_job(off, only="coverage,metadata").success


def test_a_gate_read_from_the_environment_is_the_same_in_check_and_report(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.delete_page(a_page(world))
    monkeypatch.setenv("WANTED_COVERAGE", "1.0")
    suite = world.suite({"criteria": {**ONLY_COVERAGE_COUNTS, "coverage": "${WANTED_COVERAGE}"}})
    monkeypatch.setenv("WANTED_COVERAGE", "0.5")
    result = run_job(suite, only=COVERAGE)
    assert result.success
    assert checked(result, "coverage_report")["coverage"].metadata["gate"].value == ">= 0.5"
    assert checked(result, "validation_report")["coverage"].metadata["gate"].value == ">= 0.5"


def test_a_crashed_detector_fails_its_step_and_the_rest_is_measured_and_reported(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret-in-a-message") from RuntimeError("what a server answered")

    monkeypatch.setattr("ragval_pipeline.validation.coverage.compare.measure_coverage", broken)
    result = run_job(world.suite(), only="coverage,metadata")
    assert not result.success
    assert failed_steps(result) == {"validation"}
    assert materialised(result) == EVERYTHING - {"validation_report"}
    assert "ZeroDivisionError" in metadata_of(result, "coverage_report")["not_measured"].value
    assert not checked(result, "coverage_report")
    assert checked(result, "metadata_expectations")["metadata_completeness"].passed
    report = json.loads(left_report(world, result).read_text(encoding="utf-8"))
    criteria = {criterion["name"]: criterion for criterion in report["criteria"]}
    assert (criteria["coverage"]["verdict"], criteria["coverage"]["reason_code"]) == ("not_measured", "crashed")
    assert criteria["metadata_completeness"]["verdict"] == "met"
    assert report["verdict"] == "fail"
    assert "check.crashed" in {finding["code"] for finding in report["findings"]}
    assert "secret-in-a-message" not in left_report(world, result).read_text(encoding="utf-8")
    assert "what a server answered" not in "".join(str(event) for event in result.all_events)


@pytest.mark.parametrize(("defect", "told"), [
    ("ragval_pipeline.measuring.judging._differences", {"check.crashed"}),
    ("ragval_pipeline.orchestration.validation.gate_results", set()),
])  # fmt: skip
def test_a_crash_of_the_reports_own_step_fails_it_and_the_report_is_there_and_announced(
    world: World, monkeypatch: pytest.MonkeyPatch, defect: str, told: set[str]
) -> None:
    """Before the report is written, and after."""
    monkeypatch.setattr(defect, lambda *_, **__: 1 / 0)
    with dg.DagsterInstance.ephemeral() as instance:
        result = run_job(world.suite(), instance=instance, only=COVERAGE)
        [seen] = instance.fetch_observations(asset_key(NAME, "validation_report"), limit=1).records
    assert failed_steps(result) == {"validation"}
    assert materialised(result) == EVERYTHING - {"validation_report"}
    report = json.loads(left_report(world, result).read_text(encoding="utf-8"))
    assert {finding["code"] for finding in report["findings"]} == told
    assert {entry["name"]: entry["verdict"] for entry in report["criteria"]}["coverage"] == "met"
    assert seen.asset_observation.metadata["verdict"].value == report["verdict"] == ("fail" if told else "pass")


def step_failure(result: dg.ExecuteInProcessResult) -> tuple[str, dict[str, object]]:
    [event] = [event for event in result.all_events if event.is_step_failure]
    data = event.step_failure_data.user_failure_data
    return data.description, {name: value.value for name, value in data.metadata.items()}


def test_where_sitemap_and_collection_cannot_be_read_both_are_named(world: World) -> None:
    changes = {"source": {"sitemap": f"{NOBODY}/sitemap.xml"}, "qdrant": {"path": "./nowhere"}, "retry": {"max": 0}}
    result = run_job(world.suite(changes))
    assert failed_steps(result) == {"validation"}
    [written] = world.reports.glob("*/validation_report.json")
    codes = {finding["code"] for finding in json.loads(written.read_text(encoding="utf-8"))["findings"]}
    assert codes == {"source.unreachable", "index.unreachable"}


@pytest.mark.parametrize(
    ("qdrant", "code"),
    [
        ({"url": NOBODY, "path": None}, "index.unreachable"),
        ({"collection": "physical_ai_bok"}, "index.collection_missing"),
        ({"path": "./nowhere"}, "index.unreachable"),
    ],
)
def test_a_collection_that_cannot_be_read_fails_the_snapshot_and_keeps_the_sitemap(
    world: World, qdrant: dict[str, object], code: str
) -> None:
    result = run_job(world.suite({"qdrant": qdrant, "retry": {"max": 0}}))
    assert not result.success
    assert {"sitemap_urls"} <= materialised(result) <= {"sitemap_urls", "page_snapshot"}
    assert json.loads(left_report(world, result).read_text(encoding="utf-8"))["verdict"] == "error"
    assert failed_steps(result) == {"validation"}
    _, facts = step_failure(result)
    assert facts["code"] == code
    assert facts["system"] == "Qdrant"
    assert facts["remedy"]
    assert not (world.folder / "nowhere").exists()


def test_a_variable_that_is_not_set_fails_the_first_step_and_is_named(world: World) -> None:
    result = run_job(world.suite({"qdrant": {"path": None, "url": "${NO_SUCH_VARIABLE_HERE}"}}))
    assert failed_steps(result) == {"validation"}
    [message] = [event.step_failure_data.error_display_string for event in result.all_events if event.is_step_failure]
    assert "NO_SUCH_VARIABLE_HERE" in message
