"""An embedded collection: read by ids, and searched many times at once, with the results of its own client."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.stores.qdrant import local
from ragval_pipeline.sources.stores.qdrant import reader as reader_module
from ragval_pipeline.sources.stores.qdrant.connect import keeping_clients, open_client
from ragval_pipeline.sources.stores.qdrant.protocol import Hit, Search
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.sections import QdrantSettings

SIZE, POINTS = 8, 60
RNG = np.random.default_rng(4)
VECTORS = RNG.normal(size=(POINTS, SIZE))
SEARCHES = [Search(vector.tolist(), 1 + number % 7) for number, vector in enumerate(RNG.normal(size=(20, SIZE)))]


@pytest.fixture
def client() -> Iterator[QdrantClient]:
    opened = QdrantClient(":memory:")
    yield opened
    opened.close()


def reader(client: QdrantClient, distance: str = "Cosine", **settings: dict[str, str | int | bool]) -> CollectionReader:
    client.create_collection("docs", models.VectorParams(size=SIZE, distance=models.Distance(distance)))
    points = [
        models.PointStruct(id=number, vector=vector.tolist(), payload={"n": number, "site": "ab"[number % 2]})
        for number, vector in enumerate(VECTORS)
    ]
    client.upsert("docs", points)
    return CollectionReader(client, collection="docs", place="memory", **settings)  # type: ignore[arg-type]


def all_hits(own: CollectionReader, searches: list[Search]) -> list[list[Hit]]:
    return [found.hits for found in own.search_all(searches, fields=["n"], exact=False)]


@pytest.mark.parametrize("distance", ["Cosine", "Dot", "Euclid", "Manhattan"])
@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_many_searches_find_what_the_client_finds(
    client: QdrantClient, monkeypatch: pytest.MonkeyPatch, distance: str, block: int
) -> None:
    monkeypatch.setattr(local, "_SCORES", block * POINTS)
    own = reader(client, distance, equal={"site": "a"})
    found = all_hits(own, SEARCHES)
    chosen = models.Filter(must=[models.FieldCondition(key="site", match=models.MatchValue(value="a"))])
    for hits, search in zip(found, SEARCHES, strict=True):
        alone = client.query_points("docs", list(search.vector), query_filter=chosen, limit=search.limit).points
        assert [int(hit.id) for hit in hits] == [point.id for point in alone]
        assert [hit.payload["n"] for hit in hits] == [point.id for point in alone]
        assert [hit.score for hit in hits] == pytest.approx([point.score for point in alone], abs=1e-6)
        assert own.search(search.vector, limit=search.limit, fields=["n"], exact=False) == hits


@pytest.mark.parametrize("distance", ["Cosine", "Dot", "Euclid", "Manhattan"])
def test_searching_changes_no_stored_vector(client: QdrantClient, distance: str) -> None:
    own = reader(client, distance)
    before = np.concatenate([batch.matrix for batch in own.vectors()])
    all_hits(own, SEARCHES)
    own.search(SEARCHES[0].vector, limit=3, fields=["n"], exact=True)
    assert np.array_equal(before, np.concatenate([batch.matrix for batch in own.vectors()]))


def test_of_equal_scores_the_smaller_id_comes_first(client: QdrantClient) -> None:
    own = reader(client)
    client.upsert("docs", [models.PointStruct(id=number, vector=VECTORS[3].tolist()) for number in (90, 80, 70)])
    assert [hit.id for hit in all_hits(own, [Search(VECTORS[3].tolist(), 3)])[0]] == ["3", "70", "80"]


def test_more_hits_than_points_are_all_points(client: QdrantClient) -> None:
    assert len(all_hits(reader(client), [Search(VECTORS[0].tolist(), 1000)])[0]) == POINTS


def test_a_query_without_direction_is_as_near_to_every_point(client: QdrantClient) -> None:
    hits = all_hits(reader(client), [Search([0.0] * SIZE, 3)])[0]
    assert [hit.score for hit in hits] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("vector", [[1.0] * (SIZE + 1), [math.nan] * SIZE])
def test_a_query_that_cannot_be_compared_fails_as_the_client_does(client: QdrantClient, vector: list[float]) -> None:
    with pytest.raises((SystemFailure, ValueError)):
        all_hits(reader(client), [SEARCHES[0], Search(vector, 3)])


def test_points_without_the_vector_are_not_found(client: QdrantClient) -> None:
    params = {name: models.VectorParams(size=SIZE, distance=models.Distance.COSINE) for name in ("text", "title")}
    client.create_collection("docs", params)
    for number, vector in enumerate(VECTORS.tolist()):
        name = "text" if number % 3 else "title"
        client.upsert("docs", [models.PointStruct(id=number, vector={name: vector})])
    own = CollectionReader(client, collection="docs", place="memory", vector_name="title")
    hits = all_hits(own, [Search(VECTORS[0].tolist(), POINTS)])[0]
    assert {int(hit.id) for hit in hits} == set(range(0, POINTS, 3))


def test_points_are_read_in_id_order_with_the_wanted_fields(
    client: QdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "PAGE_SIZE", 7)
    own = reader(client, equal={"site": "b"})
    pages = list(own.pages(["n"], with_vectors=True))
    points = [point for page in pages for point in page]
    assert [int(point.id) for point in points] == list(range(1, POINTS, 2))
    assert points[0].payload == {"n": 1}
    assert points[0].vector == pytest.approx(VECTORS[1] / np.linalg.norm(VECTORS[1]))
    assert max(map(len, pages)) == 7
    assert [name for batch in own.vectors() for name in batch.ids] == [point.id for point in points]


def test_an_embedded_folder_is_opened_once_while_it_is_kept(tmp_path: Path) -> None:
    with closing(QdrantClient(path=str(tmp_path))) as made:
        reader(made)
    settings = QdrantSettings(path=tmp_path, collection="docs")
    with keeping_clients():
        with open_client(settings) as first:
            pass
        with open_client(settings) as second:
            assert second is first
            assert second.count("docs").count == POINTS
    # It is closed now: another client may open it.
    with open_client(settings) as other:
        assert other is not first


def test_a_client_of_a_server_is_opened_once_for_the_same_access_while_it_is_kept() -> None:
    settings = QdrantSettings(url="http://127.0.0.1:9", collection="docs")
    with keeping_clients(), open_client(settings) as first:
        with open_client(settings.model_copy(update={"collection": "others"})) as second:
            assert second is first
        with open_client(settings.model_copy(update={"timeout_s": 5.0})) as slower:
            assert slower is not first
    with open_client(settings) as other:
        assert other is not first
