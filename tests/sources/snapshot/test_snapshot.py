from __future__ import annotations

import gc
import json
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from qdrant_client import QdrantClient, models
from upath import UPath

from ragval_pipeline.sources.site.urls import UrlFolder
from ragval_pipeline.sources.snapshot import buckets, writer
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.snapshot.writer import take_snapshot
from ragval_pipeline.sources.stores.qdrant import reader as reader_module
from ragval_pipeline.sources.stores.qdrant import scanning
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.payload import PayloadSettings
from tests.support.collections import QUICK, Qdrant, open_qdrant
from tests.support.qdrant_server import QdrantStandIn

PAGE = "https://docs.example.com/docs/intro"


def stored(number: int | str, **payload: Any) -> models.PointStruct:
    return models.PointStruct(id=number, vector=[1.0, 0.5], payload=payload)


def take(reader: CollectionReader, folder: Path | UPath, **more: Any) -> SnapshotManifest:
    settings: dict[str, Any] = {
        "payload": PayloadSettings(required=("source_url", "chunk_index")),
        "page_key": UrlFolder(site_host="docs.example.com").key,
        "pages": {PAGE: f"{PAGE}/"},
        "folder": UPath(folder),
        "kept_uri": str(UPath(folder) / "kept"),
        "run_id": "run-1",
        **more,
    }
    return take_snapshot(reader, **settings)


def rows(manifest: SnapshotManifest, *columns: str) -> dict[str, dict[str, Any]]:
    return {row["point_id"]: row for row in Snapshot(manifest).rows(("point_id", *columns))}


def test_every_point_is_in_the_snapshot_once_over_pages_and_parts(
    qdrant: Qdrant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "PAGE_SIZE", 50)
    monkeypatch.setattr(writer, "POINTS_PER_BUCKET", 100)
    monkeypatch.setattr(buckets, "BYTES_HELD", 10_000)
    ids = [*range(120), *(str(uuid.UUID(int=number)) for number in range(1, 121))]
    qdrant.create([stored(number, chunk_index=index) for index, number in enumerate(ids)])
    progress: list[tuple[int, int]] = []
    manifest = take(qdrant.reader(), tmp_path, on_progress=lambda done, total: progress.append((done, total)))
    assert (manifest.buckets, len(manifest.parts), sum(part.rows for part in manifest.parts)) == (4, 4, 240)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == [part.name for part in manifest.parts]
    assert {pq.ParquetFile(file).num_row_groups for file in files} == {1}
    read = list(Snapshot(manifest).rows(("point_id", "chunk_index")))
    assert {row["point_id"]: row["chunk_index"] for row in read} == {str(n): i for i, n in enumerate(ids)}
    assert len(read) == 240
    assert manifest.points == manifest.count_before == manifest.count_after == 240
    assert progress == [(50, 240), (100, 240), (150, 240), (200, 240), (240, 240)]


def test_each_row_names_the_page_that_its_point_belongs_to(qdrant: Qdrant, tmp_path: Path) -> None:
    qdrant.create(
        [
            stored(1, source_url="http://www.docs.example.com/docs/intro.html#top"),
            stored(2, source_url="https://docs.example.com/docs/other"),
            stored(3, source_url="doc-17"),
            stored(4, source_url="  "),
            stored(5),
        ]
    )
    found = rows(take(qdrant.reader(), tmp_path), "page_key", "page_url", "source_url")
    assert [(found[n]["page_key"], found[n]["page_url"]) for n in "12345"] == [
        (PAGE, f"{PAGE}/"),
        ("https://docs.example.com/docs/other", None),
        ("doc-17", None),
        (None, None),
        (None, None),
    ]
    assert found["1"]["source_url"] == "http://www.docs.example.com/docs/intro.html#top"


def test_values_keep_their_kind_and_what_a_column_cannot_hold_is_shown(qdrant: Qdrant, tmp_path: Path) -> None:
    values = {1: 3, 2: 3.0, 3: 3.5, 4: "3", 5: None, 6: True, 7: [3], 8: {}, 9: -1}
    qdrant.create([stored(number, chunk_index=value) for number, value in values.items()])
    found = rows(take(qdrant.reader(), tmp_path), "chunk_index", "kind:chunk_index", "odd")
    assert {n: (row["chunk_index"], row["kind:chunk_index"], row["odd"]) for n, row in found.items()} == {
        "1": (3, "int", None),
        "2": (3, "float", None),
        "3": (None, "float", '{"chunk_index": "3.5"}'),
        "4": (None, "str", '{"chunk_index": "\\"3\\""}'),
        "5": (None, "null", None),
        "6": (None, "bool", '{"chunk_index": "true"}'),
        "7": (None, "list", '{"chunk_index": "[3]"}'),
        "8": (None, "empty", None),
        "9": (-1, "int", None),
    }


def test_a_whole_float_is_a_float_on_the_wire_or_an_int(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1, chunk_index=2.0)])
        assert rows(take(qdrant.reader(), tmp_path), "chunk_index")["1"]["chunk_index"] == 2


def test_nested_dotted_and_odd_names_are_read(qdrant: Qdrant, tmp_path: Path) -> None:
    fields = {"text": "page content", "source_url": "metadata.url", "module": "metadata.module", "title": "metadata"}
    qdrant.create(
        [
            stored(1, **{"page content": "x", "metadata": {"url": PAGE, "module": "m"}}),
            stored(2, **{"page content": "y", "metadata.url": PAGE}),
        ]
    )
    payload = PayloadSettings(fields=fields, required=("metadata.url", "metadata.missing"))
    manifest = take(qdrant.reader(), tmp_path, payload=payload)
    found = rows(
        manifest, "text", "source_url", "module", "kind:metadata", "kind:metadata.url", "kind:metadata.missing"
    )
    assert (found["1"]["text"], found["1"]["source_url"], found["1"]["module"]) == ("x", PAGE, "m")
    assert (found["2"]["source_url"], found["2"]["module"]) == (PAGE, None)
    assert [found[n]["kind:metadata"] for n in "12"] == ["object", "absent"]
    assert [found[n]["kind:metadata.url"] for n in "12"] == ["str", "str"]
    assert [found[n]["kind:metadata.missing"] for n in "12"] == ["absent", "absent"]


def test_only_the_columns_asked_for_come_back(qdrant: Qdrant, tmp_path: Path) -> None:
    fields = {"title": "metadata", "source_url": "metadata.url"}
    qdrant.create([stored(1, metadata={"url": PAGE})])
    snapshot = Snapshot(take(qdrant.reader(), tmp_path, payload=PayloadSettings(fields=fields)))
    for columns in (["kind:metadata"], ["kind:metadata.url", "point_id"], ["headings"]):
        assert all(batch.schema.names == columns for batch in snapshot.batches(columns))


def test_the_fields_that_the_payload_really_has_are_observed(qdrant: Qdrant, tmp_path: Path) -> None:
    qdrant.create([stored(1, content="x", metadata={"url": "u", "deep": {"er": 1}}), stored(2, other=1)])
    assert take(qdrant.reader(), tmp_path).observed == (
        "content", "metadata", "metadata.deep", "metadata.deep.er", "metadata.url", "other",
    )  # fmt: skip


def test_an_empty_collection_is_an_empty_snapshot_that_can_be_read(qdrant: Qdrant, tmp_path: Path) -> None:
    qdrant.create()
    manifest = take(qdrant.reader(), tmp_path)
    assert (manifest.points, manifest.parts) == (0, ())
    snapshot = Snapshot(manifest)
    assert list(snapshot.rows(("point_id",))) == []


class Busy:
    """A reader of a collection that is written to after each page."""

    def __init__(self, reader: CollectionReader, write: Any) -> None:
        self.reader, self.write, self.place = reader, write, reader.place

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def scan(self, fields: Sequence[str] | None, way: Any, *, points: int) -> Iterator[list[Point]]:
        for page in self.reader.scan(fields, way, points=points):
            yield page
            self.write()


def test_a_collection_that_changes_meanwhile_shows_in_the_counts(
    qdrant: Qdrant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "PAGE_SIZE", 4)
    qdrant.create([stored(number) for number in range(10, 20)])
    todo = [
        lambda: qdrant.client.upsert(qdrant.name, [stored(1)], wait=True),  # behind the cursor: missed
        lambda: qdrant.client.delete(qdrant.name, points_selector=[19, 18], wait=True),
    ]
    manifest = take(Busy(qdrant.reader(), lambda: todo and todo.pop(0)()), tmp_path)  # type: ignore[arg-type]
    assert (manifest.count_before, manifest.points, manifest.count_after) == (10, 8, 9)


class Doubling(Busy):
    """A reader whose slices all hold every point, as behind a proxy that drops what it does not know."""

    def way(self, facts: Any) -> str:
        return "slices"

    def scan(self, fields: Sequence[str] | None, way: Any, *, points: int) -> Iterator[list[Point]]:
        for page in self.reader.scan(fields, "pages", points=points):
            yield [point for point in page for _ in range(2 if way == "slices" else 1)]


def test_a_read_with_points_that_come_twice_is_made_again_page_after_page(qdrant: Qdrant, tmp_path: Path) -> None:
    qdrant.create([stored(number) for number in range(10)])
    manifest = take(Doubling(qdrant.reader(), None), tmp_path)  # type: ignore[arg-type]
    assert (manifest.way, manifest.points, manifest.repeated) == ("pages", 10, 0)
    assert sorted(rows(manifest, "text")) == sorted(str(number) for number in range(10))


@pytest.mark.parametrize(("version", "way"), [("1.20.0", "slices"), ("1.18.2", "ranges")])
def test_servers_of_any_version_give_a_whole_snapshot(
    version: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "PARALLEL_FROM", 100)
    with QdrantStandIn(version=version) as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        client.create_collection("c", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
        client.upsert("c", [stored(number) for number in range(120)], wait=True)
        reader = CollectionReader(client, collection="c", place="c", policy=QUICK, concurrency=3)
        manifest = take(reader, tmp_path)
    assert (manifest.way, manifest.points, manifest.repeated) == (way, 120, 0)
    assert rows(manifest, "text").keys() == {str(number) for number in range(120)}


#: What a database of people's payloads can hold.
HOSTILE = {
    "lone surrogate": "half \ud800 pair",
    "nul": "a\x00b",
    "huge text": "ä" * 5_000_000,
    "big int": 2**80,
    "nan": float("nan"),
    "infinity": float("inf"),
    "surrogate inside": {"k\ud800": ["\udfff"]},
    "mixed list": ["a", 1, None],
    "surrogate list": ["\ud800"],
    "deep": json.loads('{"down": [' * 60 + "1" + "]}" * 60),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_payload_breaks_the_snapshot(tmp_path: Path, name: str) -> None:
    fields = PayloadSettings().fields
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1, **dict.fromkeys(fields.values(), HOSTILE[name])), stored(2, source_url=PAGE)])
        manifest = take(qdrant.reader(), tmp_path)
    found = rows(manifest, "page_url", *fields, "odd", "text_sha256", "text_chars")
    assert set(found) == {"1", "2"}
    assert found["2"]["page_url"] == f"{PAGE}/"


def test_a_lone_surrogate_becomes_a_replacement_character(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1, chunk_text="half \ud800 pair", heading_hierarchy=["\udfff", "b"])])
        row = rows(take(qdrant.reader(), tmp_path), "text", "headings")["1"]
    assert (row["text"], row["headings"]) == ("half \ufffd pair", ["\ufffd", "b"])


def test_a_number_for_a_text_and_a_text_for_headings_are_kept_as_what_they_say(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1, chapter_id=7, heading_hierarchy="A > B", module_name=False)])
        row = rows(
            take(qdrant.reader(), tmp_path), "chapter", "headings", "module", "kind:chapter_id", "kind:module_name"
        )["1"]
    assert (row["chapter"], row["headings"], row["module"]) == ("7", ["A > B"], None)
    assert (row["kind:chapter_id"], row["kind:module_name"]) == ("int", "bool")


def test_the_points_of_a_page_share_the_bucket_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "POINTS_PER_BUCKET", 8)
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(number, source_url=f"https://docs.example.com/{number % 7}") for number in range(60)])
        manifest = take(qdrant.reader(), tmp_path)
    for part in manifest.parts:
        keys = pq.read_table(tmp_path / part.name, columns=["page_key"]).column("page_key").to_pylist()
        assert {buckets.bucket_of(key, manifest.buckets) for key in keys} == {part.bucket}
    assert sum(part.rows for part in manifest.parts) == 60


def test_a_bucket_of_many_is_part_of_one_of_few() -> None:
    keys = [f"https://docs.example.com/{number}" for number in range(200)]
    assert all(buckets.bucket_of(key, 64) % 8 == buckets.bucket_of(key, 8) for key in keys)
    assert len({buckets.bucket_of(key, 8) for key in keys}) == 8
    assert [buckets.buckets_for(rows, 100) for rows in (0, 100, 101, 350, 10**9)] == [1, 1, 2, 4, 1024]


def test_a_second_try_leaves_no_parts_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "PAGE_SIZE", 2)
    monkeypatch.setattr(writer, "POINTS_PER_BUCKET", 2)
    (tmp_path / "other.txt").write_text("kept")
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(number) for number in range(6)])
        take(qdrant.reader(), tmp_path)
        qdrant.client.delete(qdrant.name, points_selector=[0, 1, 2, 3])
        manifest = take(qdrant.reader(), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"other.txt", *(part.name for part in manifest.parts)}
    assert manifest.points == 2


def test_a_read_that_fails_leaves_the_collector_and_arrows_memory_as_they_were(tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    def fail(done: int, total: int) -> None:
        seen.append((pa.default_memory_pool().backend_name, gc.get_freeze_count()))
        raise RuntimeError("no more")

    before = (pa.default_memory_pool().backend_name, gc.get_freeze_count())
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1)])
        with pytest.raises(RuntimeError, match="no more"):
            take(qdrant.reader(), tmp_path, on_progress=fail)
    [(pool, frozen)] = seen
    assert pool == "system"
    assert frozen > before[1]
    assert pa.default_memory_pool().backend_name == before[0]
    assert gc.get_freeze_count() <= before[1]


def test_any_fsspec_folder_will_do() -> None:
    folder = UPath(f"memory://{uuid.uuid4()}/payload")
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(number, source_url=PAGE) for number in range(3)])
        manifest = take(qdrant.reader(), folder)
    assert manifest.staged_uri.startswith("memory://")
    assert len(rows(manifest)) == 3
    assert [row["page_url"] for row in Snapshot(manifest).rows(["page_url"])] == [f"{PAGE}/"] * 3


def test_parts_are_found_where_they_are_kept_once_they_were_moved(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1)])
        manifest = take(qdrant.reader(), tmp_path / "staged", kept_uri=str(tmp_path / "kept"))
    (tmp_path / "staged").rename(tmp_path / "kept")
    assert set(rows(manifest)) == {"1"}


def test_a_snapshot_that_was_moved_in_part_is_read_where_it_is_whole(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1)])
        manifest = take(qdrant.reader(), tmp_path / "staged", kept_uri=str(tmp_path / "kept"))
    second = manifest.parts[0].model_copy(update={"name": "part-00001.parquet"})
    manifest = manifest.model_copy(update={"parts": (*manifest.parts, second)})
    first = tmp_path / "staged" / manifest.parts[0].name
    (tmp_path / "staged" / second.name).write_bytes(first.read_bytes())
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / first.name).write_bytes(first.read_bytes())
    assert str(manifest.folder()) == str(tmp_path / "staged")


def test_a_snapshot_that_is_gone_says_so(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1)])
        manifest = take(qdrant.reader(), tmp_path)
    (tmp_path / manifest.parts[0].name).unlink()
    with pytest.raises(FileNotFoundError, match="take a new one"):
        manifest.folder()


def test_the_parts_are_plain_parquet_for_everybody(tmp_path: Path) -> None:
    with open_qdrant("local") as qdrant:
        qdrant.create([stored(1, chunk_text="text", heading_hierarchy=["a"], token_count=3)])
        manifest = take(qdrant.reader(), tmp_path)
    [row] = pq.read_table(tmp_path / manifest.parts[0].name).to_pylist()
    assert (row["text"], row["headings"], row["token_count"], row["text_chars"]) == ("text", ["a"], 3, 4)
    assert row["text_sha256"] == "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
