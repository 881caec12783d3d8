"""Run retries of a live Dagster: an outage of Qdrant, and green without a hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.orchestration.live import dagster_dev
from tests.orchestration.world import NAME, World

JOB = f"{NAME}_validation"


@pytest.mark.daemon
def test_a_run_that_met_an_outage_is_retried_by_the_daemon_from_its_failure_and_is_green(
    world: World, tmp_path: Path
) -> None:
    world.suite({"retry": {"max": 0}, "automation": {"after_asset": None}})
    qdrant = world.folder / "qdrant"
    away = qdrant.rename(world.folder / "away")
    retries = "run_retries: {enabled: true, max_retries: 2}"
    environ = {"RAGVAL_SUITES": str(world.folder / "ragval.yaml")}
    with dagster_dev(tmp_path / "live", settings=retries, environ=environ) as live:
        first = live.launch("ragval", JOB)
        live.until(lambda: [run for run in live.runs(JOB) if run["status"] == "FAILURE"])
        away.rename(qdrant)
        [retried, _] = live.until(
            lambda: runs if len(runs := live.runs(JOB)) > 1 and runs[0]["status"] in {"SUCCESS", "FAILURE"} else []
        )
    assert retried["tags"]["dagster/parent_run_id"] == first
    assert retried["tags"]["dagster/is_resume_retry"] == "true"
    assert retried["status"] == "SUCCESS"
    verdicts = []
    for run_id in (first, retried["runId"]):
        [report] = world.reports.glob(f"*-{run_id[:8]}/validation_report.json")
        verdicts.append(json.loads(report.read_text(encoding="utf-8"))["verdict"])
    assert verdicts == ["error", "pass"]
