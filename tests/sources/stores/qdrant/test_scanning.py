"""Reading all points with several requests at a time gives what reading them page after page gives."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline.sources.stores.qdrant import reader as reader_module
from ragval_pipeline.sources.stores.qdrant import scanning
from ragval_pipeline.sources.stores.qdrant.names import id_order
from ragval_pipeline.sources.stores.qdrant.protocol import Point, Way
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.sources.stores.qdrant.scanning import merged, way_of
from tests.support.collections import QUICK
from tests.support.qdrant_server import QdrantStandIn

UUIDS = [str(uuid.uuid5(uuid.NAMESPACE_URL, str(number))) for number in range(300)]
CLUSTERED = [f"01890a5d-ac96-774b-bcce-{number:012x}" for number in range(0, 900, 3)]
IDS: dict[str, list[Any]] = {
    "uuids": UUIDS,
    "integers": list(range(300)),
    "integers far apart": [number**3 for number in range(300)],
    "times as integers": [1_700_000_000_000_000 + number for number in range(300)],
    "uuids of one moment": CLUSTERED,
    "both": [*range(50), *UUIDS[:250]],
    "few": [7],
    "none": [],
}


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "PAGE_SIZE", 20)
    monkeypatch.setattr(scanning, "POINTS_PER_RANGE", 18)


@pytest.fixture
def server() -> Iterator[QdrantStandIn]:
    with QdrantStandIn() as opened:
        yield opened


def reader_of(server: QdrantStandIn, ids: list[Any], **settings: Any) -> CollectionReader:
    client = QdrantClient(url=server.url, check_compatibility=False, timeout=20)
    client.create_collection("c", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
    points = [models.PointStruct(id=name, vector=[1.0, 0.5], payload={"n": str(name)}) for name in ids]
    if points:
        client.upsert("c", points, wait=True)
    return CollectionReader(client, collection="c", place="c", policy=QUICK, concurrency=3, **settings)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_slices_and_ranges_give_every_point_once_and_in_id_order(server: QdrantStandIn, ids: list[Any]) -> None:
    reader = reader_of(server, ids)
    expected = [(str(name), {"n": str(name)}) for name in sorted(ids, key=lambda name: id_order(str(name)))]
    ways: tuple[Way, ...] = ("pages", "slices", "ranges")
    for way in ways:
        found = chain.from_iterable(reader.scan(["n"], way, points=len(ids)))
        assert [(point.id, point.payload) for point in found] == expected, way


@pytest.mark.usefixtures("small_pages")
def test_ranges_of_ids_that_are_spread_take_hardly_more_requests_than_pages(server: QdrantStandIn) -> None:
    reader = reader_of(server, UUIDS)
    list(reader.scan(["n"], "ranges", points=len(UUIDS)))
    assert server.count("/scroll") <= 1.8 * len(UUIDS) / 20


@pytest.mark.parametrize(
    ("facts", "way"),
    [
        ({"version": "1.19.0"}, "slices"),
        ({"version": "1.20.3-dev"}, "slices"),
        ({"version": "2.0"}, "slices"),
        ({"version": "1.18.2"}, "ranges"),
        ({"version": None}, "ranges"),
        ({"version": "unknown"}, "ranges"),
        ({"version": "1.20.0", "local": True}, "pages"),
        ({"version": "1.20.0", "points": scanning.PARALLEL_FROM - 1}, "pages"),
        ({"version": "1.20.0", "concurrency": 1}, "pages"),
    ],
)
def test_the_way_follows_from_server_size_and_settings(facts: dict[str, Any], way: Way) -> None:
    assert way_of(**{"points": 100_000, "local": False, "concurrency": 4, **facts}) == way


def test_streams_in_order_become_one_in_order() -> None:
    streams = [["1", "4", "9"], [], ["2", "10", UUIDS[1]], ["3"]]
    pages = [iter([[Point(name, {})] for name in stream]) for stream in streams]
    assert [point.id for page in merged(pages) for point in page] == ["1", "2", "3", "4", "9", "10", UUIDS[1]]


@pytest.mark.usefixtures("small_pages")
def test_a_failure_in_one_slice_ends_the_read_and_no_thread_goes_on(server: QdrantStandIn) -> None:
    reader = reader_of(server, UUIDS)
    server.fail("500", path="/scroll")
    for way in ("slices", "ranges"):
        with pytest.raises(Exception, match="status 500"):
            list(reader.scan(["n"], way, points=300))  # type: ignore[arg-type]
    asked = len(server.asked)
    assert asked < 30
