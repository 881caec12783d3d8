"""Runs beside each other, and what whole runs ask for and leave behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.load import load_suite
from tests.cli.conftest import environment
from tests.faults.stage import NAME, staged

#: Method and path of everything that reads, without the collection.
READS = {
    "GET /", "GET /aliases", "GET /collections", "GET {name}", "GET {name}/exists", "POST {name}/points",
    "POST {name}/points/count", "POST {name}/points/query", "POST {name}/points/query/batch",
    "POST {name}/points/scroll",
}  # fmt: skip


def test_a_whole_run_asks_qdrant_for_nothing_but_reads(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        server = stage.qdrant()
        report = run_suite(load_suite(stage.suite)).report
    assert report.verdict == "pass"
    asked = {request.replace(f"/collections/{NAME}", "{name}").replace("//", "/") for request in server.asked}
    assert asked - READS == set()
    assert {"POST {name}/points/scroll", "POST {name}/points/count"} <= asked


def test_eight_runs_at_once_against_one_server_give_eight_reports_that_agree(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        stage.qdrant()
        command = [sys.executable, "-m", "ragval_pipeline", "run", "-s", str(stage.suite), "--only", "coverage"]
        runs = [
            subprocess.Popen(
                command,
                cwd=stage.folder,
                env=environment(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(8)
        ]
        ended = [(run.communicate(timeout=600)[1], run.returncode) for run in runs]
        assert [code for _, code in ended] == [0] * 8, [words for words, code in ended if code]
        folder = stage.folder / "reports" / NAME
        reports = [json.loads(file.read_bytes()) for file in folder.glob("2*/validation_report.json")]
        assert len({report["run_id"] for report in reports}) == 8
        assert len({json.dumps(report["coverage_report"]["missing_urls"]) for report in reports}) == 1
        assert {report["verdict"] for report in reports} == {"pass"}
        assert [path.name for path in folder.rglob("*.partial")] == []
        assert not (folder / ".work").exists() or not any((folder / ".work").iterdir())
