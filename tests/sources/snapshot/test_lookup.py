from __future__ import annotations

import uuid
from collections.abc import Iterator

import pyarrow as pa
import pytest

from ragval_pipeline.sources.snapshot import lookup
from ragval_pipeline.sources.snapshot.lookup import RowsInStep, id_order, rows_by_id

IDS = ["2", "10", str(uuid.UUID(int=1)), str(uuid.UUID(int=2)), str(uuid.UUID(int=9))]


class Counting:
    """Batches of one row, and how many of them were read."""

    def __init__(self, ids: list[str]) -> None:
        self.ids, self.read = ids, 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for name in self.ids:
            self.read += 1
            yield pa.RecordBatch.from_pylist([{"point_id": name, "text": f"text of {name}"}])


def taken(in_step: RowsInStep, ids: list[str]) -> dict[str, str]:
    """Texts by id, in the order in which they are handed out."""
    return {row["point_id"]: row["text"] for row in in_step.take(ids).to_pylist()}


def test_ids_are_ordered_as_qdrant_scrolls_them() -> None:
    assert sorted(set(IDS), key=id_order) == IDS


def test_rows_are_handed_out_while_the_other_read_goes_on() -> None:
    rows = Counting(IDS)
    in_step = RowsInStep(rows)
    assert list(taken(in_step, IDS[:2])) == IDS[:2]
    assert rows.read == 2
    assert taken(in_step, IDS[2:])[IDS[3]] == f"text of {IDS[3]}"


def test_a_point_that_is_new_is_not_looked_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "READ_AHEAD", 3)
    rows = Counting(IDS)
    in_step = RowsInStep(rows)
    assert taken(in_step, ["1"]) == {}
    assert rows.read == 3
    assert list(taken(in_step, ["10", IDS[4]])) == ["10", IDS[4]]


def test_an_order_that_differs_loses_nothing() -> None:
    assert list(taken(RowsInStep(Counting(IDS[::-1])), IDS)) == IDS


def test_a_point_that_is_gone_is_passed_over() -> None:
    assert list(taken(RowsInStep(Counting(IDS)), [IDS[4]])) == [IDS[4]]


def test_the_last_point_may_be_unknown() -> None:
    assert taken(RowsInStep(Counting(IDS)), [str(uuid.UUID(int=10))]) == {}


def test_of_no_rows_none_are_handed_out() -> None:
    assert taken(RowsInStep([]), IDS) == {}


def test_rows_are_found_by_id_and_nothing_is_read_for_no_id() -> None:
    rows = Counting(IDS)
    assert list(rows_by_id(rows, {"10", "99"})) == ["10"]
    rows.read = 0
    assert rows_by_id(rows, ()) == {}
    assert rows.read == 0
