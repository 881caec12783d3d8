"""The sensor that polls a Qdrant server, against a server's stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dagster as dg
import pytest
from qdrant_client import QdrantClient, models

from tests.orchestration.triggers.shop import Shop
from tests.orchestration.world import NAME, World
from tests.support.qdrant_server import QdrantStandIn

SENSOR = f"{NAME}_collection_changed"


@dataclass
class Polling:
    """A shop that polls a server."""

    shop: Shop
    server: QdrantStandIn
    client: QdrantClient

    def add(self, *ids: int, **payload: Any) -> None:
        points = [models.PointStruct(id=number, vector=[1.0, 0.0], payload=payload) for number in ids]
        self.client.upsert(NAME, points)

    def ticks(self, count: int) -> list[dg.RunRequest]:
        return [request for _ in range(count) for request in self.shop.tick()]

    @property
    def skipped(self) -> str:
        return str(self.shop.skipped)


@pytest.fixture
def polling(world: World) -> Iterator[Polling]:
    with QdrantStandIn() as server, dg.DagsterInstance.ephemeral() as instance:
        client = QdrantClient(url=server.url, check_compatibility=False)
        space = models.VectorParams(size=2, distance=models.Distance.COSINE)
        client.create_collection(NAME, vectors_config=space)
        polling = Polling(Shop(_suite(world, server.url), instance, SENSOR), server, client)
        polling.add(1, 2, 3)
        yield polling
        client.close()


def _suite(world: World, url: str) -> Any:
    automation = {"after_asset": None, "after_job": "fill", "poll_s": 5}
    return world.suite({"qdrant": {"url": url, "path": None}, "automation": automation})


def test_the_first_look_remembers_and_asks_for_nothing(polling: Polling) -> None:
    assert not polling.ticks(1)
    assert "first check" in polling.skipped
    assert "3 points" in polling.skipped
    assert not polling.ticks(2)
    assert polling.skipped.startswith("unchanged")


def test_a_change_that_has_come_to_rest_is_followed_by_one_validation(polling: Polling) -> None:
    polling.ticks(1)
    polling.add(4)
    assert not polling.ticks(1)
    assert "waiting until a check sees no further change" in polling.skipped
    [request] = polling.ticks(1)
    assert request.tags["ragval/trigger"] == "collection_changed"
    assert request.tags["ragval/ingestions"].startswith("collection:")
    assert not polling.ticks(3)


def test_a_change_waits_for_runs_that_are_known_to_ingest(polling: Polling) -> None:
    @dg.op
    def load() -> None: ...

    @dg.job
    def fill() -> None:
        load()

    polling.ticks(1)
    queued = polling.shop.instance.create_run_for_job(job_def=fill, status=dg.DagsterRunStatus.NOT_STARTED)
    polling.add(4)
    assert not polling.ticks(3)
    assert f"{queued.run_id} is still to come" in polling.skipped
    polling.shop.instance.report_run_failed(queued)
    assert len(polling.ticks(2)) == 1


def test_a_change_that_is_taken_back_is_none(polling: Polling) -> None:
    polling.ticks(1)
    polling.add(4)
    polling.ticks(1)
    polling.client.delete(NAME, [4])
    assert not polling.ticks(3)
    assert polling.skipped.startswith("unchanged")


def test_each_change_has_a_run_key_of_its_own_also_one_that_returns_to_an_earlier_state(polling: Polling) -> None:
    polling.ticks(1)
    keys = []
    for turn in range(4):
        polling.add(4) if turn % 2 == 0 else polling.client.delete(NAME, [4])
        keys += [request.run_key for request in polling.ticks(3)]
        polling.shop.validate()
    assert len(set(keys)) == 4


def test_a_moved_alias_is_a_change(polling: Polling, world: World) -> None:
    space = models.VectorParams(size=2, distance=models.Distance.COSINE)
    polling.client.create_collection("next", vectors_config=space)
    polling.client.upsert("next", [models.PointStruct(id=n, vector=[1.0, 0.0]) for n in (1, 2, 3)])
    polling.client.update_collection_aliases([_alias(NAME)])
    suite = world.suite({"qdrant": {"collection": "live"}})
    polling.shop = Shop(suite, polling.shop.instance, SENSOR)
    polling.ticks(1)
    polling.client.update_collection_aliases([_alias("next")])
    assert len(polling.ticks(2)) == 1


def _alias(collection: str) -> models.CreateAliasOperation:
    return models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=collection, alias_name="live"))


def test_an_indexed_time_shows_a_collection_that_was_refilled_with_as_many_points(polling: Polling) -> None:
    polling.add(1, 2, 3, embedded_at=100)
    polling.client.create_payload_index(NAME, "embedded_at", models.PayloadSchemaType.INTEGER)
    polling.ticks(1)
    assert "the newest of 100" in polling.skipped
    polling.add(1, 2, 3, embedded_at=200)
    assert len(polling.ticks(2)) == 1


@pytest.mark.parametrize("fault", ["503", "reset", "html", "401"])
def test_a_server_in_trouble_is_a_reason_to_skip_and_no_empty_collection(polling: Polling, fault: str) -> None:
    polling.ticks(1)
    polling.server.fail(fault)
    for _ in range(3):
        assert not polling.ticks(1)
        assert polling.skipped.startswith("Qdrant")
    polling.server.heal()
    assert not polling.ticks(1)
    assert polling.skipped.startswith("unchanged")


def test_a_tick_never_shows_the_key_not_even_one_that_the_server_repeats(polling: Polling, world: World) -> None:
    suite = world.suite({"qdrant": {"api_key": "k-very-secret"}})
    polling.shop = Shop(suite, polling.shop.instance, SENSOR)
    polling.server.fail("echo")
    assert not polling.ticks(1)
    assert polling.skipped.startswith("Qdrant")
    assert "k-very-secret" not in f"{polling.skipped}{polling.shop.cursor}"


def test_a_look_is_a_few_calls_and_reads_no_points(polling: Polling) -> None:
    polling.ticks(1)
    before = len(polling.server.asked)
    polling.ticks(1)
    assert len(polling.server.asked) - before <= 6
    assert polling.server.count("/scroll") == 0
