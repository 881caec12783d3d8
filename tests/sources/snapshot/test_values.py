from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from ragval_pipeline.sources.snapshot.reader import rows_by_id
from ragval_pipeline.sources.snapshot.records import EMPTY_KINDS, kind_of, shown
from ragval_pipeline.sources.stores.qdrant.names import id_order
from ragval_pipeline.text.characters import ZERO_WIDTH


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        ("", "blank"),
        (" \t\n", "blank"),
        ("\u200b\ufeff", "blank"),
        ("\u00a0\u3000\u2028", "blank"),
        (" \u200d \u00ad", "blank"),
        ("\u200e\u202a\u2066\u180e\u2063", "blank"),
        ("\u3164\u2800\ufe0f", "blank"),
        ("\x00\x1b", "blank"),
        ([], "empty"),
        ({}, "empty"),
        (0, "int"),
        (0.0, "float"),
        (False, "bool"),
        (True, "bool"),
        ("0", "str"),
        (".", "str"),
        ("\u200bx", "str"),
        ("\u0301", "str"),
        (["a", ""], "strings"),
        ([""], "empty"),
        (["", " \u200b"], "empty"),
        ([1], "list"),
        ([[]], "list"),
        ({"a": None}, "object"),
    ],
)
def test_every_value_has_its_kind(value: Any, kind: str) -> None:
    assert kind_of(True, value) == kind


def test_nothing_and_null_are_not_the_same() -> None:
    assert kind_of(False, None) == "absent"
    assert "absent" not in EMPTY_KINDS


@pytest.mark.parametrize("char", ZERO_WIDTH)
def test_each_zero_width_character_alone_is_blank(char: str) -> None:
    assert kind_of(True, char) == "blank"


def test_what_is_shown_is_short_and_can_be_written() -> None:
    assert shown({"a": [1, "é"]}) == '{"a": [1, "é"]}'
    assert len(shown("x" * 10_000_000)) == 200
    assert shown(["\ud800"]) == '["\ufffd"]'
    assert shown(10**5000) == "(int)"
    assert shown({(1, 2): 3}) == "(dict)"
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(deep) == "(list)"


IDS = ["2", "10", str(uuid.UUID(int=1)), str(uuid.UUID(int=2)), str(uuid.UUID(int=9))]


class Counting:
    """Batches of one row, and how many of them were read."""

    def __init__(self, ids: list[str]) -> None:
        self.ids, self.read = ids, 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for name in self.ids:
            self.read += 1
            yield pa.RecordBatch.from_pylist([{"point_id": name, "text": f"text of {name}"}])


def test_ids_are_ordered_as_qdrant_scrolls_them() -> None:
    assert sorted(set(IDS), key=id_order) == IDS


def test_rows_are_found_by_id_and_nothing_is_read_for_no_id() -> None:
    rows = Counting(IDS)
    assert list(rows_by_id(rows, {"10", "99"})) == ["10"]
    rows.read = 0
    assert rows_by_id(rows, ()) == {}
    assert rows.read == 0
