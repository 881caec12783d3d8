from __future__ import annotations

import re
import uuid
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.stores.qdrant import vectors as module
from ragval_pipeline.sources.stores.qdrant.facts import check_vector_name
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from tests.support.collections import Qdrant

A, B, C = (str(uuid.UUID(int=number)) for number in (1, 2, 3))


def point(point_id: int | str, vector: object, **payload: object) -> models.PointStruct:
    return models.PointStruct(id=point_id, vector=vector, payload=payload)  # type: ignore[arg-type]


def test_all_vectors_come_in_id_order_as_the_collection_keeps_them(qdrant: Qdrant) -> None:
    qdrant.create([point(B, [0.0, 2.0]), point(7, [3.0, 4.0]), point(A, [1.0, 0.0])])
    [batch] = qdrant.reader().vectors()
    assert batch.ids == ("7", A, B)
    assert batch.matrix.dtype == np.float32
    np.testing.assert_allclose(batch.matrix, [[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]], atol=1e-6)
    assert (batch.missing, batch.other) == ((), ())


def test_only_the_points_that_the_filter_lets_through_are_read(qdrant: Qdrant) -> None:
    qdrant.create([point(1, [1.0, 0.0], site="a"), point(2, [0.0, 1.0], site="b")])
    [batch] = qdrant.reader(equal={"site": "b"}).vectors()
    assert batch.ids == ("2",)


def test_some_points_come_in_the_order_asked_for_and_the_gone_ones_are_left_out(qdrant: Qdrant) -> None:
    qdrant.create([point(1, [1.0, 0.0]), point(2, [0.0, 1.0]), point(A, [1.0, 1.0])])
    [batch] = qdrant.reader().vectors([A, "99", "1"])
    assert batch.ids == (A, "1")
    np.testing.assert_allclose(batch.matrix[1], [1.0, 0.0], atol=1e-6)


def test_a_point_without_the_named_vector_is_missing_and_the_other_name_does_not_count(qdrant: Qdrant) -> None:
    space = models.VectorParams(size=2, distance=models.Distance.COSINE)
    qdrant.create(
        [point(1, {"text": [1.0, 0.0]}), point(2, {"title": [1.0, 0.0]})],
        vectors_config={"text": space, "title": space},
    )
    [batch] = qdrant.reader(vector_name="text").vectors()
    assert (batch.ids, batch.missing) == (("1",), ("2",))
    assert batch.matrix.shape == (1, 2)


def test_several_vectors_of_one_point_are_neither_a_vector_nor_missing(tmp_path: Path) -> None:
    client = QdrantClient(path=str(tmp_path))
    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    space = models.VectorParams(size=2, distance=models.Distance.COSINE, multivector_config=several)
    client.create_collection("c", vectors_config=space)
    client.upsert("c", [point(1, [[1.0, 0.0], [0.0, 1.0]])])
    [batch] = CollectionReader(client, collection="c", place="here").vectors()
    client.close()
    assert (batch.ids, batch.missing, batch.other) == ((), (), ("1",))
    assert batch.matrix.shape == (0, 0)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bm25", "bm25 of docs is a sparse vector, and searches compare one dense vector per point: text. Name text."),
        ("late", "late of docs is a multivector, and searches compare one dense vector per point: text. Name text."),
        ("lat", "docs has no vector lat; it has: text. Choose one of these."),
    ],
)
def test_a_vector_that_searches_cannot_use_is_refused_for_what_it_is(name: str, words: str, tmp_path: Path) -> None:
    several = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    space = models.VectorParams(size=2, distance=models.Distance.COSINE)
    client = QdrantClient(path=str(tmp_path))
    client.create_collection(
        "docs",
        vectors_config={"text": space, "late": space.model_copy(update={"multivector_config": several})},
        sparse_vectors_config={"bm25": models.SparseVectorParams()},
    )
    facts = CollectionReader(client, collection="docs", place="here", vector_name=name).facts()
    client.close()
    with pytest.raises(SuiteError, match=re.escape(words)):
        check_vector_name(name, facts)


@pytest.mark.parametrize(
    ("name", "key"), [("7", 7), ("18446744073709551615", 18446744073709551615), (A, A), ("1" * 32, "1" * 32)]
)
def test_a_point_id_is_a_number_only_when_it_can_be_one(name: str, key: int | str) -> None:
    assert module.point_key(name) == key
