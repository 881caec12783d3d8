"""Sparse vectors are read the same from an embedded collection and from a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.stores.qdrant.facts import SparseFacts, check_sparse_name
from ragval_pipeline.sources.stores.qdrant.protocol import WordSearch
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from tests.support.qdrant_server import QdrantStandIn

ROWS = {1: ([7, 3], [0.5, 1.25]), 2: None, 3: ([], []), 4: ([9], [2.0])}


@contextmanager
def embedded() -> Iterator[QdrantClient]:
    with closing(QdrantClient(":memory:")) as client:
        yield client


@contextmanager
def served() -> Iterator[QdrantClient]:
    with QdrantStandIn() as server, closing(QdrantClient(url=server.url, check_compatibility=False)) as client:
        yield client


@pytest.mark.parametrize("place", [embedded, served])
def test_each_point_comes_with_its_numbers_or_as_one_without(place: object) -> None:
    with place() as client:  # type: ignore[operator]
        client.create_collection(
            "docs",
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
        client.upsert("docs", points)
        reader = CollectionReader(client, collection="docs", place="here")
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
        with pytest.raises(SuiteError, match="docs has no sparse vector weigthed"):
            check_sparse_name("weigthed", facts)


SIZE, POINTS, WORDS = 6, 40, 12


def filled(client: QdrantClient) -> None:
    """A collection of random dense and sparse vectors."""
    client.create_collection(
        "both",
        vectors_config=models.VectorParams(size=SIZE, distance=models.Distance.COSINE),
        sparse_vectors_config={"words": models.SparseVectorParams()},
    )
    rng = np.random.default_rng(7)
    points = []
    for number in range(POINTS):
        chosen = rng.choice(WORDS, size=4, replace=False).tolist()
        words = models.SparseVector(indices=chosen, values=rng.uniform(0.1, 2, 4).tolist())
        points.append(models.PointStruct(id=number, vector={"": rng.normal(size=SIZE).tolist(), "words": words}))
    client.upsert("both", points)


def asked(limit: int, *, dense: bool, fusion: str = "rrf") -> list[WordSearch]:
    rng = np.random.default_rng(8)
    return [
        WordSearch(
            dict.fromkeys(rng.choice(WORDS, size=3, replace=False).tolist(), 1.0),
            "words",
            limit,
            rng.normal(size=SIZE).tolist() if dense else None,
            fusion,  # type: ignore[arg-type]
        )
        for _ in range(20)
    ]


def fused(reader: CollectionReader, search: WordSearch) -> dict[str, float]:
    """Reciprocal rank fusion of the hits of both ways, by hand."""
    [words] = reader.search_words([replace(search, vector=None)], fields=())
    assert search.vector is not None
    ways = [reader.search(search.vector, limit=search.limit, fields=(), exact=False), words.hits]
    scores: dict[str, float] = {}
    for hits in ways:
        for hit in hits:
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (hit.rank + 1)
    return scores


@pytest.mark.parametrize("place", [embedded, served])
def test_words_find_the_points_with_the_greatest_products(place: object) -> None:
    with place() as client:  # type: ignore[operator]
        filled(client)
        reader = CollectionReader(client, collection="both", place="here")
        [batch] = reader.sparse("words")
        rows = ((name, indices.tolist(), values.tolist()) for name, indices, values in batch.rows())
        held = {name: dict(zip(indices, values, strict=True)) for name, indices, values in rows}
        searches = asked(5, dense=False)
        for search, found in zip(searches, reader.search_words(searches, fields=()), strict=True):
            products = {name: sum(row.get(word, 0.0) for word in search.words) for name, row in held.items()}
            best = sorted((score for score in products.values() if score), reverse=True)[:5]
            assert [hit.score for hit in found.hits] == pytest.approx(best, abs=1e-5)
            assert [products[hit.id] for hit in found.hits] == pytest.approx(best, abs=1e-5)


def test_both_ways_are_fused_by_their_ranks_or_by_their_scores() -> None:
    with embedded() as client:
        filled(client)
        reader = CollectionReader(client, collection="both", place="here")
        searches = asked(6, dense=True)
        for search, found in zip(searches, reader.search_words(searches, fields=()), strict=True):
            scores = fused(reader, search)
            assert [hit.score for hit in found.hits] == pytest.approx(sorted(scores.values(), reverse=True)[:6])
            assert [scores[hit.id] for hit in found.hits] == pytest.approx([hit.score for hit in found.hits])
        by_scores = reader.search_words(asked(6, dense=True, fusion="dbsf"), fields=())
        assert all(len(found.hits) == 6 for found in by_scores)


def test_a_question_without_a_known_word_has_no_hit() -> None:
    with embedded() as client:
        filled(client)
        reader = CollectionReader(client, collection="both", place="here")
        [found] = reader.search_words([WordSearch({}, "words", 5)], fields=())
        assert found.hits == []
