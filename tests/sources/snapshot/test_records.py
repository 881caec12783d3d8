from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.sources.snapshot.records import RecordMapper, tracked_fields
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.suite.payload import CANONICAL_FIELDS

FIELDS = {name: name for name in CANONICAL_FIELDS}


def mapped(*payloads: dict[str, Any], fields: dict[str, str] = FIELDS) -> list[dict[str, Any]]:
    mapper = RecordMapper(fields=fields, tracked=tracked_fields(fields, ()), page_key=str.lower, pages={})
    batch = mapper.batch([Point(str(number), payload) for number, payload in enumerate(payloads)])
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [10**5000, -(10**5000), b"\xff", {(1, 2): 3}, {1: {2}}, nested(50_000), object(), float("nan"), -float("inf")],
    ids=["huge", "-huge", "bytes", "tuple keys", "set", "deep", "object", "nan", "inf"],
)
def test_values_that_json_cannot_hold_still_become_rows(value: Any) -> None:
    [row, other] = mapped(dict.fromkeys(FIELDS.values(), value), {"text": "x"})
    assert row["token_count"] is None
    assert other["text"] == "x"


@pytest.mark.parametrize(
    ("value", "whole"),
    [(0, 0), (7.0, 7), (2**63 - 1, 2**63 - 1), (2**63, None), (-(2**63), -(2**63)), (1e300, None), (True, None)],
)
def test_whole_numbers_fit_their_column_or_are_left_out(value: Any, whole: int | None) -> None:
    assert mapped({"chunk_index": value})[0]["chunk_index"] == whole


def test_one_payload_name_may_serve_two_canonical_fields() -> None:
    [row] = mapped({"content": "x"}, fields={"text": "content", "title": "content"})
    assert (row["text"], row["title"], row["kind:content"]) == ("x", "x", "str")


def test_kinds_of_many_points_share_one_dictionary_column() -> None:
    rows = mapped({"title": "x"}, {"title": ""}, {}, {"title": None}, {"title": 3})
    assert [row["kind:title"] for row in rows] == ["str", "blank", "absent", "null", "int"]


def test_lists_of_texts_that_say_nothing_are_empty_among_others_that_do() -> None:
    rows = mapped({"headings": ["Arms"]}, {"headings": ["", " "]}, fields={"headings": "headings"})
    assert [row["kind:headings"] for row in rows] == ["strings", "empty"]


@pytest.mark.parametrize("url", ["", "  ", "\u200b"])
def test_a_source_url_that_nobody_sees_is_no_page(url: str) -> None:
    assert mapped({"source_url": url})[0]["page_key"] is None
