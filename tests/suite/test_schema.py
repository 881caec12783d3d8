"""The JSON Schemas for editors: they let pass what loads, and mark what does not."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import ragval_pipeline
from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.suite.criteria import known_names
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.problems import key_paths
from ragval_pipeline.suite.profiles.table import PROFILES
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.suite.schema import queries_schema, suite_schema
from tests.suite.queries.test_model import FIELDS
from tests.suite.test_keys import EVERYTHING, at
from tests.suite.test_outline import PLACES, key_of
from tests.suite.writing import SMALLEST

DEMO = Path(ragval_pipeline.__file__).parent / "demo"


@pytest.fixture(scope="module")
def suite() -> Draft202012Validator:
    return Draft202012Validator(suite_schema())


@pytest.fixture(scope="module")
def queries() -> Draft202012Validator:
    return Draft202012Validator(queries_schema())


def problems(validator: Draft202012Validator, content: Any) -> list[str]:
    return [error.message for error in validator.iter_errors(content)]


def test_both_are_schemas(suite: Draft202012Validator, queries: Draft202012Validator):
    Draft202012Validator.check_schema(suite.schema)
    Draft202012Validator.check_schema(queries.schema)


@pytest.mark.parametrize("written", ["on", "off", "'on'", "true"])
def test_a_switch_may_be_written_bare(suite: Draft202012Validator, written: str):
    assert problems(suite, SMALLEST | yaml.safe_load(f"latency: {written}")) == []


def test_they_use_only_words_that_editors_know(suite: Draft202012Validator, queries: Draft202012Validator):
    known = {"$schema", "$comment", "$defs", "$ref", "title", "description", "default", "type", "properties",
             "patternProperties", "additionalProperties", "required", "anyOf", "oneOf", "items", "enum", "const",
             "pattern", "format",
             "writeOnly", "minLength", "minimum", "maximum", "exclusiveMinimum", "minItems", "minProperties",
             "maxLength", "maxProperties"}  # fmt: skip

    def words(schema: Any, of_names: bool = False) -> Iterator[str]:
        if isinstance(schema, dict):
            for key, value in schema.items():
                if not of_names:
                    yield key
                if key not in {"default", "enum"} or of_names:
                    yield from words(value, not of_names and key in {"properties", "patternProperties", "$defs"})
        elif isinstance(schema, list):
            for entry in schema:
                yield from words(entry)

    assert set(words(suite.schema)) | set(words(queries.schema)) <= known


def test_every_key_is_there_with_a_description(suite: Draft202012Validator):
    described = {}

    def describe(name: str, shape: dict[str, Any]) -> None:
        described[name] = shape
        references = [entry for entry in (shape, *shape.get("anyOf", [])) if "$ref" in entry]
        for reference in references if name not in {"criteria", "queries"} else ():
            section = suite.schema["$defs"][reference["$ref"].rsplit("/", 1)[1]]
            for key, value in section.get("properties", {}).items():
                describe(f"{name}.{key}", value)

    for name, shape in suite.schema["properties"].items():
        describe(name, shape)
    assert set(key_paths(Suite)) <= set(described)
    assert [name for name, shape in described.items() if not shape.get("description")] == []


def test_the_smallest_the_largest_and_the_demos_suite_pass(suite: Draft202012Validator):
    demo = yaml.safe_load((DEMO / "ragval.yaml").read_text(encoding="utf-8"))
    for content in (SMALLEST, EVERYTHING, demo, {"suite": "a", "profile": "rag-validation"}):
        assert problems(suite, content) == []


@pytest.mark.parametrize("path", [path for path in PLACES if path[0] != "queries"], ids=key_of)
def test_a_placeholder_may_stand_for_every_scalar(suite: Draft202012Validator, path: tuple[str | int, ...]):
    settings = copy.deepcopy(EVERYTHING)
    holder: Any = settings
    for part in path[:-1]:
        holder = holder[part]
    # What a whole section is made of cannot come from one variable; the threshold of a criterion, and a function, can.
    is_text = path[0] == "criteria" or path == ("retrieval", "rerank")
    is_section = isinstance(holder[path[-1]], dict) and (len(path) == 1 or not is_text)
    for text in ("${NAME}", "${NAME:-5}", "a${NAME}b"):
        holder[path[-1]] = text
        assert bool(problems(suite, settings)) is is_section


@pytest.mark.parametrize(
    ("key", "value"),
    [("retrieval.top_k", 0), ("retrieval.top_k", "five"), ("retrieval.min_similarity", -1), ("retrieval.k", [0]),
     ("retrieval.judge", ["scores"]), ("retrieval.exact", "perhaps"), ("embedding.dimension", 0), ("profile", "mine"),
     ("criteria", {"coverige": 1}), ("criteria", {"hit_at_0": 1}), ("severity", {"query.faild": "off"}),
     ("severity", {"query.failed": "loud"}), ("payload.fields", {"txt": "a"}), ("suite", "A"), ("queries", 5),
     ("queries", [{"query": "x", "min_similarity": -1}]), ("retry.maximum", 1), ("colour", "red"),
     ("queries", {"topics": "a"})],
)  # fmt: skip
def test_what_does_not_load_is_marked(suite: Draft202012Validator, key: str, value: Any):
    assert problems(suite, at(key, value)) != []


@pytest.mark.parametrize("content", [{}, {"suite": "a"}, {"qdrant": {"path": "q"}}])
def test_a_suite_needs_a_name_and_a_place(suite: Draft202012Validator, content: dict[str, Any]):
    assert problems(suite, content) != []


def test_names_are_completed(suite: Draft202012Validator):
    properties = suite.schema["properties"]
    assert set(properties["severity"]["properties"]) == set(CATALOGUE)
    assert set(known_names()) - set(properties["criteria"]["properties"]) == {
        f"{family}_at_{k}" for family in ("hit", "precision", "recall", "ndcg") for k in (1, 3, 5, 10)
    }
    assert properties["profile"]["anyOf"][0]["enum"] == [None, *PROFILES]


def test_the_forms_of_queries_pass(suite: Draft202012Validator):
    for queries in ("q.yaml", ["x", {"text": "y"}], {"file": "a"}, {"topics": "a", "qrels": "b"}, None,
                    [{"query": "x", "top_k": "${K}"}], {"file": "${F}", "ground_truth": None}):  # fmt: skip
        assert problems(suite, {**SMALLEST, "queries": queries}) == []


def test_query_files_pass(queries: Draft202012Validator):
    demo = yaml.safe_load((DEMO / "queries.yaml").read_text(encoding="utf-8"))
    template = {"template": "What is {a}?", "parameters": {"a": ["x"]}, "expected_keywords": ["{a}"]}
    plain = {"query": "x", "score_threshold": 0.5, "id": 7, "relevant_urls": "u", "expected_module": None}
    for content in (demo, [FIELDS], [], ["x", template, plain], {"queries": [plain]}):
        assert problems(queries, content) == []


@pytest.mark.parametrize(
    "entry",
    [{}, {"id": "x"}, {"query": "x", "text": "y"}, {"query": "x", "modul": "m"}, {"query": "x", "top_k": 0}, 5,
     {"query": "x", "min_similarity": -1}, {"template": "x"}, {"query": "x", "parameters": {"a": [1]}},
     {"query": "x", "expected_results": [{"url": "a"}]}, {"query": "x", "min_similarity": "${X}"}],
)  # fmt: skip
def test_values_that_are_not_queries_are_marked(queries: Draft202012Validator, entry: Any):
    assert problems(queries, [entry]) != []


def test_every_field_of_a_query_is_described(queries: Draft202012Validator):
    properties = queries.schema["$defs"]["Query"]["properties"]
    assert set(TestQuery.model_fields) <= set(properties)
    assert [name for name, shape in properties.items() if not shape.get("description")] == []
