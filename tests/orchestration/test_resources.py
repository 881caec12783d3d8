from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg
import pytest
from pydantic import PrivateAttr
from qdrant_client import QdrantClient

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.measuring.connections import closing_client, open_reader
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.resources import QdrantConnection
from ragval_pipeline.suite.load import resolve_suite
from tests.orchestration.world import COVERAGE_ALONE, NOBODY, World, checked, copy_collection, failed_steps, run_job
from tests.support.qdrant_server import QdrantStandIn


class LikeDagsterQdrant(dg.ConfigurableResource):
    """dagster-qdrant's resource in small: its client is closed only when all went well."""

    path: str
    _made: list[QdrantClient] = PrivateAttr(default_factory=list)

    @contextmanager
    def get_client(self) -> Iterator[QdrantClient]:
        client = QdrantClient(path=self.path)
        self._made.append(client)
        yield client
        client.close()


class PlainResource:
    """A resource whose ``get_client()`` gives the client itself."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.made: list[QdrantClient] = []

    def get_client(self) -> QdrantClient:
        self.made.append(QdrantClient(path=self.path))
        return self.made[-1]


def is_closed(client: QdrantClient) -> bool:
    return bool(client._client.closed)


@pytest.fixture
def elsewhere(world: World) -> str:
    """The index in a folder that the suite does not name."""
    (world.folder / "qdrant").rename(world.folder / "elsewhere")
    return str(world.folder / "elsewhere")


def test_a_resource_of_dagster_qdrants_shape_serves_a_whole_run(world: World, elsewhere: str) -> None:
    resource = LikeDagsterQdrant(path=elsewhere)
    result = run_job(world.suite({"criteria": COVERAGE_ALONE}), only="coverage", resources={"qdrant": resource})
    assert result.success
    assert checked(result, "coverage_report")["coverage"].metadata["value_numerator"].value == 13


@pytest.mark.parametrize("kind", [LikeDagsterQdrant, PlainResource])
def test_the_client_of_a_foreign_resource_is_closed_after_a_failure(world: World, elsewhere: str, kind: Any) -> None:
    resource = kind(path=elsewhere)
    with pytest.raises(ZeroDivisionError), open_reader(resource, resolve_suite(world.suite())):
        raise ZeroDivisionError
    assert [is_closed(client) for client in made_by(resource)] == [True]


def made_by(resource: Any) -> list[QdrantClient]:
    return resource.made if isinstance(resource, PlainResource) else resource._made


def test_a_foreign_resource_that_gives_no_client_is_an_unreachable_index(world: World, elsewhere: str) -> None:
    holder = QdrantClient(path=elsewhere)
    try:
        with pytest.raises(SystemFailure) as caught, closing_client(PlainResource(elsewhere), "Qdrant's place"):
            pass
        assert caught.value.code == "index.unreachable"
        assert "open in another process" in str(caught.value)
        result = run_job(world.suite(), resources={"qdrant": LikeDagsterQdrant(path=elsewhere)})
    finally:
        holder.close()
    assert failed_steps(result) == {"validation"}


class OwnServer(dg.ConfigurableResource):
    url: str

    def get_client(self) -> QdrantClient:
        return QdrantClient(url=self.url, check_compatibility=False)


@pytest.mark.parametrize("kind", [OwnServer, QdrantConnection])
def test_a_server_that_does_not_answer_is_named_by_the_resources_own_address(world: World, kind: Any) -> None:
    suite = resolve_suite(world.suite({"retry": {"max": 0}}))
    with open_reader(kind(url=NOBODY), suite) as reader, pytest.raises(SystemFailure) as caught:
        reader.facts()
    assert f"{NOBODY} refused the connection" in str(caught.value)


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_the_suites_own_resource_reads_a_server_with_its_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "right")
    with QdrantStandIn(api_key="right") as server:
        client = QdrantClient(url=server.url, api_key="right", check_compatibility=False)
        copy_collection(world, client)
        client.close()
        suite = world.suite({"qdrant": {"path": None, "url": NOBODY}, "criteria": COVERAGE_ALONE})
        given = {"qdrant": QdrantConnection(url=server.url, api_key=dg.EnvVar("THE_KEY"))}
        result = run_job(suite, only="coverage", resources=given)
    assert result.success
    assert checked(result, "coverage_report")["coverage"].passed


def test_a_resource_that_a_suite_does_not_know_is_an_error(world: World) -> None:
    with pytest.raises(ValueError, match="qdrant and embedder, not quadrant"):
        build_validation_defs(world.suite(), resources={"quadrant": object()})
