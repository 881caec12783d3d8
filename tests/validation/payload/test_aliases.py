from __future__ import annotations

import time
from collections import Counter

import pytest

from ragval_pipeline.suite.payload import CANONICAL_FIELDS, DEFAULT_FIELDS
from ragval_pipeline.validation.payload.aliases import (
    ALIASES,
    changed_fields,
    is_named_like,
    suggest_field_map,
)


@pytest.mark.parametrize(
    ("ingester", "observed", "found"),
    [
        (
            "seed 002",
            ["url", "title", "heading", "text", "token_count", "position"],
            {
                "text": "text", "source_url": "url", "title": "title", "headings": "heading",
                "token_count": "token_count", "chunk_index": "position",
            },
        ),
        (
            "seed 004",
            ["content", "original_url", "chunk_id", "vector"],
            {"text": "content", "source_url": "original_url", "chunk_id": "chunk_id"},
        ),
        (
            "LangChain",
            ["page_content", "metadata", "metadata.source", "metadata.title"],
            {"text": "page_content", "source_url": "metadata.source", "title": "metadata.title"},
        ),
        (
            "LangChain behind MarkdownHeaderTextSplitter",
            ["page_content", "metadata", "metadata.source", "metadata.Header 1", "metadata.Header 2"],
            {"text": "page_content", "source_url": "metadata.source", "headings": "metadata.Header *"},
        ),
        (
            "DocSearch",
            ["content", "url", "hierarchy", "hierarchy.lvl0", "hierarchy.lvl1"],
            {"text": "content", "source_url": "url", "headings": "hierarchy.lvl*"},
        ),
        (
            "an own ingester that names the hash by its function",
            ["text", "url", "sha256"],
            {"text": "text", "source_url": "url", "text_hash": "sha256"},
        ),
        (
            "LangChain4j",
            ["text_segment", "url", "index"],
            {"text": "text_segment", "source_url": "url", "chunk_index": "index"},
        ),
        (
            "LlamaIndex",
            ["_node_content", "_node_type", "doc_id", "file_path", "ref_doc_id"],
            {"source_url": "file_path"},
        ),
        (
            "Haystack",
            ["content", "id", "meta", "meta.url", "meta.split_id"],
            {"text": "content", "source_url": "meta.url", "chunk_index": "meta.split_id", "chunk_id": "id"},
        ),
        (
            "Firecrawl",
            ["markdown", "metadata", "metadata.sourceURL", "metadata.title"],
            {"text": "markdown", "source_url": "metadata.sourceURL", "title": "metadata.title"},
        ),
    ],
)  # fmt: skip
def test_payloads_of_known_ingesters(ingester: str, observed: list[str], found: dict[str, str]) -> None:
    assert suggest_field_map(observed, DEFAULT_FIELDS) == found, ingester


def test_what_is_there_as_expected_stays_and_is_no_change() -> None:
    observed = [*DEFAULT_FIELDS.values(), "content", "url"]
    assert suggest_field_map(observed, DEFAULT_FIELDS) == DEFAULT_FIELDS
    assert changed_fields(observed, DEFAULT_FIELDS) == {}


def test_the_expected_name_inside_an_object_is_found_first() -> None:
    observed = ["source", "metadata", "metadata.page", "metadata.page.source_url", "metadata.source_url"]
    assert changed_fields(observed, {"source_url": "source_url"}) == {"source_url": "metadata.source_url"}


def test_the_usual_object_wins_over_another() -> None:
    observed = ["extra", "extra.url", "metadata", "metadata.url"]
    assert suggest_field_map(observed, {"source_url": "source_url"}) == {"source_url": "metadata.url"}


def test_an_object_is_never_a_field() -> None:
    assert suggest_field_map(["source", "source.url"], {"source_url": "source_url"}) == {"source_url": "source.url"}
    assert suggest_field_map(["text", "text.a"], {"text": "chunk_text"}) == {}


def test_one_name_is_never_used_for_two_fields() -> None:
    found = suggest_field_map(["title"], {"title": "title", "headings": "title_chain", "module": "title"})
    assert Counter(found.values())["title"] <= 2  # as written twice by the suite itself
    assert suggest_field_map(["name"], {"title": "page.name", "module": "module.name"}) == {"title": "name"}


def test_case_and_separators_do_not_matter() -> None:
    assert suggest_field_map(["Chunk-Index"], {"chunk_index": "chunk_index"}) == {"chunk_index": "Chunk-Index"}
    assert is_named_like("model", "metadata.embeddingModel")
    assert not is_named_like("model", "metadata.modelling")


def test_every_canonical_field_has_names_and_no_name_is_used_twice() -> None:
    assert set(ALIASES) == set(CANONICAL_FIELDS)
    counts = Counter(name for names in ALIASES.values() for name in names)
    assert [name for name, count in counts.items() if count > 1] == []


def test_many_payload_names_cost_what_their_number_costs():
    """An ingestion that writes a key for each tag of a page has thousands of names."""
    observed = ["text", *(f"metadata.tags.tag{number}" for number in range(3_000))]
    begun = time.process_time()
    assert suggest_field_map(observed, {"text": "text", "title": "title"}) == {"text": "text"}
    assert time.process_time() - begun < 1
