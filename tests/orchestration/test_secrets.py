"""No secret reaches what Dagster keeps or what a run leaves behind, when all goes well and when systems fail.

The canary stands in every place where a suite may hold a secret: keys, and credentials inside addresses.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from qdrant_client import QdrantClient

from ragval_pipeline.measuring.report import settings_without_secrets
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.resources import EmbedderConnection, QdrantConnection
from ragval_pipeline.suite.load import load_suite
from tests.orchestration.live import dagster_dev
from tests.orchestration.world import COVERAGE_ALONE, NAME, World, copy_collection, failed_steps, run_job
from tests.support.cohere_server import CohereStandIn
from tests.support.qdrant_server import QdrantStandIn

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")

CANARY = "canary-7f3d91c0aa"
WORKSPACE = "load_from: [{python_module: {module_name: ragval_pipeline.definitions, location_name: ragval}}]"
EVENTS = """query ($id: ID!) { runOrError(runId: $id) { ... on Run { runConfigYaml tags { key value }
    eventConnection(limit: 1000) { events { __typename ... on MessageEvent { message }
    ... on ErrorEvent { error { message stack causes { message stack } } } } } } } }"""
SECRETS = {"CANARY_KEY": CANARY}


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    (tmp_path / "home").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "home")) as instance:
        yield instance


@pytest.fixture
def server(world: World) -> Iterator[QdrantStandIn]:
    with QdrantStandIn(api_key=CANARY) as server:
        client = QdrantClient(url=server.url, api_key=CANARY, check_compatibility=False)
        copy_collection(world, client)
        client.close()
        yield server


def with_credentials(url: str) -> str:
    return url.replace("http://", "http://someone:${CANARY_KEY}@")


def traces(world: World, instance: dg.DagsterInstance) -> dict[str, bytes]:
    """Everything that Dagster and the run have kept, by place."""
    kept = {}
    for record in instance.get_run_records():
        run = record.dagster_run
        kept[f"run {run.run_id}"] = dg.serialize_value(run).encode()
        for number, entry in enumerate(instance.all_logs(run.run_id)):
            kept[f"event {number} {entry.dagster_event_type}"] = dg.serialize_value(entry).encode()
    roots = [world.reports, *([Path(instance.root_directory)] if instance.is_persistent else [])]
    for root in roots:
        kept |= {str(file): file.read_bytes() for file in root.rglob("*") if file.is_file()}
    return kept


def leaks(world: World, instance: dg.DagsterInstance) -> list[str]:
    found = traces(world, instance)
    assert len(found) > 20
    return [place for place, content in found.items() if CANARY.encode() in content]


def server_settings(server: QdrantStandIn) -> dict[str, Any]:
    return {"path": None, "url": with_credentials(server.url), "api_key": "${CANARY_KEY}"}


def test_a_run_that_succeeds_keeps_its_secrets(world: World, on_disk: dg.DagsterInstance, server: Any) -> None:
    changes = {"qdrant": server_settings(server), "embedding": {"api_key": "${CANARY_KEY}"}}
    suite = world.suite({**changes, "criteria": COVERAGE_ALONE})
    result = run_job(suite, instance=on_disk, only="coverage,queries")
    assert result.success
    assert leaks(world, on_disk) == []


@pytest.mark.parametrize("fault", ["echo", "html"])
def test_a_qdrant_that_fails_keeps_them(
    world: World, instance: dg.DagsterInstance, server: QdrantStandIn, fault: str
) -> None:
    server.fail(fault, times=1000, path="")
    changes = {"qdrant": server_settings(server), "retry": {"max": 0}}
    result = run_job(world.suite(changes), instance=instance)
    assert failed_steps(result) == {"validation"}
    assert leaks(world, instance) == []


@pytest.mark.parametrize("mode", ["401", "html"])
def test_an_embedder_that_fails_keeps_them(world: World, instance: dg.DagsterInstance, mode: str) -> None:
    with CohereStandIn() as cohere:
        cohere.mode = mode
        place = {"base_url": with_credentials(cohere.url), "api_key": "${CANARY_KEY}"}
        embedding = {"provider": "cohere", "model": "their-model", **place}
        result = run_job(world.suite({"embedding": embedding, "retry": {"max": 0}}), instance=instance, only="queries")
    assert failed_steps(result) == {"validation"}
    assert leaks(world, instance) == []


def test_secrets_of_resources_stay_names_in_config_and_definitions(
    world: World, instance: dg.DagsterInstance, server: QdrantStandIn
) -> None:
    given = {
        "qdrant": QdrantConnection(url=server.url, api_key=dg.EnvVar("CANARY_KEY")),
        "embedder": EmbedderConnection(api_key=dg.EnvVar("CANARY_KEY")),
    }
    suite = world.suite({"embedding": {"api_key": "${CANARY_KEY}"}, "criteria": COVERAGE_ALONE})
    assert run_job(suite, instance=instance, only="coverage,queries", resources=given).success
    assert leaks(world, instance) == []


def test_the_settings_that_a_report_is_made_from_hold_no_login_of_any_address(world: World) -> None:
    address = f"http://u:{CANARY}@127.0.0.1:9"
    changes = {
        "qdrant": {"path": None, "url": address, "api_key": CANARY},
        "source": {"sitemap": f"{address}/sitemap.xml"},
        "embedding": {"provider": "cohere", "base_url": address, "api_key": CANARY},
    }
    settings = settings_without_secrets(world.suite(changes))
    assert CANARY not in str(settings)
    assert settings["source"]["sitemap"] == "http://127.0.0.1:9/sitemap.xml"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_a_code_location_shows_holds_no_secret(world: World) -> None:
    """Secrets are in the environment while definitions load: what the UI shows of them must still be names."""
    changes = {
        "qdrant": {"path": None, "url": "http://u:${CANARY_KEY}@127.0.0.1:9", "api_key": "${CANARY_KEY}"},
        "source": {"sitemap": "http://u:${CANARY_KEY}@127.0.0.1:9/sitemap.xml"},
        "embedding": {"api_key": "${CANARY_KEY}"},
    }
    world.suite(changes)
    suite = load_suite(world.folder / "ragval.yaml")
    repository = build_validation_defs(suite).get_repository_def()
    from dagster._core.remote_representation.external_data import RepositorySnap

    shown = dg.serialize_value(RepositorySnap.from_def(repository, defer_snapshots=False))
    assert "validation_report" in shown
    assert CANARY not in shown


@pytest.mark.daemon
def test_neither_webserver_nor_daemon_nor_what_they_keep_and_show_holds_a_secret(
    world: World, server: QdrantStandIn, tmp_path: Path
) -> None:
    """Of a run that succeeds and one whose server repeats the key in its errors: logs, storage, answers to the UI."""
    world.suite({"qdrant": server_settings(server), "embedding": {"api_key": "${CANARY_KEY}"}, "retry": {"max": 0}})
    workspace, folder = tmp_path / "workspace.yaml", tmp_path / "live"
    workspace.write_text(WORKSPACE, encoding="utf-8")
    shown, ended = "", []
    with dagster_dev(folder, workspace, environ={"RAGVAL_SUITES": str(world.folder / "ragval.yaml")}) as live:
        for fault in (None, "echo"):
            if fault:
                server.fail(fault, times=1000, path="")
            run_id = live.launch("ragval", f"{NAME}_validation")
            [run] = live.until(lambda run_id=run_id: [
                run for run in live.runs() if run["runId"] == run_id and run["status"] in {"SUCCESS", "FAILURE"}
            ])  # fmt: skip
            ended.append(run["status"])
            shown += str(live.ask(EVENTS, id=run_id))
    assert ended == ["SUCCESS", "FAILURE"]
    assert "no shard for ***" in shown
    files = [file for root in (folder, world.reports) for file in root.rglob("*") if file.is_file()]
    log = (folder / "dagster.log").read_text(encoding="utf-8")
    assert all(of in log for of in ("dagster.daemon", "dagster-webserver"))
    assert {file.suffix for file in files} >= {".db", ".out", ".err", ".html"}
    assert [str(file) for file in files if CANARY.encode() in file.read_bytes()] == []
    assert CANARY not in shown
