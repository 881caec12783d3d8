"""One entry with parameters becomes several queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.suite.queries.templates import MAX_EXPANSIONS, expand_template
from tests.suite.queries.reading import read, refused


def test_a_template_becomes_one_query_for_each_value(tmp_path: Path):
    entry = {
        "id": "what",
        "template": "What is {thing}?",
        "parameters": {"thing": ["ROS 2", "URDF"]},
        "expected_keywords": ["{thing}", "robot"],
        "expected_results": [{"text": "{thing} is"}],
        "metadata": {"about": "{thing}", "raw": "{other}"},
        "min_similarity": 0.5,
    }
    queries = read(tmp_path, ["first", entry])
    assert [query.id for query in queries] == ["q1", "what[thing=ROS 2]", "what[thing=URDF]"]
    assert queries[2].fields() == {
        "id": "what[thing=URDF]",
        "query_text": "What is URDF?",
        "expected_keywords": ["URDF", "robot"],
        "expected_results": [{"text": "URDF is"}],
        "metadata": {"about": "URDF", "raw": "{other}"},
        "min_similarity": 0.5,
    }


def test_several_parameters_are_combined_and_one_value_needs_no_list(tmp_path: Path):
    entry = {"name": "n", "template": "{a} {b} {c}", "parameters": {"a": [1, 2], "b": ["x", "y"], "c": True}}
    queries = read(tmp_path, [entry])
    assert [query.query_text for query in queries] == ["1 x True", "1 y True", "2 x True", "2 y True"]
    assert queries[1].id == "n[a=1,b=y,c=True]"


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"template": "What is {thin}?", "parameters": {"thing": ["x"]}}, "uses {thin}. Did you mean thing?"),
        ({"template": "{a}", "parameters": {"a": ["x"]}, "expected_module": "{b}"}, "uses {b}"),
        ({"template": "{a}", "parameters": {"a": ["x"], "b": ["y"]}}, "the parameter b is used nowhere"),
        ({"template": "{a}"}, "a template needs parameters"),
        ({"template": "{a}", "parameters": {}}, "a template needs parameters"),
        ({"template": "{a}", "parameters": ["x"]}, "a template needs parameters"),
        ({"template": "{a}", "parameters": {"a": []}}, "the parameter a has no value"),
        ({"template": "{a}", "parameters": {"a": [None]}}, "a value that is not a string or number"),
        ({"template": "{a}", "parameters": {"a": [{"b": 1}]}}, "a value that is not a string or number"),
        ({"template": 5, "parameters": {"a": [1]}}, "the template is not a string"),
        ({"template": " ", "parameters": {"a": [1]}}, "the template is not a string"),
        ({"template": "{a}", "parameters": {"a": [1]}, "query": "x"}, "has a template and query"),
        ({"query": "x", "parameters": {"a": [1]}}, "has parameters but no template"),
        ({"template": "{a}", "parameters": {"a": ["x", "x"]}}, "occurs twice"),
        ({"template": "{a}", "parameters": {"a": ["x"]}, "min_similarity": 2}, "less than or equal to 1"),
        ({"template": "{a}", "parameters": {"a": ["  "]}}, "must not be empty"),
    ],
)
def test_what_is_wrong_with_a_template_is_said(tmp_path: Path, entry: dict[str, Any], says: str):
    error = refused(tmp_path, ["x", entry])
    assert (error.key or "").startswith("queries[1]")
    assert says in str(error)


def test_the_number_of_queries_is_limited_before_they_are_made():
    values = list(range(1000))
    entry = {"template": "{a}{b}{c}", "parameters": {"a": values, "b": values, "c": values}}
    with pytest.raises(ValueError, match=f"makes 1000000000 queries; the limit is {MAX_EXPANSIONS}"):
        next(iter(expand_template(entry)))
    assert (
        sum(1 for _ in expand_template({"template": "{a}", "parameters": {"a": list(range(MAX_EXPANSIONS))}})) == 10_000
    )


def test_an_export_with_empty_template_columns_is_a_plain_query(tmp_path: Path):
    assert read(tmp_path, [{"query": "x", "template": None, "parameters": None}])[0].id == "q1"
