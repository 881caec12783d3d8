from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.retrieval.hits import HitReader
from tests.validation.factory import FIELDS, SITE, hit, rules, site


def reader(**changes: Any) -> HitReader:
    return rules(**changes).read


def test_a_hit_is_shown_under_the_reports_names() -> None:
    shown = reader().top_result(
        hit(
            2, 0.85, "D41D8CD98F00B204E9800998ECF8427E", chunk_text="text", source_url=f"{SITE}/a", title="A",
            module_name="Module 1", chapter_id="m1/ch1", heading_hierarchy=["A", "B"], token_count=512, chunk_index=0,
        )
    )  # fmt: skip
    assert asdict(shown) == {
        "rank": 2,
        "chunk_id": "d41d8cd9-8f00-b204-e980-0998ecf8427e",
        "chunk_text": "text",
        "similarity_score": 0.85,
        "source_url": f"{SITE}/a",
        "title": "A",
        "chapter_id": "m1/ch1",
        "module_name": "Module 1",
        "heading_hierarchy": ["A", "B"],
        "token_count": 512,
        "chunk_index": 0,
    }


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("token_count", 450.0, 450),
        ("token_count", "450", None),
        ("token_count", 4.5, None),
        ("token_count", True, None),
        ("token_count", float("nan"), None),
        ("token_count", float("inf"), None),
        ("token_count", 10**400, None),
        ("heading_hierarchy", "A > B", ["A > B"]),
        ("heading_hierarchy", ["A", 1], None),
        ("heading_hierarchy", [], []),
        ("chapter_id", 7, "7"),
        ("module_name", ["x"], None),
        ("module_name", False, None),
        ("chunk_text", None, None),
    ],
)
def test_values_of_the_wrong_type_are_null_in_the_report(field: str, value: Any, shown: Any) -> None:
    canonical = {name: key for key, name in FIELDS.items()}[field]
    key = {"text": "chunk_text", "module": "module_name", "chapter": "chapter_id", "headings": "heading_hierarchy"}
    assert getattr(reader().top_result(hit(**{field: value})), key.get(canonical, canonical)) == shown


def test_pages_are_folded_and_hits_without_a_source_have_none() -> None:
    read = reader(inventory=site("/a", aliases=["old.example.org"]))
    assert read.page({"source_url": "http://www.old.example.org/a/index.html#x"}) == f"{SITE}/a"
    assert read.page({"source_url": "doc-7"}) == "doc-7"
    assert [read.page(payload) for payload in ({}, {"source_url": " "}, {"source_url": None}, {"source_url": []})] == [
        None
    ] * 4


def test_nested_fields_are_reached() -> None:
    read = reader(fields={"source_url": "metadata.url", "text": "page content"}, required=["metadata.url"])
    nested = {"metadata": {"url": f"{SITE}/a"}, "page content": "x"}
    assert read.page(nested) == f"{SITE}/a"
    assert read.text(nested, "text") == "x"
    assert read.text(nested, "title") is None
    assert read.lacking(nested) == []
    assert read.lacking({"metadata": {"url": "\u200b"}}) == ["metadata.url"]


@pytest.mark.parametrize("value", [None, "", "  ", "\u200b", [], {}])
def test_a_hit_lacks_what_is_absent_or_empty(value: Any) -> None:
    read = reader(required=["source_url", "chunk_index"])
    assert read.lacking({"source_url": value}) == ["source_url", "chunk_index"]


@pytest.mark.parametrize("value", [0, 0.0, False])
def test_zero_and_false_are_there(value: Any) -> None:
    assert reader(required=["chunk_index"]).lacking({"chunk_index": value}) == []


def test_a_hit_with_an_empty_payload_is_shown_with_nulls() -> None:
    shown = reader().top_result(Hit(rank=1, id="7", score=0.5))
    assert shown.source_url is None
    assert shown.chunk_id == "7"
