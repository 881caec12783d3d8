"""Every key of the suite: its default, its range, and what happens to one that nobody knows."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.load import load_suite, naming_file_of, resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.problems import key_paths
from tests.suite.writing import SMALLEST, refused, suite_of, write

#: What every point must hold unless the suite says otherwise.
REQUIRED = ("source_url", "chapter_id", "module_name", "heading_hierarchy", "token_count", "chunk_index")

#: One value for every key, other than its default.
EVERYTHING: dict[str, Any] = {
    "suite": "physical_ai_book",
    "profile": "rag-validation",
    "report_uri": "s3://bucket/reports",
    "qdrant": {
        "url": "https://cluster:6333",
        "api_key": "k",
        "collection": "book",
        "vector_name": "text",
        "filter": {"site": "book", "version": 3, "live": True},
        "partition_by": "tenant",
        "prefer_grpc": True,
        "grpc_port": 6335,
        "concurrency": 2,
        "batch": 10,
        "max_changing": 0.2,
        "timeout_s": 5.5,
    },
    "source": {
        "sitemap": "https://x.org/sitemap.xml",
        "include": ["/docs/**"],
        "exclude": ["/docs/tags/**"],
        "site_root": "site",
        "base_path": "/book/",
        "host_aliases": ["y.org"],
        "fetch_pages": False,
        "max_pages": 7,
        "min_readable": 0.5,
        "timeout_s": 1,
    },
    "payload": {
        "fields": {"text": "body.text"},
        "required": ["url"],
        "modules": ["Intro"],
        "flavour": "none",
        "embedded_text": "{title} {text}",
    },
    "embedding": {
        "provider": "mine:Embedder",
        "model": "m",
        "base_url": "http://localhost:1",
        "api_key": "k",
        "dimension": 256,
        "max_input_tokens": 512,
        "query_input_type": "search_document",
        "long_queries": "cut",
        "identity_sample": 0,
    },
    "budget": {"calls": 7, "tokens": 8},
    "queries": {"file": "q.yaml", "ground_truth": "t.yaml"},
    "retrieval": {
        "top_k": 10,
        "k": [1],
        "min_similarity": 0.0,
        "relevance_similarity": 1.0,
        "judge": ["score", "module", "chapter", "url", "keywords", "results"],
        "module_match": "regex",
        "exact": True,
        "repeats": 3,
        "self_sample": 50,
        "retriever": "mine:search",
        "mode": "dense",
        "also": [],
        "fusion": "dbsf",
        "rerank": {"provider": "cohere", "model": "m", "top_n": 9, "base_url": "http://localhost:1", "api_key": "k"},
        "sparse": {"vector_name": "words", "model": "bm25"},
    },
    "criteria": {"coverage": 0.5, "mrr": None, "recall_at_7": {"threshold": 0.1, "required": False}},
    "severity": {"query.failed": "info"},
    "retry": {"max": 0, "delay_s": 0, "deadline_s": 1},
    "latency": "off",
    "history": {"baseline": "last", "tolerated_drop": 0.5, "keep_runs": 1},
    "scale": {"workers": 2, "engine": "ray", "address": "auto"},
    "automation": {
        "after_asset": "a/b",
        "after_job": "ingest",
        "cron": "0 6 * * *",
        "poll_s": 30,
        "enabled": True,
        "fresh_within_hours": 26,
    },
}


def value_of(suite: Suite, key: str) -> Any:
    value: Any = suite
    for part in key.split("."):
        value = getattr(value, part, None)  # a section that is not there
    return value


def at(key: str, value: Any) -> dict[str, Any]:
    """Everything, with another value at one dotted key."""
    settings = copy.deepcopy(EVERYTHING)
    *sections, last = key.split(".")
    holder = settings
    for part in sections:
        holder = holder[part]
    holder[last] = value
    return settings


def test_every_key_can_be_set(tmp_path: Path):
    everything = {**at("qdrant.collection", "book_${partition}"), "partitions": {"static": ["acme"]}}
    suite = resolve_suite(load_suite(f"{write(tmp_path, everything)}@acme"), {})
    assert suite.qdrant.collection == "book_acme"
    assert suite.qdrant.filter == {"site": "book", "version": 3, "live": True}
    assert suite.qdrant.filter["live"] is True
    assert suite.source is not None
    assert suite.source.exclude == ("/docs/tags/**",)
    assert suite.retrieval.k == (1,)
    assert suite.automation.cron == "0 6 * * *"
    default = suite_of(tmp_path, source={"sitemap": "sitemap.xml"})
    keys = [key for key in key_paths(Suite) if "." in key]
    untouched = {key for key in keys if value_of(suite, key) == value_of(default, key)}
    # There is a sitemap, a search of its own, and partitions are listed.
    others = {"retrieval.mode", "partitions.dynamic"}
    assert untouched == {"source.folder", "source.site_url", "source.urls", "source.llms", *others}


def test_fields_that_are_not_mapped_keep_their_default_names(tmp_path: Path):
    fields = suite_of(tmp_path, payload={"fields": {"text": "body.text"}}).payload.fields
    assert fields["text"] == "body.text"
    assert fields["module"] == "module_name"
    assert fields["original_length"] == "original_length"


@pytest.mark.parametrize(
    ("fields", "required"),
    [
        ({"source_url": "url", "text": "content"}, ("url",)),
        ({"chapter": "meta.chapter", "source_url": "url"}, ("url", "meta.chapter")),
        # Mapping none of them must not leave a completeness that nothing can fail.
        ({"text": "content"}, REQUIRED),
        ({}, REQUIRED),
    ],
)
def test_without_required_fields_those_that_the_suite_maps_are_required(
    tmp_path: Path, fields: dict[str, str], required: tuple[str, ...]
):
    assert suite_of(tmp_path, payload={"fields": fields}).payload.required == required


@pytest.mark.parametrize(
    ("payload", "fields", "required"),
    [
        (
            {"flavour": "langchain"},
            {"text": "page_content", "source_url": "metadata.source", "chapter": "metadata.chapter_id"},
            ("page_content", "metadata.source"),
        ),
        (
            {"flavour": "llamaindex", "fields": {"source_url": "file_path", "chunk_index": "position"}},
            {"text": "_node_content#text", "source_url": "file_path", "chapter": "chapter_id"},
            ("_node_content#text", "file_path", "position"),
        ),
        (
            {"flavour": "haystack", "required": ["content"]},
            {"text": "content", "source_url": "meta.url", "chunk_index": "meta.split_id"},
            ("content",),
        ),
        ({"flavour": "none"}, {"text": "chunk_text"}, REQUIRED),
    ],
)
def test_a_framework_says_where_its_fields_are_and_what_its_points_always_hold(
    tmp_path: Path, payload: dict[str, Any], fields: dict[str, str], required: tuple[str, ...]
) -> None:
    settings = suite_of(tmp_path, payload=payload).payload
    assert fields.items() <= settings.fields.items()
    assert settings.required == required


def test_a_profile_says_what_is_stored_and_the_framework_where(tmp_path: Path) -> None:
    settings = suite_of(tmp_path, profile="rag-validation", payload={"flavour": "langchain"}).payload
    assert (settings.fields["text"], settings.fields["source_url"]) == ("page_content", "metadata.source")
    assert settings.required == ("metadata.source", "metadata.title", "metadata.heading_hierarchy", "page_content")


def test_a_suite_made_in_python_has_the_same_defaults_as_one_from_a_file(tmp_path: Path):
    made = Suite.model_validate({**SMALLEST, "payload": {"fields": {"text": "content"}}})
    read = suite_of(tmp_path, payload={"fields": {"text": "content"}})
    assert made.payload == read.payload
    assert made.retrieval == read.retrieval
    assert resolve_suite(made) is made
    assert made.folder == Path.cwd()


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ("retreival: {}", "retreival", "retrieval"),
        ("qdrant: {path: q, colection: c}", "qdrant.colection", "collection"),
        ("source: {sitemap: s, incude: [a]}", "source.incude", "include"),
        ("embedding: {models: m}", "embedding.models", "model"),
        ("retrieval: {topk: 3}", "retrieval.topk", "top_k"),
        ("retrieval: {min-similarity: 0.5}", "retrieval.min-similarity", "min_similarity"),
        ("retry: {maximum: 3}", "retry.maximum", "max"),
        ("history: {keep_run: 3}", "history.keep_run", "keep_runs"),
        ("automation: {crom: x}", "automation.crom", "cron"),
        ("queries: {fil: a.yaml}", "queries.fil", "file"),
        ("queries: {file: a.yaml, groundtruth: b}", "queries.groundtruth", "ground_truth"),
        ("queries: {topics: a, qrel: b}", "queries.qrel", "qrels"),
        ("criteria: {coverage: {treshold: 1}}", "criteria.coverage.treshold", "threshold"),
        ("payload: {field: {text: a}}", "payload.field", "fields"),
        ("payload: {fields: {txt: a}}", "payload.fields", "text"),
        ("criteria: {coverige: 1}", "criteria", "coverage"),
        ("criteria: {precision_at_K: 1}", "criteria", "precision_at_"),
        ("severity: {query.faild: off}", "severity", "query.failed"),
        # A key that exists, in another section.
        ("top_k: 5", "top_k", "retrieval.top_k"),
        ("embedding: {collection: c}", "embedding.collection", "qdrant.collection"),
    ],
)
def test_an_unknown_key_is_refused_and_the_nearest_is_named(tmp_path: Path, text: str, key: str, nearest: str):
    head = "suite: book\n" + ("" if text.startswith("qdrant") else "qdrant: {path: q, collection: c}\n")
    error = refused(tmp_path, head + text)
    assert error.key == key
    assert f"Did you mean {nearest}" in str(error)
    assert str(tmp_path / "ragval.yaml") in str(error)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("suite", "Book"),
        ("suite", "1book"),
        ("suite", "a-b"),
        ("suite", ""),
        ("report_uri", ""),
        ("qdrant.collection", ""),
        ("qdrant.timeout_s", 0),
        ("qdrant.timeout_s", float("inf")),
        ("source.max_pages", 0),
        ("source.timeout_s", -1),
        ("embedding.dimension", 0),
        ("embedding.identity_sample", -1),
        ("embedding.query_input_type", "query"),
        ("retrieval.top_k", 0),
        ("retrieval.top_k", 1001),
        ("retrieval.top_k", 2.5),
        ("retrieval.k", [0]),
        ("retrieval.min_similarity", 1.7),
        ("retrieval.min_similarity", -0.1),
        ("retrieval.min_similarity", float("nan")),
        ("retrieval.relevance_similarity", 70),
        ("retrieval.judge", ["scores"]),
        ("retrieval.module_match", "fuzzy"),
        ("retrieval.repeats", 0),
        ("retrieval.self_sample", 0),
        ("retry.max", -1),
        ("retry.delay_s", -0.5),
        ("retry.deadline_s", 0),
        ("qdrant.concurrency", 0),
        ("qdrant.concurrency", 65),
        ("qdrant.batch", 0),
        ("latency", "sometimes"),
        ("history.tolerated_drop", 2),
        ("history.keep_runs", 0),
        ("automation.cron", "every day"),
        ("automation.poll_s", 0),
        ("automation.fresh_within_hours", 0),
        ("severity", {"query.failed": "fatal"}),
        ("criteria", {"coverage": "high"}),
        ("criteria", {"coverage": float("inf")}),
        ("queries", 5),
        ("queries", ""),
        ("payload.fields", {"text": ""}),
        ("qdrant.filter", {"site": [1]}),
        ("qdrant", "chunks"),
        ("retrieval", [1]),
    ],
)
def test_a_value_out_of_range_is_refused_at_its_key(tmp_path: Path, key: str, value: Any):
    error = refused(tmp_path, at(key, value))
    assert (error.key or "").startswith(key)


def test_one_value_is_a_list_of_one(tmp_path: Path):
    suite = suite_of(tmp_path, source={"sitemap": "s", "include": "/docs/**"}, retrieval={"k": 4, "judge": "url"})
    assert suite.source is not None
    assert suite.source.include == ("/docs/**",)
    assert suite.retrieval.k == (4,)
    assert suite.retrieval.judge == ("url",)


@pytest.mark.parametrize(
    "section", ["payload", "embedding", "retrieval", "criteria", "severity", "retry", "history", "scale"]
)
def test_a_section_whose_keys_are_all_commented_out_is_no_error(tmp_path: Path, section: str):
    file = write(tmp_path, f"suite: book\nqdrant: {{path: q, collection: c}}\n{section}:\n  # nothing yet\n")
    assert getattr(load_suite(file), section) == getattr(suite_of(tmp_path), section)


@pytest.mark.parametrize("place", [{}, {"url": "http://x", "path": "y"}, {"url": "  "}])
def test_a_collection_is_in_exactly_one_place(tmp_path: Path, place: dict[str, str]):
    error = refused(tmp_path, {**SMALLEST, "qdrant": {"collection": "c", **place}})
    assert error.key == "qdrant"
    assert "exactly one of url and path" in str(error)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x",
        "http://",
        "localhost:6333",
        "cluster",
        "http://h:port",
        "http://h:70000",
        "http://[::1",
        "http://:6333",
    ],
)
def test_an_address_of_qdrant_without_scheme_or_host_is_refused_with_one_that_would_do(tmp_path: Path, url: str):
    error = refused(tmp_path, {**SMALLEST, "qdrant": {"collection": "c", "url": url}})
    assert (error.key, error.file) == ("qdrant.url", str(tmp_path / "ragval.yaml"))
    assert "such as http://localhost:6333" in str(error)


def test_an_address_of_qdrant_that_a_variable_gives_is_checked_when_it_is_known(tmp_path: Path):
    suite = load_suite(write(tmp_path, {**SMALLEST, "qdrant": {"collection": "c", "url": "${RAGVAL_TEST_HOST}:6333"}}))
    with pytest.raises(SuiteError, match=r"qdrant\.url.*RAGVAL_TEST_HOST"):
        resolve_suite(suite, {"RAGVAL_TEST_HOST": "localhost"})
    assert resolve_suite(suite, {"RAGVAL_TEST_HOST": "https://h"}).qdrant.url == "https://h:6333"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"include": ["a"]}, "exactly one of sitemap, folder, urls and llms"),
        ({"sitemap": "s.xml", "folder": "docs"}, "exactly one of sitemap, folder, urls and llms"),
        ({"urls": ["https://a.example/x"], "site_url": "https://a.example"}, "site_url can only be used with folder"),
        ({"urls": "https://a.example/urls.txt"}, "must be a list of URLs, or a file"),
        ({"urls": 7}, "urls"),
    ],
)
def test_a_source_names_its_pages_in_exactly_one_way(tmp_path: Path, source: dict[str, Any], words: str):
    error = refused(tmp_path, {**SMALLEST, "source": source})
    assert (error.key or "").startswith("source")
    assert words in str(error)


@pytest.mark.parametrize(
    ("text", "key"),
    [("suite: a", "qdrant"), ("qdrant: {path: q, collection: c}", "suite"), ("suite: a\nqdrant: {path: q}",
                                                                            "qdrant.collection"),
     ("suite: a\nqdrant: {path: q, collection: c}\nqueries: {topics: a}", "queries.qrels")],
)  # fmt: skip
def test_a_missing_key_is_named(tmp_path: Path, text: str, key: str):
    error = refused(tmp_path, text)
    assert error.key == key
    assert "is missing" in str(error)


@pytest.mark.parametrize("grade", ["off", '"off"', "OFF"])
def test_a_finding_is_switched_off_with_yamls_bare_off_too(tmp_path: Path, grade: str):
    file = write(tmp_path, f"suite: a\nqdrant: {{path: q, collection: c}}\nseverity: {{query.failed: {grade}}}\n")
    assert load_suite(file).severity == {"query.failed": "off"}


def test_several_problems_are_told_at_once(tmp_path: Path):
    error = refused(tmp_path, {**SMALLEST, "retrieval": {"top_k": 0, "repeats": 0, "k": [0]}})
    first, *rest = str(error).splitlines()
    assert "retrieval.top_k: must be" in first
    assert [line.partition(": ")[0] for line in rest] == ["retrieval.k[0]", "retrieval.repeats"]


def test_a_long_list_of_problems_is_cut_with_their_number(tmp_path: Path):
    error = refused(tmp_path, {**SMALLEST, **{f"key_{number}": 1 for number in range(30)}})
    assert len(str(error).splitlines()) == 22
    assert str(error).endswith("\nand 9 more")


def test_a_misspelt_key_is_not_missing_besides(tmp_path: Path):
    error = refused(tmp_path, {**SMALLEST, "qdrant": {"path": "q", "colection": "c"}})
    assert "Did you mean collection?" in str(error)
    assert error.others == ()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("qdrant.timeout_s", 0, "must be greater than 0, not 0. Correct it or leave the key out: the default is 30."),
        ("source.max_pages", -1, "Correct it or leave the key out: the default is 5000."),
        ("qdrant.prefer_grpc", "maybe", "Correct it or leave the key out: the default is false."),
        ("embedding.dimension", 0, "Correct it or leave the key out."),
        ("qdrant.filter", {"a": None}, "qdrant.filter.a: must be a text or a valid integer or a valid boolean"),
        ("retrieval.rerank", {"provider": "my:attr"}, "not a function of your own: write rerank: my:attr"),
        ("scale.workers", "many", "must be a valid integer or 'auto', not 'many'"),
    ],
)  # fmt: skip
def test_the_error_of_a_wrong_value_says_what_is_allowed_and_how_to_do_without(
    tmp_path: Path, key: str, value: Any, words: str
):
    error = refused(tmp_path, at(key, value))
    assert words in str(error)
    assert error.others == ()


@pytest.mark.parametrize(
    ("key", "file", "named"),
    [("retrieval.retriever", None, True), ("embedding.provider", "q.yaml", False), ("--only", None, False)],
)
def test_an_error_of_a_key_that_was_found_later_names_the_file_that_holds_the_key(
    tmp_path: Path, key: str, file: str | None, named: bool
):
    suite = suite_of(tmp_path)
    with pytest.raises(SuiteError) as caught, naming_file_of(suite):
        raise SuiteError("is wrong", key=key, file=file, remedy="Correct it.")
    assert caught.value.file == (str(suite.file) if named else file)
    assert str(caught.value).endswith(f"{key}: is wrong. Correct it.")


@pytest.mark.parametrize("written", [False, True])
def test_such_an_error_names_the_variable_that_the_value_is_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bool
):
    monkeypatch.setenv("DOCUSAURUS_BASE_URL", "book.example.org")
    source = {"source": {"sitemap": "nope.xml"}} if written else {}
    suite = suite_of(tmp_path, profile="retrieval-pipeline-testing", **source)
    with pytest.raises(SuiteError) as caught, naming_file_of(suite):
        raise SuiteError("there is no such file", key="source.sitemap", remedy="Correct it.")
    assert caught.value.file == (str(suite.file) if written else "environment variable DOCUSAURUS_BASE_URL")
