"""Sparse vectors are read the same from an embedded collection and from a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.stores.qdrant.facts import SparseFacts, check_sparse_name
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
