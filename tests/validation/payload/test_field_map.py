from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from ragval_pipeline.suite.payload import DEFAULT_FIELDS
from ragval_pipeline.validation.payload.other_names import find_other_names
from tests.validation.rows import evidence, named

REQUIRED = ("source_url", "module_name", "chapter_id")


def judged(observed: list[str], points: tuple[dict[str, object], ...] = ({},)):
    """Findings of a collection with these names, where each point holds those of the default that are among them."""
    held = {path: "x" for path in DEFAULT_FIELDS.values() if path in observed}
    found = evidence(
        *({**held, **point} for point in points), fields=DEFAULT_FIELDS, required=REQUIRED, observed=tuple(observed)
    )
    return list(find_other_names(found))


def test_nested_fields_are_found_and_the_map_is_suggested():
    finding = judged(["page_content", "metadata", "metadata.source_url", "metadata.module_name", "metadata.loc"])[0]
    assert named([finding]) == ["chunk_text", "module_name", "source_url"]
    assert finding.details["suggested"] == {
        "text": "page_content", "source_url": "metadata.source_url", "module": "metadata.module_name",
    }  # fmt: skip
    assert "module: metadata.module_name" in finding.remedy
    observed = ["page_content", "url", "module_name", "chapter_id"]
    assert judged(observed)[0].details["suggested"] == {"text": "page_content", "source_url": "url"}


def test_a_framework_is_named_when_the_text_is_where_it_stores_it():
    observed = [
        "_node_content", "_node_content#text", "_node_content#metadata", "_node_content#metadata.url", "_node_type",
        "_node_content#id_", "_node_content#relationships.1.node_id", "url", "doc_id",
    ]  # fmt: skip
    finding = judged(observed)[0]
    assert finding.details["suggested"] == {"text": "_node_content#text", "source_url": "url"}
    assert "flavour: llamaindex, fields: {text: _node_content#text, source_url: url}" in finding.remedy


def test_a_field_that_nothing_resembles_is_missing_and_no_matter_of_the_map():
    assert judged(["chunk_text", "source_url", "module_name", "colour"]) == []


def test_a_field_that_some_points_have_is_no_matter_of_the_map():
    observed = ["chunk_text", "url", "module_name", "chapter_id"]
    assert named(judged(observed)) == ["source_url"]
    assert judged(observed, ({}, {"source_url": "/a"})) == []


def test_optional_fields_alone_raise_no_finding():
    assert judged(["chunk_text", "source_url", "module_name", "chapter_id", "page_title", "id"]) == []


@pytest.mark.parametrize(("source", "expected"), [("blob", []), ("https://a.example/1", ["source_url"])])
def test_a_word_that_all_points_have_is_no_address(source: str, expected: list[str]):
    # LangChain.js calls what it loads from memory blob.
    observed = ("chunk_text", "metadata", "metadata.source", "module_name", "chapter_id")
    held = {"chunk_text": "x", "module_name": "x", "chapter_id": "x"}
    found = evidence(held, held, fields=DEFAULT_FIELDS, required=REQUIRED, observed=observed)
    labels = pa.RecordBatch.from_pydict({"labels": [json.dumps({"metadata.source": source})] * 2})
    assert named([*find_other_names(replace(found, batches=lambda columns: [labels.select(columns)]))]) == expected
