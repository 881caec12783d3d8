"""Vectors over gRPC, from a real gRPC server that answers Scroll and Retrieve as Qdrant's do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import pytest
from qdrant_client import QdrantClient, models
from qdrant_client import grpc as protocol

from ragval_pipeline.sources.stores.qdrant import reader as reader_module
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from tests.support.collections import QUICK
from tests.support.qdrant_server import QdrantStandIn

ID = "00000000-0000-0000-0000-00000000000a"


def number(value: int) -> protocol.PointId:
    return protocol.PointId(num=value)


def dense(*values: float) -> protocol.VectorOutput:
    return protocol.VectorOutput(dense=protocol.DenseVector(data=values))


def old(*values: float) -> protocol.VectorOutput:
    return protocol.VectorOutput(data=values)


def stored(point_id: protocol.PointId, vectors: protocol.VectorsOutput | None = None) -> protocol.RetrievedPoint:
    return protocol.RetrievedPoint(id=point_id, vectors=vectors)


class Points(protocol.PointsServicer):  # type: ignore[misc]
    """Two pages of points; remembers what was asked."""

    def __init__(self, *pages: list[protocol.RetrievedPoint]) -> None:
        self.pages = pages
        self.asked: list[protocol.ScrollPoints] = []
        self.got: list[protocol.GetPoints] = []

    def Scroll(self, request: protocol.ScrollPoints, context: grpc.ServicerContext) -> protocol.ScrollResponse:  # noqa: N802
        self.asked.append(request)
        place = len(self.asked) - 1
        following = self.pages[place + 1][0].id if place + 1 < len(self.pages) else None
        return protocol.ScrollResponse(result=self.pages[place], next_page_offset=following)

    def Get(self, request: protocol.GetPoints, context: grpc.ServicerContext) -> protocol.GetResponse:  # noqa: N802
        self.got.append(request)
        every = {point.id.num: point for page in self.pages for point in page}
        # In no order that was asked for, as Qdrant answers.
        return protocol.GetResponse(result=[every[key] for key in sorted(wanted.num for wanted in request.ids)])


@contextlib.contextmanager
def reading(points: Points, **settings: object) -> Iterator[CollectionReader]:
    server = grpc.server(ThreadPoolExecutor(2))
    protocol.add_PointsServicer_to_server(points, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    client = QdrantClient(host="127.0.0.1", grpc_port=port, prefer_grpc=True, timeout=5, check_compatibility=False)
    try:
        yield CollectionReader(client, collection="c", place="here", policy=QUICK, **settings)  # type: ignore[arg-type]
    finally:
        client.close()
        server.stop(None)


def test_pages_are_followed_to_the_end_without_payload() -> None:
    points = Points(
        [stored(number(1), protocol.VectorsOutput(vector=dense(1.0, 0.0)))],
        [stored(protocol.PointId(uuid=ID), protocol.VectorsOutput(vector=old(0.0, 1.0)))],
    )
    with reading(points, equal={"site": "a"}) as reader:
        batches = list(reader.vectors())
    assert [batch.ids for batch in batches] == [("1",), (ID,)]
    np.testing.assert_array_equal(np.concatenate([batch.matrix for batch in batches]), [[1.0, 0.0], [0.0, 1.0]])
    assert [request.with_payload.enable for request in points.asked] == [False, False]
    assert points.asked[1].offset.uuid == ID
    assert points.asked[1].filter.must[0].field.key == "site"


def test_a_named_vector_a_missing_one_and_several_are_distinguished() -> None:
    several = protocol.VectorOutput(multi_dense=protocol.MultiDenseVector(vectors=[protocol.DenseVector(data=[1.0])]))
    named = protocol.NamedVectorsOutput
    points = Points(
        [
            stored(number(1), protocol.VectorsOutput(vectors=named(vectors={"text": dense(1.0, 0.0)}))),
            stored(number(2), protocol.VectorsOutput(vectors=named(vectors={"title": dense(1.0, 0.0)}))),
            stored(number(3)),
            stored(number(4), protocol.VectorsOutput(vectors=named(vectors={"text": several}))),
        ]
    )
    with reading(points, vector_name="text") as reader:
        [batch] = reader.vectors()
    assert (batch.ids, batch.missing, batch.other) == (("1",), ("2", "3"), ("4",))
    assert list(points.asked[0].with_vectors.include.names) == ["text"]


@pytest.mark.parametrize(("theirs", "way"), [(1.0, "grpc"), (0.5, "rest")])
def test_vectors_of_a_large_collection_come_over_grpc_where_the_same_points_answer(
    monkeypatch: pytest.MonkeyPatch, theirs: float, way: str
) -> None:
    monkeypatch.setattr(reader_module, "PARALLEL_FROM", 1)
    first = stored(number(1), protocol.VectorsOutput(vector=dense(theirs, 0.0)))
    second = stored(number(2), protocol.VectorsOutput(vector=dense(0.0, 1.0)))
    points = Points([first], [first, second])
    server = grpc.server(ThreadPoolExecutor(2))
    protocol.add_PointsServicer_to_server(points, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with QdrantStandIn() as rest:
        client = QdrantClient(url=rest.url, grpc_port=port, timeout=5, check_compatibility=False)
        client.create_collection("c", models.VectorParams(size=2, distance=models.Distance.COSINE))
        client.upsert("c", [models.PointStruct(id=1, vector=[1, 0]), models.PointStruct(id=2, vector=[0, 1])])
        reader = CollectionReader(client, collection="c", place="here", policy=QUICK)
        [batch] = reader.vectors()
        assert (reader.vector_way, batch.ids, batch.matrix.tolist()) == (way, ("1", "2"), [[1.0, 0.0], [0.0, 1.0]])
        by_id = CollectionReader(client, collection="c", place="here", policy=QUICK)
        points.asked.clear()
        [batch] = by_id.vectors(["2", "1"])
        assert (by_id.vector_way, batch.ids, batch.matrix.tolist()) == (way, ("2", "1"), [[0.0, 1.0], [1.0, 0.0]])
        assert [len(request.ids) for request in points.got] == ([2] if way == "grpc" else [])
        server.stop(None).wait()
        # Nobody answers there any more: REST serves, and nothing fails.
        again = CollectionReader(client, collection="c", place="here", policy=QUICK)
        assert next(again.vectors()).ids == ("1", "2")
        assert again.vector_way == "rest"
        client.close()


class Failing(Points):
    """A server whose gRPC fails after the first pages."""

    left = 2  # the one that finds out whether it answers, and the first page

    def Scroll(self, request: protocol.ScrollPoints, context: grpc.ServicerContext) -> protocol.ScrollResponse:  # noqa: N802
        self.left -= 1
        if self.left < 0:
            context.abort(grpc.StatusCode.INTERNAL, "out of order")
        return super().Scroll(request, context)


def test_grpc_that_was_chosen_and_fails_in_the_middle_is_replaced_by_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "PARALLEL_FROM", 1)
    first = stored(number(1), protocol.VectorsOutput(vector=dense(1.0, 0.0)))
    points = Failing([first], [first], [stored(number(2))])
    server = grpc.server(ThreadPoolExecutor(2))
    protocol.add_PointsServicer_to_server(points, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with QdrantStandIn() as rest:
        client = QdrantClient(url=rest.url, grpc_port=port, timeout=5, check_compatibility=False)
        client.create_collection("c", models.VectorParams(size=2, distance=models.Distance.COSINE))
        client.upsert("c", [models.PointStruct(id=at, vector=[1, at - 1]) for at in (1, 2, 3)])
        reader = CollectionReader(client, collection="c", place="here", policy=QUICK)
        found = [name for batch in reader.vectors() for name in batch.ids]
        assert (found, reader.vector_way) == (["1", "2", "3"], "rest")
        client.close()
    server.stop(None)
