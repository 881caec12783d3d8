"""Sparse vectors are read and searched the same in an embedded collection, in the stand-in and on a real server."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from typing import Any

import grpc
import numpy as np
import pytest
from qdrant_client import QdrantClient, models
from qdrant_client import grpc as protocol
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.stores.qdrant.facts import SparseFacts, check_sparse_name
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Found, Search, TextSearch, WordSearch
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from tests.support.qdrant_server import QdrantStandIn

#: Names that no collection of a real server has.
DOCS, BOTH = (f"ragval-test-{uuid.uuid4()}" for _ in range(2))
ROWS = {1: ([7, 3], [0.5, 1.25]), 2: None, 3: ([], []), 4: ([9], [2.0])}


@contextmanager
def embedded() -> Iterator[QdrantClient]:
    with closing(QdrantClient(":memory:")) as client:
        yield client


@contextmanager
def served() -> Iterator[QdrantClient]:
    with QdrantStandIn() as server, closing(QdrantClient(url=server.url, check_compatibility=False)) as client:
        yield client


class Answering(protocol.PointsServicer):  # type: ignore[misc]
    """Answers searches over gRPC from an embedded collection."""

    def __init__(self, client: QdrantClient) -> None:
        self.client = client

    def QueryBatch(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        requests = [GrpcToRest.convert_query_points(each) for each in request.query_points]
        found = self.client.query_batch_points(request.collection_name, requests)
        batches = ([RestToGrpc.convert_scored_point(point) for point in each.points] for each in found)
        return protocol.QueryBatchResponse(result=[protocol.BatchResult(result=points) for points in batches])


class Spoken:
    """An embedded collection whose searches go over gRPC, and all else does not."""

    def __init__(self, stored: QdrantClient, searching: QdrantClient) -> None:
        self._stored, self.query_batch_points = stored, searching.query_batch_points

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stored, name)


@contextmanager
def spoken() -> Iterator[Any]:
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    with embedded() as stored:
        protocol.add_PointsServicer_to_server(Answering(stored), server)
        server.start()
        client = QdrantClient(host="127.0.0.1", grpc_port=port, prefer_grpc=True, check_compatibility=False)
        try:
            yield Spoken(stored, client)
        finally:
            client.close()
            server.stop(None)


@contextmanager
def on_server(*, prefer_grpc: bool = False) -> Iterator[QdrantClient]:
    url, key = os.environ["QDRANT_URL"], os.environ.get("QDRANT_API_KEY")
    with closing(QdrantClient(url=url, api_key=key, prefer_grpc=prefer_grpc, timeout=20)) as client:
        try:
            yield client
        finally:
            for name in (DOCS, BOTH):
                client.delete_collection(name)


def over_grpc() -> AbstractContextManager[QdrantClient]:
    return on_server(prefer_grpc=True)


PLACES = [
    embedded,
    served,
    spoken,
    *(pytest.param(place, marks=pytest.mark.server) for place in (on_server, over_grpc)),
]


@pytest.mark.parametrize("place", PLACES)
def test_each_point_comes_with_its_numbers_or_as_one_without(place: object) -> None:
    with place() as client:  # type: ignore[operator]
        client.create_collection(
            DOCS,
            vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE),
            sparse_vectors_config={
                "plain": models.SparseVectorParams(),
                "weighted": models.SparseVectorParams(modifier=models.Modifier.IDF),
            },
        )
        points = [
            models.PointStruct(
                id=number,
                vector={
                    "": [1.0, 0.0],
                    **({"weighted": models.SparseVector(indices=row[0], values=row[1])} if row else {}),
                },
            )
            for number, row in ROWS.items()
        ]
        client.upsert(DOCS, points)
        reader = CollectionReader(client, collection=DOCS, place="here")
        facts = reader.facts()
        assert sorted(facts.sparse, key=lambda each: each.name) == [
            SparseFacts(name="plain", idf=False),
            SparseFacts(name="weighted", idf=True),
        ]
        [batch] = reader.sparse("weighted")
        found = {
            name: dict(zip(indices.tolist(), values.tolist(), strict=True)) for name, indices, values in batch.rows()
        }
        assert {name: row for name, row in found.items() if row} == {"1": {7: 0.5, 3: 1.25}, "4": {9: 2.0}}
        assert sorted([*batch.empty, *batch.missing]) == ["2", "3"]
        [nothing] = reader.sparse("plain")
        assert (nothing.ids, len(nothing.missing)) == ((), 4)
        with pytest.raises(SuiteError, match=f"{DOCS} has no sparse vector weigthed"):
            check_sparse_name("weigthed", facts)


SIZE, POINTS, WORDS = 6, 40, 12


def filled(client: QdrantClient) -> None:
    """A collection of random dense and sparse vectors."""
    client.create_collection(
        BOTH,
        vectors_config=models.VectorParams(size=SIZE, distance=models.Distance.COSINE),
        sparse_vectors_config={"words": models.SparseVectorParams()},
    )
    rng = np.random.default_rng(7)
    points = []
    for number in range(POINTS):
        chosen = rng.choice(WORDS, size=4, replace=False).tolist()
        words = models.SparseVector(indices=chosen, values=rng.uniform(0.1, 2, 4).tolist())
        payload = {"kind": "even" if number % 2 == 0 else "odd", "text": " ".join(f"w{index}" for index in chosen)}
        vector = {"": rng.normal(size=SIZE).tolist(), "words": words}
        points.append(models.PointStruct(id=number, vector=vector, payload=payload))
    client.upsert(BOTH, points)


def asked(
    limit: int, *, dense: bool, fusion: str = "rrf", equal: Equal | None = None, count: int = 20
) -> list[WordSearch]:
    rng = np.random.default_rng(8)
    return [
        WordSearch(
            dict.fromkeys(rng.choice(WORDS, size=3, replace=False).tolist(), 1.0),
            "words",
            limit,
            rng.normal(size=SIZE).tolist() if dense else None,
            fusion,  # type: ignore[arg-type]
            equal,
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("place", PLACES)
def test_words_find_the_points_with_the_greatest_products(place: object) -> None:
    with place() as client:  # type: ignore[operator]
        filled(client)
        reader = CollectionReader(client, collection=BOTH, place="here")
        [batch] = reader.sparse("words")
        rows = ((name, indices.tolist(), values.tolist()) for name, indices, values in batch.rows())
        held = {name: dict(zip(indices, values, strict=True)) for name, indices, values in rows}
        searches = asked(5, dense=False)
        for search, found in zip(searches, reader.search_words(searches, fields=()), strict=True):
            products = {name: sum(row.get(word, 0.0) for word in search.words) for name, row in held.items()}
            best = sorted((score for score in products.values() if score), reverse=True)[:5]
            assert [hit.score for hit in found.hits] == pytest.approx(best, abs=1e-5)
            assert [products[hit.id] for hit in found.hits] == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fusion", ["rrf", "dbsf"])
@pytest.mark.parametrize("equal", [None, {"kind": "odd"}])
def test_both_ways_are_fused_by_their_ranks_or_by_their_scores(equal: Equal | None, fusion: str, place: object) -> None:
    with place() as client:  # type: ignore[operator]
        filled(client)
        reader = CollectionReader(client, collection=BOTH, place="here")
        check_fusion(reader, asked(6, dense=True, fusion=fusion, equal=equal))


def check_fusion(reader: CollectionReader, searches: list[WordSearch]) -> None:
    """Compare fused hits with those of both ways, fused by hand: the scores, and the points of each distinct one."""
    by_words = reader.search_words([replace(search, vector=None) for search in searches], fields=())
    by_vectors = reader.search_all(
        [Search(search.vector or (), search.limit, search.equal) for search in searches], fields=(), exact=False
    )
    for search, found, *ways in zip(
        searches, reader.search_words(searches, fields=()), by_vectors, by_words, strict=True
    ):
        scores = by_hand(search, ways)
        best = sorted(scores.values(), reverse=True)[: search.limit]
        assert [hit.score for hit in found.hits] == pytest.approx(best, abs=1e-5)
        assert [scores[hit.id] for hit in found.hits] == pytest.approx(best, abs=1e-5)


def by_hand(search: WordSearch, ways: list[Found]) -> dict[str, float]:
    """The fused scores of the hits of two ways.

    Reciprocal rank fusion adds 1 / (2 + place); the other adds scores, of which three standard deviations below and
    above the mean are 0 and 1.
    """
    scores: dict[str, float] = {}
    for way in ways:
        given = np.array([hit.score for hit in way.hits])
        if search.fusion == "rrf":
            parts = [1 / (hit.rank + 1) for hit in way.hits]
        elif len(given) < 2:
            parts = [0.5] * len(given)
        else:
            low, high = (given.mean() + sign * 3 * given.std(ddof=1) for sign in (-1, 1))
            parts = ((given - low) / (high - low)).tolist() if high > low else [0.5] * len(given)
        for hit, part in zip(way.hits, parts, strict=True):
            scores[hit.id] = scores.get(hit.id, 0.0) + part
    return scores


@pytest.mark.slow
@pytest.mark.parametrize("fusion", ["rrf", "dbsf"])
def test_a_thousand_questions_are_fused_alike_everywhere(fusion: str) -> None:
    searches = asked(10, dense=True, fusion=fusion, count=1000)
    found = []
    for place in (embedded, served, spoken):
        with place() as client:
            filled(client)
            concurrency = 1 if place is spoken else 4
            reader = CollectionReader(client, collection=BOTH, place="here", concurrency=concurrency)
            check_fusion(reader, searches)
            found.append([each.hits for each in reader.search_words(searches, fields=())])
    first, *others = found
    for here, there in ((one, other) for each in others for one, other in zip(first, each, strict=True)):
        assert [hit.score for hit in here] == pytest.approx([hit.score for hit in there], abs=1e-5)
        # Points of equal scores come in any order.
        clear = [number for number, hit in enumerate(here) if sum(abs(hit.score - h.score) < 1e-5 for h in here) == 1]
        assert [here[number].id for number in clear[:-1]] == [there[number].id for number in clear[:-1]]


@pytest.mark.parametrize("place", PLACES)
def test_a_text_index_finds_the_points_with_rare_words_under_a_filter(place: object) -> None:
    with place() as client:  # type: ignore[operator]
        if place in {on_server, over_grpc} and client.info().version < "1.20":
            pytest.skip("scored text indexes are of Qdrant 1.20")
        filled(client)
        reader = CollectionReader(client, collection=BOTH, place="here")
        with pytest.raises(SystemFailure):
            next(reader.search_words([TextSearch("w1", "text", 3)], fields=()))
        client.create_payload_index(BOTH, "text", models.TextIndexParams(type="text", scoring=True))  # type: ignore[arg-type]
        for equal in (None, {"kind": "even"}):
            [found] = reader.search_words([TextSearch("w1 w2", "text", 40, equal)], fields=["text", "kind"])
            scores = [hit.score for hit in found.hits]
            assert scores == sorted(scores, reverse=True)
            assert scores[-1] > 0
            held = {hit.id for hit in found.hits}
            records, _ = client.scroll(BOTH, limit=100)
            wanted = [record for record in records if {"w1", "w2"} & {*(record.payload or {})["text"].split()}]
            kept = [record for record in wanted if equal is None or (record.payload or {})["kind"] == "even"]
            assert held == {str(record.id) for record in kept}


@pytest.mark.parametrize("place", PLACES)
def test_points_with_a_value_are_known_and_the_only_ones_found(place: object) -> None:
    with place() as client:  # type: ignore[operator]
        filled(client)
        reader = CollectionReader(client, collection=BOTH, place="here", equal={"kind": "odd"})
        assert reader.passing({"text": "w1 w2"}) == frozenset()
        plain = CollectionReader(client, collection=BOTH, place="here")
        odd = plain.passing({"kind": "odd"})
        assert odd == {str(number) for number in range(1, POINTS, 2)}
        vector = np.random.default_rng(9).normal(size=SIZE).tolist()
        searches = [Search(vector, 5), Search(vector, 5, {"kind": "odd"}), Search(vector, 5, {"kind": "none"})]
        whole, part, none = (found.hits for found in plain.search_all(searches, fields=("kind",), exact=True))
        assert {hit.payload["kind"] for hit in whole} == {"even", "odd"}
        assert (len(part), {hit.id for hit in part} <= odd, none) == (5, True, [])
        assert [hit.score for hit in part] == pytest.approx(
            [hit.score for hit in reader.search(vector, limit=5, fields=(), exact=True)]
        )


def test_a_question_without_a_known_word_has_no_hit() -> None:
    with embedded() as client:
        filled(client)
        reader = CollectionReader(client, collection=BOTH, place="here")
        [found] = reader.search_words([WordSearch({}, "words", 5)], fields=())
        assert found.hits == []
