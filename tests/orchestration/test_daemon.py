"""The whole thing alive: ``dagster dev`` with two code locations, a sensor, and ingestions in the other location."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.live import REPOSITORY, Live, dagster_dev
from tests.orchestration.world import NAME

pytestmark = pytest.mark.daemon

JOB, SENSOR = f"{NAME}_validation", f"{NAME}_after_ingestion"
INGESTION = ("demo_ingestion", "physical_ai_book_index")
DONE = {"SUCCESS", "FAILURE", "CANCELED"}
CHECKS = """query ($key: AssetKeyInput!) { assetNodes(assetKeys: [$key]) { assetChecksOrError { ... on AssetChecks {
    checks { name blocking executionForLatestMaterialization { status evaluation { success severity
    metadataEntries { __typename label } } } } } } } }"""
AUTOMATION = """query ($selector: RepositorySelector!) { repositoryOrError(repositorySelector: $selector) {
    ... on Repository { sensors { name sensorState { status } } schedules { name scheduleState { status } } } } }"""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with dagster_dev(tmp_path_factory.mktemp("live")) as live:
        yield live


def finished(live: Live, count: int) -> list[dict[str, Any]]:
    """The validation runs, the latest first, when ``count`` of them have ended."""

    def ended() -> list[dict[str, Any]]:
        runs = live.runs(JOB)
        return runs if len(runs) >= count and all(run["status"] in DONE for run in runs) else []

    return live.until(ended)


@pytest.fixture(scope="module")
def first(live: Live) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sensor switched on, one ingestion as from the UI, and the validation that followed it."""
    states = live.ask(AUTOMATION, selector={"repositoryName": REPOSITORY, "repositoryLocationName": "ragval"})[
        "repositoryOrError"
    ]
    assert [(entry["name"], entry["sensorState"]["status"]) for entry in states["sensors"]] == [(SENSOR, "STOPPED")]
    assert [entry["scheduleState"]["status"] for entry in states["schedules"]] == ["STOPPED"]
    live.start_sensor("ragval", SENSOR)
    ingestion_id = live.materialise("demo_ingestion", *INGESTION)
    [validation] = finished(live, 1)
    [ingestion] = [run for run in live.runs() if run["runId"] == ingestion_id]
    return ingestion, validation


def test_an_ingestion_in_another_location_is_followed_by_a_validation_that_succeeds(first: Any) -> None:
    ingestion, validation = first
    assert ingestion["status"] == "SUCCESS"
    assert validation["status"] == "SUCCESS"
    assert validation["startTime"] >= ingestion["endTime"]
    assert validation["tags"]["ragval/trigger"] == "after_ingestion"
    assert validation["tags"]["ragval/upstream_run"] == ingestion["runId"]
    assert validation["tags"]["ragval/ingestions"] == ingestion["runId"]


def test_its_report_lies_in_the_working_directory(live: Live, first: Any) -> None:
    run_id = first[1]["runId"]
    [report] = (live.folder / ".ragval" / "demo" / "reports" / NAME).glob(f"*-{run_id[:8]}/validation_report.json")
    assert json.loads(report.read_text(encoding="utf-8"))["verdict"] == "pass"


def test_the_ui_shows_every_gate_passed_with_numbers_to_plot(live: Live, first: Any) -> None:
    [node] = live.ask(CHECKS, key={"path": [NAME, "validation_report"]})["assetNodes"]
    gates = {check["name"]: check for check in node["assetChecksOrError"]["checks"] if check["blocking"]}
    assert gates.keys() >= {"coverage", "metadata_completeness", "query_pass_rate", "error_findings"}
    for name, gate in gates.items():
        execution = gate["executionForLatestMaterialization"]
        assert execution["status"] == "SUCCEEDED", name
        entries = {entry["label"]: entry["__typename"] for entry in execution["evaluation"]["metadataEntries"]}
        # The verdict is a word.
        assert name == "verdict" or entries["value"] == "FloatMetadataEntry", name


def test_an_ingestion_reported_over_rest_is_followed_too(live: Live, first: Any) -> None:
    live.post(f"/report_asset_materialization/{'/'.join(INGESTION)}", {"metadata": {"source": "cron on another host"}})
    latest = finished(live, 2)[0]
    assert latest["status"] == "SUCCESS"
    assert latest["tags"]["ragval/trigger"] == "after_ingestion"
    assert "ragval/upstream_run" not in latest["tags"]
    assert latest["tags"]["ragval/ingestions"].startswith("external:")
    assert Path(live.folder / ".ragval").is_dir()
