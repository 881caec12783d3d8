"""Servers that refuse a size, a way of reading or an order: asked for less, or in another way, and never in vain."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr
from qdrant_client import models

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.stores.qdrant import scanning
from ragval_pipeline.sources.stores.qdrant.change import fingerprint_of, read_state
from ragval_pipeline.sources.stores.qdrant.connect import open_client
from ragval_pipeline.sources.stores.qdrant.protocol import Search
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.sections import QdrantSettings, RetrySettings
from ragval_pipeline.validation.index.readiness import unindexed_points
from tests.support.qdrant_server import QdrantStandIn

POINTS = 60
SEARCHES = [Search((1.0, number / 40), 3) for number in range(40)]


@contextlib.contextmanager
def reading(server: QdrantStandIn, *, timeout_s: float = 5, key: str | None = None, **more: Any) -> Iterator[Any]:
    settings = QdrantSettings(
        url=server.url, collection="docs", timeout_s=timeout_s, api_key=SecretStr(key) if key else None
    )
    policy = RetrySettings(max=3, delay_s=0.01, deadline_s=20)
    with open_client(settings) as client:
        yield CollectionReader(client, collection="docs", place=server.url, policy=policy, **more)


@pytest.fixture
def server() -> Iterator[QdrantStandIn]:
    with QdrantStandIn(slow_s=1.6) as running:
        with reading(running) as reader:
            client = reader._client
            client.create_collection("docs", vectors_config=models.VectorParams(size=2, distance="Cosine"))
            points = [models.PointStruct(id=at, vector=[1.0, at / 40], payload={"at": at}) for at in range(POINTS)]
            client.upsert("docs", points)
        running.asked.clear()
        yield running


def limited(server: QdrantStandIn, **strict: Any) -> None:
    server.engine.collections["docs"].strict = {"enabled": True, **strict}


def test_a_batch_that_is_too_much_at_once_is_halved_and_not_repeated(server: QdrantStandIn) -> None:
    with reading(server) as reader:
        expected = [found.hits for found in reader.search_all(SEARCHES, fields=(), exact=False)]
    limited(server, most_at_once=6)
    server.asked.clear()
    with reading(server, batch=50) as reader:
        assert [found.hits for found in reader.search_all(SEARCHES, fields=(), exact=False)] == expected
    assert server.count("/batch") <= 3 + len(SEARCHES) // 5 + 1


def test_ids_that_are_too_many_at_once_are_halved(server: QdrantStandIn) -> None:
    limited(server, most_at_once=10)
    ids = [str(at) for at in range(POINTS)]
    with reading(server) as reader:
        batches = list(reader.vectors(ids))
    assert [name for batch in batches for name in batch.ids] == ids
    assert max(len(batch.ids) for batch in batches) <= 10


def test_what_does_not_get_smaller_fails_with_qdrants_words(server: QdrantStandIn) -> None:
    limited(server, most_at_once=0)
    with reading(server, batch=8) as reader, pytest.raises(SystemFailure, match="split your request") as caught:
        list(reader.vectors(["1", "2"]))
    assert caught.value.attempts == 1


def test_a_batch_that_takes_too_long_is_halved_and_not_repeated(server: QdrantStandIn) -> None:
    server.slow_from = 30
    with reading(server, timeout_s=1, batch=40) as reader:
        found = list(reader.search_all(SEARCHES, fields=(), exact=False))
    assert len(found) == len(SEARCHES)
    assert server.count("/batch") == 3


def test_a_page_that_takes_too_long_is_asked_for_in_smaller_ones(server: QdrantStandIn) -> None:
    server.fail("slow", times=1, path="/scroll")
    with reading(server, timeout_s=1) as reader:
        pages = list(reader.pages([]))
    assert [point.id for page in pages for point in page] == [str(at) for at in range(POINTS)]
    assert server.count("/scroll") == 2


@pytest.mark.parametrize("failing", [0, 2])
def test_slices_that_fail_are_read_on_page_after_page(
    server: QdrantStandIn, failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "PARALLEL_FROM", 10)
    server.slices_left = failing
    with reading(server, concurrency=2) as reader:
        way = reader.way(reader.facts())
        found = [point.id for page in reader.scan(["at"], way, points=POINTS) for point in page]
    assert way == "slices"
    assert found == [str(at) for at in range(POINTS)]


def test_an_integer_index_without_a_range_orders_nothing(server: QdrantStandIn) -> None:
    with reading(server) as reader:
        for look_up, expected in ((True, None), (False, str(POINTS - 1))):
            schema = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=not look_up)
            reader._client.create_payload_index("docs", "at", schema)
            assert read_state(reader, "at").newest == expected


def test_a_poll_without_exact_counts_does_not_read_the_collection(server: QdrantStandIn) -> None:
    limited(server, search_allow_exact=False)
    with reading(server) as reader:
        state = read_state(reader, None)
    assert state.points == POINTS
    assert server.count("/scroll") == 0
    assert server.count("/count") == 2


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("old", r"refused the key \(403\).*ExpiredSignature.*new token"),
        ("wrong", r"refused the key \(401\): Must provide an API key"),
    ],
)
def test_refusals_of_keys_without_a_content_type_keep_qdrants_words(token: str, words: str) -> None:
    with (
        QdrantStandIn(api_key="right", tokens={"old": "expired"}) as server,
        reading(server, key=token) as reader,
        pytest.raises(SystemFailure, match=words),
    ):
        reader.count()


def test_sparse_vectors_do_not_count_as_unindexed(server: QdrantStandIn) -> None:
    with reading(server) as reader:
        facts = reader.facts().model_copy(
            update={"indexing_threshold": 1, "segments": 1, "stored_points": 90_000, "sparse_vectors_count": 90_000}
        )
    dense_alone, both = (facts.model_copy(update={"indexed_vectors_count": count}) for count in (90_000, 180_000))
    assert unindexed_points(dense_alone) is None
    assert unindexed_points(both) is None
    assert unindexed_points(facts.model_copy(update={"indexed_vectors_count": 100_000})) == 80_000


def test_a_fingerprint_does_not_depend_on_how_a_number_is_written(server: QdrantStandIn) -> None:
    with reading(server) as reader:
        pages = [[point._replace(vector=[0.1, 0.25])] for point in next(reader.pages(None))[:1]]
        over_grpc = [[pages[0][0]._replace(vector=[0.10000000149011612, 0.25])]]
        found = []
        for each in (pages, over_grpc):
            reader.pages = lambda *_, each=each, **__: iter(each)
            found.append(fingerprint_of(reader, None))
    assert found[0] == found[1]
