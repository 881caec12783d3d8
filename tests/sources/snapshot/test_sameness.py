from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qdrant_client import QdrantClient, models
from upath import UPath

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.prints import same_vector, vector_prints
from ragval_pipeline.sources.snapshot.sameness import compare_points
from ragval_pipeline.sources.snapshot.writer import Prints, take_snapshot
from ragval_pipeline.sources.stores.qdrant import reader as reader_module
from ragval_pipeline.sources.stores.qdrant.protocol import Point, Search, VectorBatch
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.payload import PayloadSettings
from tests.support.collections import QUICK, Qdrant, open_qdrant


def stored(number: int, text: str = "", vector: Sequence[float] = (1.0, 0.5), **payload: Any) -> models.PointStruct:
    payload = {"chunk_text": text or f"text {number}", "embedded_at": "2026-01-01T00:00:00Z", **payload}
    return models.PointStruct(id=number, vector=list(vector), payload=payload)


def take(reader: Any, folder: Path, *, vectors: bool = True) -> SnapshotManifest:
    return take_snapshot(
        reader,
        payload=PayloadSettings(required=("source_url",)),
        page_key=str,
        pages={},
        folder=UPath(folder / "payload"),
        kept_uri="",
        run_id="run-1",
        prints=Prints(UPath(folder / "prints"), "", vectors=vectors),
    )


def test_texts_overwritten_at_an_unchanged_time_are_seen_beyond_the_first_page(
    qdrant: Qdrant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "PAGE_SIZE", 20)
    qdrant.create([stored(number) for number in range(100)])
    manifest = take(qdrant.reader(), tmp_path)
    assert not compare_points(qdrant.reader(), manifest).has_changed
    qdrant.client.upsert(qdrant.name, [stored(number, "other") for number in range(60, 65)], wait=True)
    found = compare_points(qdrant.reader(), manifest)
    assert (found.changed, found.gone, found.come) == (("60", "61", "62", "63", "64"), (), ())
    assert (found.read, found.now, found.vectors) == (100, 100, True)


def test_what_came_went_and_got_another_vector_is_told_apart(qdrant: Qdrant, tmp_path: Path) -> None:
    qdrant.create([stored(number) for number in range(8)])
    manifest = take(qdrant.reader(), tmp_path)
    qdrant.client.delete(qdrant.name, points_selector=[0, 7], wait=True)
    qdrant.client.upsert(qdrant.name, [stored(3, vector=(0.5, 1.0)), stored(9), stored(10)], wait=True)
    found = compare_points(qdrant.reader(), manifest)
    assert (found.gone, found.come, found.changed) == (("0", "7"), ("9", "10"), ("3",))
    assert found.points == ("0", "3", "7", "9", "10")
    assert found.now == 8


def test_a_field_that_the_run_does_not_read_is_no_difference(qdrant: Qdrant, tmp_path: Path) -> None:
    qdrant.create([stored(number) for number in range(3)])
    manifest = take(qdrant.reader(), tmp_path)
    qdrant.client.upsert(qdrant.name, [stored(1, seen=1)], wait=True)
    assert not compare_points(qdrant.reader(), manifest).has_changed


@pytest.mark.parametrize("spelling", ["", None])
def test_an_unnamed_vector_under_either_spelling_is_read_searched_and_unchanged(
    spelling: str | None, tmp_path: Path
) -> None:
    params = models.VectorParams(size=16, distance=models.Distance.COSINE)
    draw = random.Random(1)
    rows = [[draw.gauss(0, 1) for _ in range(16)] for _ in range(30)]
    client = QdrantClient(path=str(tmp_path / "store"))
    client.create_collection("c", vectors_config=params if spelling is None else {"": params})
    client.upsert("c", [stored(number, vector=row) for number, row in enumerate(rows)])
    reader = CollectionReader(client, collection="c", place="c", policy=QUICK)
    before = np.concatenate([batch.matrix for batch in reader.vectors()])
    manifest = take(reader, tmp_path)
    for _ in range(3):
        hits = [found.hits for found in reader.search_all([Search(rows[4], 3)], fields=("chunk_text",), exact=False)]
        assert hits[0][0].id == "4"
        assert hits[0][0].score == pytest.approx(1.0)
    assert np.array_equal(before, np.concatenate([batch.matrix for batch in reader.vectors()]))
    assert not compare_points(reader, manifest).has_changed
    client.close()


def test_vectors_are_the_same_up_to_rounding_only() -> None:
    draw = np.random.default_rng(3)
    rows = draw.standard_normal((200, 256))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    ids = tuple(str(number) for number in range(len(rows)))

    def prints(matrix: np.ndarray) -> list[bytes]:
        return [entry for _, entry in vector_prints(VectorBatch(ids, matrix.astype(np.float32)))]

    rounded = prints(rows * (1 + 2.4e-8) + draw.uniform(-1e-7, 1e-7, rows.shape))
    moved = prints(rows + draw.standard_normal(rows.shape) * 1e-4)
    one = rows.copy()
    one[:, 7] += 0.01
    assert all(map(same_vector, prints(rows), rounded))
    assert not any(map(same_vector, prints(rows), moved))
    assert not any(map(same_vector, prints(rows), prints(one)))
    assert not any(map(same_vector, prints(rows), prints(rows * 0)))
    nan = np.full_like(rows, np.nan)
    assert all(map(same_vector, prints(nan), prints(nan)))
    assert not any(map(same_vector, prints(rows), prints(nan)))


class Moving:
    """A reader of an alias that points elsewhere after the first read."""

    def __init__(self, reader: CollectionReader) -> None:
        self.reader, self.place = reader, reader.place

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def facts(self) -> Any:
        return self.reader.facts().model_copy(update={"name": "another"})


def test_an_alias_that_was_moved_to_the_same_points_is_a_difference(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1)])
        manifest = take(qdrant.reader(), tmp_path)
        found = compare_points(Moving(qdrant.reader()), manifest)  # type: ignore[arg-type]
    assert (found.moved, found.collection, found.has_changed) == (True, "another", True)


class Repeating:
    """A reader whose last page has some points again."""

    def __init__(self, reader: CollectionReader, again: Sequence[int]) -> None:
        self.reader, self.again, self.place = reader, again, reader.place

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def scan(self, fields: Sequence[str] | None, way: Any, *, points: int) -> Iterator[list[Point]]:
        pages = list(self.reader.scan(fields, way, points=points))
        yield from pages
        yield [pages[-1][number] for number in self.again]


def test_a_point_that_a_scroll_repeats_is_counted_once_or_the_read_fails(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(number) for number in range(5)])
        manifest = take(Repeating(qdrant.reader(), [4, 4]), tmp_path / "a")
        assert (manifest.points, manifest.repeated) == (5, 2)
        assert not compare_points(qdrant.reader(), manifest).has_changed
        with pytest.raises(SystemFailure, match=r"returned the point 2 twice"):
            take(Repeating(qdrant.reader(), [2]), tmp_path / "b")
        with pytest.raises(SystemFailure, match=r"returned the point 2 twice"):
            compare_points(Repeating(qdrant.reader(), [2]), manifest)  # type: ignore[arg-type]


def test_without_prints_of_vectors_only_payloads_are_compared(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(number) for number in range(3)])
        manifest = take(qdrant.reader(), tmp_path, vectors=False)
        qdrant.client.upsert(qdrant.name, [stored(1, vector=(0.1, 0.9)), stored(2, "other")])
        found = compare_points(qdrant.reader(), manifest)
    assert (found.vectors, found.changed) == (False, ("2",))


def test_prints_that_are_gone_are_an_error_and_no_difference(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1)])
        manifest = take(qdrant.reader(), tmp_path)
        (tmp_path / "prints" / "vectors.parquet").unlink()
        with pytest.raises(FileNotFoundError, match="take a new snapshot"):
            compare_points(qdrant.reader(), manifest)
        with pytest.raises(FileNotFoundError, match="take a new snapshot"):
            compare_points(qdrant.reader(), manifest.model_copy(update={"prints": None}))


class Endless(Repeating):
    """A reader whose scroll always has more points."""

    def scan(self, fields: Sequence[str] | None, way: Any, *, points: int) -> Iterator[list[Point]]:
        return ([Point(str(10 * page + number), {}) for number in range(1000)] for page in count(0, 100))


def test_a_scroll_without_end_is_an_error(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(number) for number in range(5)])
        with pytest.raises(SystemFailure, match=r"without end: 11,000 of 5 counted"):
            take(Endless(qdrant.reader(), []), tmp_path)
