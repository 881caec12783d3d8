from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing

import pytest
import yaml
from qdrant_client import QdrantClient, models

from tests.cli.conftest import Ended, Home

Ragval = Callable[..., Ended]
pytestmark = pytest.mark.usefixtures("without_gx")


def copied(home: Home, *, without: str | None) -> None:
    """A second collection with the points of the demo's, but for those of one page."""
    with closing(QdrantClient(path=str(home.folder / "qdrant"))) as client:
        points, _ = client.scroll(home.collection, limit=1000, with_vectors=True)
        config = client.get_collection(home.collection).config.params.vectors
        client.create_collection("next", vectors_config=config)
        kept = [point for point in points if point.payload["source_url"] != without]
        client.upsert("next", [models.PointStruct(id=p.id, vector=p.vector, payload=p.payload) for p in kept])


def first_page(home: Home) -> str:
    with closing(QdrantClient(path=str(home.folder / "qdrant"))) as client:
        [point], _ = client.scroll(home.collection, limit=1)
    return str(point.payload["source_url"])


def test_an_index_that_lost_a_page_is_no_replacement_and_the_page_is_named(home: Home, ragval: Ragval) -> None:
    page = first_page(home)
    copied(home, without=page)
    before = home.files()
    ended = ragval("compare", "--with", "next", "-s", home.suite)
    assert ended.code == 1
    assert ended.out.startswith("Pages  1 lost, 0 won\n")
    assert f"lost  {page}" in ended.out
    assert "smallest loss that is told from chance" in ended.out
    assert home.files() == before  # nothing is left in the history


@pytest.mark.slow
def test_a_copy_of_an_index_keeps_everything(home: Home, ragval: Ragval) -> None:
    copied(home, without=None)
    ended = ragval("compare", "--with", "next", "-s", home.suite, "--json")
    assert ended.code == 0
    told = json.loads(ended.out)
    assert (told["pages_lost"], told["pages_won"], told["neighbours"]["mean"]) == ([], [], 1.0)
    assert (told["before"]["name"], told["after"]["name"]) == (home.collection, "next")


def test_a_collection_that_is_not_there_ends_with_3_and_its_name(home: Home, ragval: Ragval) -> None:
    ended = ragval("compare", "--with", "nxt", "-s", home.suite)
    assert ended.code == 3
    assert "nxt" in ended.message


def test_runs_and_indexes_are_not_compared_at_once(home: Home, ragval: Ragval) -> None:
    ended = ragval("compare", "a", "--with", "next", "-s", home.suite)
    assert ended.code == 2
    assert "Leave out A and B" in ended.message


def test_an_index_is_compared_with_a_file_of_points(home: Home, ragval: Ragval) -> None:
    file = home.folder / "next.parquet"
    assert ragval("export", "-s", home.suite, file).code == 0
    ended = ragval("compare", "--with", file, "-s", home.suite, "--json")
    assert ended.code == 0
    assert (ended.json["before"]["name"], ended.json["after"]["name"]) == (home.collection, "next")
    assert ended.json["neighbours"]["mean"] == 1.0


def test_a_file_of_points_is_not_compared_with_a_collection_of_no_server(home: Home, ragval: Ragval) -> None:
    file = home.folder / "points.parquet"
    assert ragval("export", "-s", home.suite, file).code == 0
    settings = yaml.safe_load(home.suite.read_text())
    del settings["qdrant"]
    home.suite.write_text(yaml.safe_dump({**settings, "points": str(file)}))
    ended = ragval("compare", "--with", "nxt", "-s", home.suite)
    assert ended.code == 2
    assert "nxt" in ended.message
