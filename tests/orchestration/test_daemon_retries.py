"""Run retries of a live Dagster: an outage at the start, in the middle and at the report, and green without a hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.live import dagster_dev
from tests.orchestration.test_retries import EMBEDDER, moved_away
from tests.orchestration.world import NAME, World

JOB = f"{NAME}_validation"


def qdrant_away(world: World) -> tuple[dict[str, Any], Callable[[], object]]:
    return {}, moved_away(world.folder / "qdrant")


def embedder_silent(world: World) -> tuple[dict[str, Any], Callable[[], object]]:
    (world.folder / "live_embedder.py").write_text(EMBEDDER, encoding="utf-8")
    outage = world.folder / "outage"
    outage.touch()
    return {"embedding": {"provider": "live_embedder:Ours", "model": None}}, outage.unlink


def reports_blocked(world: World) -> tuple[dict[str, Any], Callable[[], object]]:
    """A file where the folder of the reports belongs: nothing can be written below it."""
    blocked = world.folder / "blocked"
    blocked.touch()
    return {"report_uri": f"file://{blocked}"}, blocked.unlink


@pytest.mark.daemon
@pytest.mark.parametrize("outage", [qdrant_away, embedder_silent, reports_blocked])
def test_a_run_that_met_an_outage_is_retried_by_the_daemon_from_its_failure_and_is_green(
    world: World, tmp_path: Path, outage: Callable[[World], tuple[dict[str, Any], Callable[[], object]]]
) -> None:
    changes, ends = outage(world)
    suite = world.suite({**changes, "retry": {"max": 0}, "automation": {"after_asset": None}})
    retries = "run_retries: {enabled: true, max_retries: 2}"
    environ = {"RAGVAL_SUITES": str(world.folder / "ragval.yaml")}
    with dagster_dev(tmp_path / "live", settings=retries, environ=environ) as live:
        first = live.launch("ragval", JOB)
        live.until(lambda: [run for run in live.runs(JOB) if run["status"] == "FAILURE"])
        ends()
        [retried, _] = live.until(
            lambda: runs if len(runs := live.runs(JOB)) > 1 and runs[0]["status"] in {"SUCCESS", "FAILURE"} else []
        )
    assert retried["tags"]["dagster/parent_run_id"] == first
    assert retried["tags"]["dagster/is_resume_retry"] == "true"
    assert retried["status"] == "SUCCESS"
    verdicts = []
    for run_id in (first, retried["runId"]):
        found = Path(suite.report_uri.removeprefix("file://")).glob(f"{NAME}/*-{run_id[:8]}/validation_report.json")
        verdicts += [json.loads(report.read_text(encoding="utf-8"))["verdict"] for report in found]
    assert verdicts == (["pass"] if outage is reports_blocked else ["error", "pass"])
