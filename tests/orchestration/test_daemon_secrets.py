"""No secret stands in what a live webserver, daemon and their runs write, when all goes well and when Qdrant fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from ragval_pipeline.testing.faults.qdrant_server import QdrantStandIn
from tests.orchestration.live import Live, dagster_dev
from tests.orchestration.world import NAME, World, copy_collection

JOB, CANARY = f"{NAME}_validation", "canary-51b0c7e2dd"
EVENTS = """query ($id: ID!) { logsForRun(runId: $id, limit: 5000) { ... on EventConnection { events { __typename
    ... on MessageEvent { message } ... on ExecutionStepFailureEvent { error { message stack } }
    } } } }"""


def run(live: Live) -> str:
    """The status of a run, launched as from the UI."""
    run_id = live.launch("ragval", JOB)
    ended = {"SUCCESS", "FAILURE"}
    [status] = live.until(
        lambda: [one["status"] for one in live.runs(JOB) if one["runId"] == run_id and one["status"] in ended]
    )
    return str(status)


@pytest.mark.daemon
@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_a_live_dagster_writes_and_shows_no_secret(world: World, tmp_path: Path) -> None:
    with QdrantStandIn(api_key=CANARY) as server:
        client = QdrantClient(url=server.url, api_key=CANARY, check_compatibility=False)
        copy_collection(world, client)
        client.close()
        place = {"path": None, "url": server.url.replace("//", "//someone:${CANARY_KEY}@"), "api_key": "${CANARY_KEY}"}
        world.suite({"qdrant": place, "retry": {"max": 0}, "automation": {"after_asset": None}})
        environ = {"RAGVAL_SUITES": str(world.folder / "ragval.yaml"), "CANARY_KEY": CANARY, "LOG_LEVEL": "DEBUG"}
        with dagster_dev(tmp_path / "live", environ=environ) as live:
            assert run(live) == "SUCCESS"
            server.fail("echo")
            assert run(live) == "FAILURE"
            shown = [str(live.ask(EVENTS, id=one["runId"])) for one in live.runs(JOB)]
    assert "no shard for ***" in "".join(shown)
    assert not [text for text in shown if CANARY in text]
    written = [file for root in (tmp_path, world.reports) for file in root.rglob("*") if file.is_file()]
    assert live.log in written
    assert [str(file) for file in written if CANARY.encode() in file.read_bytes()] == []
