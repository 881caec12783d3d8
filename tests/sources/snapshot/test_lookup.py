from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ragval_pipeline.sources.snapshot import lookup
from ragval_pipeline.sources.snapshot.lookup import RowsInStep, id_order, rows_by_id

IDS = ["2", "10", str(uuid.UUID(int=1)), str(uuid.UUID(int=2)), str(uuid.UUID(int=9))]


class Counting:
    """Rows, and how many of them were read."""

    def __init__(self, ids: list[str]) -> None:
        self.ids, self.read = ids, 0

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for name in self.ids:
            self.read += 1
            yield {"point_id": name, "text": f"text of {name}"}


def test_ids_are_ordered_as_qdrant_scrolls_them() -> None:
    assert sorted(set(IDS), key=id_order) == IDS


def test_rows_are_handed_out_while_the_other_read_goes_on() -> None:
    rows = Counting(IDS)
    in_step = RowsInStep(rows)
    assert list(in_step.take(IDS[:2])) == IDS[:2]
    assert rows.read == 2
    assert in_step.take(IDS[2:])[IDS[3]]["text"] == f"text of {IDS[3]}"


def test_a_point_that_is_new_is_not_looked_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "READ_AHEAD", 3)
    rows = Counting(IDS)
    in_step = RowsInStep(rows)
    assert in_step.take(["1"]) == {}
    assert rows.read == 3
    assert list(in_step.take(["10", IDS[4]])) == ["10", IDS[4]]


def test_an_order_that_differs_loses_nothing() -> None:
    assert list(RowsInStep(Counting(IDS[::-1])).take(IDS)) == IDS


def test_a_point_that_is_gone_is_passed_over() -> None:
    in_step = RowsInStep(Counting(IDS))
    assert list(in_step.take([IDS[4]])) == [IDS[4]]


def test_the_last_point_may_be_unknown() -> None:
    assert RowsInStep(Counting(IDS)).take([str(uuid.UUID(int=10))]) == {}


def test_rows_are_found_by_id_and_nothing_is_read_for_no_id() -> None:
    rows = Counting(IDS)
    assert list(rows_by_id(rows, {"10", "99"})) == ["10"]
    rows.read = 0
    assert rows_by_id(rows, ()) == {}
    assert rows.read == 0
