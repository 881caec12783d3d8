"""Texts that no file can hold, that a terminal obeys, or that read differently from what they say."""

from __future__ import annotations

import json
import re

import pytest

from ragval_pipeline.reporting.files.tables import run_trec
from ragval_pipeline.reporting.json_values import json_bytes, json_line, json_pieces
from ragval_pipeline.text.characters import encodable, encodable_payload
from ragval_pipeline.text.display import xml_text
from ragval_pipeline.text.trec_ids import decode_id, encode_id
from ragval_pipeline.validation.retrieval.metrics import per_query

#: What must stand raw in no file of a report, beside line breaks and tabs.
RAW = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
ODD = {
    "half of a pair": "\ud800",
    "escape": "\x1b[31m",
    "NUL": "\x00",
    "direction override": "\u202e",
    "isolate": "\u2066",
    "mark of a script": "\u061c",
    "C1 control": "\x9b",
    "DEL": "\x7f",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\ud800b", "a\ufffdb"), ("\ud83d\ude00", "\U0001f600"), ("na\u00efve \U0001f600\u200b",) * 2, ("a\udfff",) * 2],
)
def test_a_half_of_a_surrogate_pair_is_replaced_and_everything_else_is_kept(text: str, expected: str) -> None:
    assert encodable(text) == expected.replace("\udfff", "\ufffd")


def test_a_payload_is_made_encodable_at_any_depth_and_left_alone_when_it_is() -> None:
    deep: dict[str, object] = {"k\ud800": ["\udfff"]}
    for _ in range(5000):
        deep = {"in": deep}
    assert "\ud800" not in str(encodable_payload(deep))
    assert encodable_payload({"a\ud800": [{"b": "\udfff"}]}) == {"a\ufffd": [{"b": "\ufffd"}]}
    whole = {"a": ["b", {"c": 1.0}]}
    assert encodable_payload(whole) is whole


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_id_reaches_native_metrics_and_run_trec_without_harm(odd: str) -> None:
    page = f"https://docs.example.com/{odd}"
    assert per_query({"q": [page]}, {"q": {page: 2}}, ranks=[3], depth=5)["mrr"] == {"q": 1.0}
    assert not RAW.search(run_trec({odd: [page]}).decode())
    assert decode_id(encode_id(page)) == page


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_xml_has_no_raw_control_characters(odd: str) -> None:
    assert not RAW.search(xml_text(f"a{odd}b").encode().decode())


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_json_has_no_raw_control_characters_and_means_the_same(odd: str) -> None:
    value = {"a": [f"b{odd}c", {f"d{odd}": odd}]}
    for written in (json_bytes(value).decode(), json_line(value), b"".join(json_pieces(value)).decode()):
        assert not RAW.search(written.replace("\n", ""))
        assert json.loads(written) == {"a": [encodable(f"b{odd}c"), {encodable(f"d{odd}"): encodable(odd)}]}


def test_the_id_of_nothing_and_that_of_nul_are_two() -> None:
    assert encode_id("\x00") != encode_id("")
    assert decode_id(encode_id("\x00")) == "\x00"
