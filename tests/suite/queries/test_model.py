"""One test query."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ragval_pipeline.suite.queries.model import TestQuery

#: Section 2 of the design: every field of the five seeds, with a value.
FIELDS: dict[str, Any] = {
    "id": "ros2",
    "name": "ROS 2 basics",
    "description": "Validates ROS 2 basics retrieval",
    "query_text": "What is ROS 2?",
    "category": "ROS 2",
    "expected_module": "Module 1 Ros2",
    "expected_chapter": "ch1-ros2-basics",
    "relevant_urls": ["https://x.org/docs/a"],
    "acceptable_urls": ["https://x.org/docs/b"],
    "expected_keywords": ["node", "topic"],
    "expected_topics": ["middleware"],
    "expected_results": [{"source_url": "https://x.org/docs/a", "chunk_index": 0, "text": "middleware"}],
    "min_similarity": 0.65,
    "top_k": 3,
    "critical": True,
    "metadata": {"author": "me"},
    "embedding": [0.1, 0.2],
    "timestamp": "2026-01-06T10:00:00Z",
    "actual_results": [],
    "execution_time_ms": 0.0,
    "created_at": "2026-01-06T10:00:00Z",
}


def query(**fields: Any) -> TestQuery:
    return TestQuery.model_validate({"query_text": "What is ROS 2?", **fields})


def test_a_query_takes_every_field_of_the_seeds_and_gives_them_back():
    given = TestQuery.model_validate(FIELDS)
    assert given.fields() == FIELDS
    assert set(TestQuery.model_fields) == {*FIELDS, "negative", "judgements", "status", "filter"}


@pytest.mark.parametrize("name", ["query_text", "query", "text"])
def test_the_text_has_three_names(name: str):
    assert TestQuery.model_validate({name: "What is ROS 2?"}).fields() == {"id": "", "query_text": "What is ROS 2?"}


@pytest.mark.parametrize("name", ["min_similarity", "score_threshold"])
def test_the_threshold_has_two_names(name: str):
    assert query(**{name: 0.4}).fields()["min_similarity"] == 0.4


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"query": "x", "text": "y"}, "query and text mean the same"),
        ({"query_text": "x", "min_similarity": 0.1, "score_threshold": 0.2}, "mean the same"),
        ({"query_text": "  \n"}, "must not be empty"),
        ({"query_text": "\u200b\ufeff \u2060"}, "must not be empty"),
        ({"query_text": "\ud800"}, "nicode"),
        ({"query_text": "x", "id": "\udfff"}, "nicode"),
        ({"query_text": "x", "negative": True, "relevant_urls": ["a"]}, "a negative query cannot name"),
        ({"query_text": "x", "negative": True, "expected_results": [{"id": 1}]}, "a negative query cannot name"),
        ({"query_text": "x", "expected_results": [{"url": "a"}]}, "each expected result states some of"),
        (
            {"query_text": "x", "expected_results": [{"id": 1, "sorce_url": "a"}]},
            "and not sorce_url. Did you mean source_url?",
        ),
        ({"query_text": "x", "expected_results": [{}]}, "each expected result states some of"),
        ({"query_text": "x", "expected_results": [{"id": None}]}, "each expected result states some of"),
    ],
)
def test_contradictions_are_refused(fields: dict[str, Any], says: str):
    with pytest.raises(ValidationError) as caught:
        TestQuery.model_validate(fields)
    assert says in caught.value.errors()[0]["msg"]


@pytest.mark.parametrize("score", [-0.1, float("nan"), "high", True])
def test_a_threshold_is_a_number_from_0(score: Any):
    with pytest.raises(ValidationError):
        query(min_similarity=score)


@pytest.mark.parametrize("top_k", [0, -1, 1001, 1.5, True])
def test_top_k_is_a_whole_number_from_1(top_k: Any):
    with pytest.raises(ValidationError):
        query(top_k=top_k)


def test_one_text_is_a_list_of_one_and_blanks_around_it_do_not_matter():
    given = query(relevant_urls=" https://x.org/a ", expected_keywords=[" node "])
    assert given.relevant_urls == ("https://x.org/a",)
    assert given.expected_keywords == ("node",)


def test_grades_are_2_for_relevant_1_for_acceptable_and_those_of_qrels_as_they_are():
    given = query(relevant_urls=["a", "b"], acceptable_urls=["b", "c"], judgements={"d": 3, "e": 0, "f": -1})
    assert given.grades == {"a": 2, "b": 2, "c": 1, "d": 3, "e": 0, "f": -1}
    assert "judgements" not in given.fields()


def test_an_expected_result_may_nest_its_metadata_as_seed_001_does():
    chunk = {"id": 5, "text": "t", "metadata": {"source_url": "u", "module": "m", "chapter": None, "chunk_index": 0}}
    stated = {"id": 5, "text": "t", "source_url": "u", "module": "m", "chunk_index": 0}
    assert query(expected_results=[chunk]).expected_results == (stated,)
