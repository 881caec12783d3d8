"""Files of points: what is read, and what is refused with file, column, row and remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.stores import points_file
from ragval_pipeline.sources.stores.points_file import open_points
from ragval_pipeline.sources.stores.points_held import PointIds
from ragval_pipeline.sources.stores.points_reader import PointsReader
from ragval_pipeline.sources.stores.qdrant import local
from ragval_pipeline.sources.stores.qdrant.names import id_order
from ragval_pipeline.sources.stores.qdrant.protocol import Search


def written(path: Path, **columns: Any) -> Path:
    whole = {"id": [1, 2], "payload": [json.dumps({"n": 1}), json.dumps({"n": 2})], "vector": [[1.0, 0.0], [0.0, 2.0]]}
    pq.write_table(
        pa.table({name: values for name, values in {**whole, **columns}.items() if values is not None}), path
    )
    return path


def read(path: Path, **judged: Any) -> PointsReader:
    return PointsReader(open_points(str(path)), name="points", **judged)


def read_whole(path: Path) -> None:
    reader = read(path)
    assert [*reader.pages(None)]
    assert [*reader.vectors()]


def refused(path: Path) -> str:
    with pytest.raises(SuiteError) as caught:
        read_whole(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"payload": None}, ["has no column payload"]),
        ({"vector": None}, ["has no column vector"]),
        ({"id": [1.5, 2.5]}, ["column id", "double"]),
        ({"id": [1, None]}, ["row 2, column id", "is empty"]),
        ({"id": [7, 7]}, ["row 2, column id", "7 is also the id of row 1"]),
        ({"payload": ["{}", "{"]}, ["row 2, column payload", "is not JSON"]),
        ({"payload": ["{}", "[1]"]}, ["row 2, column payload", "is a list"]),
        ({"vector": [[1.0, 0.0], [1.0]]}, ["row 2, column vector", "has 1 numbers, and row 1 has 2"]),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_what_is_wrong(
    tmp_path: Path, columns: dict[str, Any], told: list[str]
) -> None:
    path = written(tmp_path / "wrong.parquet", **columns)
    message = refused(path)
    for part in [str(path), *told]:
        assert part in message


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "cut.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    assert "is not a whole Parquet file" in refused(path)


def test_a_row_of_a_folder_is_counted_in_its_own_file(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet")
    second = written(tmp_path / "b.parquet", id=[3, 4], payload=["{}", "{"])
    message = refused(tmp_path)
    assert str(second) in message
    assert "row 2, column payload" in message


def test_a_folder_is_read_in_the_order_of_ids(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", id=[4, 1])
    written(tmp_path / "b.parquet", id=[3, 2])
    [page] = read(tmp_path).pages(None)
    assert [point.id for point in page] == ["1", "2", "3", "4"]


def test_cosine_vectors_have_length_one_as_in_a_collection(tmp_path: Path) -> None:
    [batch] = read(written(tmp_path / "points.parquet")).vectors()
    assert batch.matrix.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_named_vector_is_searched_and_points_without_it_are_missing(tmp_path: Path) -> None:
    path = written(
        tmp_path / "named.parquet", vector=None, **{"vector.a": [[1.0], [2.0]], "vector.b": [None, [0.0, 1.0]]}
    )
    reader = read(path, vector_name="b")
    [batch] = reader.vectors()
    assert (batch.ids, batch.missing) == (("2",), ("1",))
    assert [hit.id for hit in reader.search([0.0, 1.0], limit=5, fields=[], exact=True)] == ["2"]


def test_a_query_of_another_size_is_refused(tmp_path: Path) -> None:
    reader = read(written(tmp_path / "points.parquet"))
    with pytest.raises(SuiteError, match="3 dimensions"):
        [*reader.search_all([Search([1.0, 0.0, 0.0], 1)], fields=[], exact=True)]


def test_what_a_filter_leaves_out_is_told_by_field_value_and_page(tmp_path: Path) -> None:
    payloads = [{"lang": "en", "url": "/a"}, {"lang": "de", "url": "/b"}, {"url": "/c"}]
    path = written(
        tmp_path / "points.parquet",
        id=[1, 2, 3], payload=[json.dumps(payload) for payload in payloads], vector=[[1.0, 0.0]] * 3,
    )  # fmt: skip
    reader = read(path, equal={"lang": "en"})
    assert reader.count() == 1
    [entry] = reader.left_out("url")
    assert (entry.field, entry.lacking, entry.other, entry.values) == ("lang", {"/c": 1}, {"/b": 1}, ("de",))
    assert read(path).left_out("url") == ()


def test_a_filter_on_a_name_that_is_nested_elsewhere_names_it(tmp_path: Path) -> None:
    payload = json.dumps({"metadata": {"lang": "en"}})
    [entry] = read(written(tmp_path / "points.parquet", payload=[payload] * 2), equal={"lang": "en"}).left_out(None)
    assert (entry.elsewhere, entry.passing) == ("metadata.lang", 2)


def test_a_vector_that_is_not_finite_is_read_and_never_found(tmp_path: Path) -> None:
    path = written(
        tmp_path / "points.parquet",
        id=[1, 2, 3], payload=["{}"] * 3, vector=[[float("nan"), 1.0], [0.0, 1.0], [float("inf"), 0.0]],
    )  # fmt: skip
    reader = read(path)
    [batch] = reader.vectors()
    assert batch.ids == ("1", "2", "3")
    assert [hit.id for hit in reader.search([0.0, 1.0], limit=3, fields=[], exact=True)] == ["2"]


def test_ids_of_all_kinds_are_in_the_order_of_a_collection_and_keep_their_names() -> None:
    names = ["b", "10", "9", "007", "é" * 40, "x" * 200, "a\0", "a", "18446744073709551615", *map(str, range(20, 40))]
    ids = PointIds([PointIds.keys(names[:4]), PointIds.keys(names[4:])])
    assert [*ids] == sorted(names, key=id_order)
    assert [names[row] for row in ids.rows] == [*ids]
    assert ids.numbers([*ids, "none", "y" * 300]).tolist() == [*range(len(names)), -1, -1]


def test_a_search_compares_vectors_block_by_block_in_the_order_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, size = np.random.default_rng(3), 90
    vectors = np.round(random.normal(size=(size, 2)), 1)  # many are equal
    ids = random.permutation(size).tolist()
    path = written(tmp_path / "points.parquet", id=ids, payload=["{}"] * size, vector=vectors.tolist())
    searches = [Search(vector.tolist(), 7) for vector in random.normal(size=(5, 2))]
    whole = [found.hits for found in read(path).search_all(searches, fields=[], exact=True)]
    monkeypatch.setattr(local, "_SCORES", 4 * len(searches))
    monkeypatch.setattr(points_file, "_BATCH", 7)
    assert [found.hits for found in read(path).search_all(searches, fields=[], exact=True)] == whole
    for hits, search in zip(whole, searches, strict=True):
        unit = {number: vector / np.linalg.norm(vector) for number, vector in zip(ids, vectors, strict=True)}
        scores = {number: np.float32(each @ np.array(search.vector)) for number, each in unit.items()}
        best = sorted(scores, key=lambda number: (-np.round(scores[number], 5), number))[:7]
        assert [int(hit.id) for hit in hits] == best


def test_files_of_a_folder_may_have_other_vectors(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", id=[3, 1], vector=None, **{"vector.a": [[1.0], [2.0]]})
    written(tmp_path / "b.parquet", id=[2, 4], vector=None, **{"vector.b": [[0.0, 1.0], None]})
    found = {name: [*read(tmp_path, vector_name=name).vectors()] for name in "ab"}
    assert [(batch.ids, batch.missing) for batch in found["a"]] == [(("1", "3"), ("2", "4"))]
    assert [(batch.ids, batch.missing) for batch in found["b"]] == [(("2",), ("1", "3", "4"))]
    wanted = next(read(tmp_path, vector_name="a").vectors(["3", "9", "2", "1"]))
    assert (wanted.ids, wanted.missing) == (("3", "1"), ("2",))


def test_a_file_is_never_held_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, path, held = 14_000, tmp_path / "points.parquet", []
    table = {
        "id": range(rows),
        "payload": ["{}"] * rows,
        "vector": [*np.random.default_rng(1).normal(size=(rows, 128)).astype(np.float32)],
    }
    pq.write_table(pa.table(table), path, row_group_size=500)
    whole = pa.total_allocated_bytes()
    add = points_file.HeldPayloads.add
    monkeypatch.setattr(
        points_file.HeldPayloads, "add", lambda *given: (held.append(pa.total_allocated_bytes() - whole), add(*given))
    )
    assert read(path).count() == rows
    assert max(held) < path.stat().st_size / 2
