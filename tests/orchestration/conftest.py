from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from ragval_pipeline.demo.workspace import DemoHome
from tests.orchestration.world import World, copy_collection, run_job
from tests.support.qdrant_server import QdrantStandIn


@pytest.fixture(scope="session", autouse=True)
def _loaded_expectations() -> None:
    """Runs of a process that has loaded Great Expectations start none for it: many runs share what one import costs."""
    importlib.import_module("great_expectations")


@pytest.fixture
def world(demo: DemoHome, tmp_path: Path) -> World:
    return World.copied(demo, tmp_path / "world")


@pytest.fixture
def served(demo: DemoHome, tmp_path: Path) -> Iterator[World]:
    """A demo whose collection is behind a server, which any number of processes may ask."""
    from qdrant_client import QdrantClient

    world = World.copied(demo, tmp_path / "served")
    with QdrantStandIn() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        copy_collection(world, client)
        client.close()
        world.suite({"qdrant": {"url": server.url, "path": None}, "report_uri": f"file://{world.folder}/reports"})
        yield world


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    """An instance on disk, as a deployment has one."""
    with dg.DagsterInstance.local_temp(str(tmp_path_factory.mktemp("home"))) as instance:
        yield instance


@pytest.fixture(scope="session")
def clean_world(demo: DemoHome, tmp_path_factory: pytest.TempPathFactory) -> World:
    return World.copied(demo, tmp_path_factory.mktemp("clean") / "world")


@pytest.fixture(scope="session")
def clean_run(clean_world: World, kept: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    """One whole validation of the untouched demo, for every test that only looks."""
    return run_job(clean_world.suite(), instance=kept)
