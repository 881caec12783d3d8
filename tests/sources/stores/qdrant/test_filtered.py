"""What a filter leaves out, as an embedded collection and a server answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from tests.support.qdrant_server import QdrantStandIn

PAYLOADS: list[dict[str, Any]] = [
    {"url": "/a", "status": "on", "metadata": {"tenant": "navy"}},
    {"url": "/b", "metadata": {"tenant": "navy"}},
    {"url": "/b", "status": "", "metadata": {"tenant": "harbour"}},
    {"url": "/c", "status": "off", "metadata": {"tenant": "harbour"}},
]


@pytest.fixture(params=["embedded", "server"])
def client(request: pytest.FixtureRequest) -> Iterator[QdrantClient]:
    if request.param == "embedded":
        opened = QdrantClient(":memory:")
        yield opened
        opened.close()
        return
    with QdrantStandIn() as server:
        opened = QdrantClient(url=server.url, check_compatibility=False)
        yield opened
        opened.close()


def left_out(client: QdrantClient, **equal: str) -> tuple[LeftOut, ...]:
    client.create_collection("docs", models.VectorParams(size=2, distance=models.Distance.COSINE))
    points = [models.PointStruct(id=number, vector=[1.0, 0.0], payload=each) for number, each in enumerate(PAYLOADS)]
    client.upsert("docs", points)
    return CollectionReader(client, collection="docs", place="memory", equal=dict(equal)).left_out("url")


def test_points_without_the_field_and_with_another_value_are_counted_by_page(client: QdrantClient) -> None:
    [entry] = left_out(client, status="on")
    assert (entry.lacking, entry.other, entry.values) == ({"/b": 2}, {"/c": 1}, ("off",))
    assert entry.elsewhere is None


def test_a_field_that_no_point_has_is_found_where_it_is_nested(client: QdrantClient) -> None:
    [entry] = left_out(client, tenant="navy")
    assert (entry.points, entry.elsewhere, entry.passing) == (4, "metadata.tenant", 2)


def test_without_a_filter_nothing_is_read(client: QdrantClient) -> None:
    assert left_out(client) == ()
