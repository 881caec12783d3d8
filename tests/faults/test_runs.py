"""What a whole run asks of Qdrant."""

from __future__ import annotations

from pathlib import Path

from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.load import load_suite
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
