"""Golden sets as other tools and people write them."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.suite.queries.model import TestQuery
from tests.suite.queries.reading import put, read
from tests.suite.writing import suite_of


def loaded(tmp_path: Path, name: str, content: str | object) -> list[TestQuery]:
    put(tmp_path, name, content if isinstance(content, str) else json.dumps(content))
    return read(tmp_path, name)


@pytest.mark.parametrize("key", ["question", "user_input", "input"])
def test_the_question_has_the_names_that_other_tools_give_it(key: str, tmp_path: Path) -> None:
    [query] = loaded(tmp_path, "set.json", [{key: "What is a sensor?"}])
    assert query.query_text == "What is a sensor?"


@pytest.mark.parametrize(
    ("key", "value", "pages"),
    [
        ("expected_sources", ["docs/a.md", "docs/b.md"], ("docs/a.md", "docs/b.md")),
        ("expected_document_id", "guide/a", ("guide/a",)),
        ("gold_doc", "guide/a", ("guide/a",)),
        ("relevant_docs", [17], ("17",)),
        ("expected_urls", "https://a.example/a; https://a.example/b", ("https://a.example/a", "https://a.example/b")),
        ("source", "guide/a", ("guide/a",)),
        ("source_file", "a.md", ("a.md",)),
        ("sources", [{"url": "https://a.example/a", "title": "A"}], ("https://a.example/a",)),
        ("source", "written by hand", ()),
        ("source", "synthetic", ()),
    ],
)
def test_relevant_documents_have_many_names(key: str, value: Any, pages: tuple[str, ...], tmp_path: Path) -> None:
    [query] = loaded(tmp_path, "set.json", [{"question": "What?", key: value}])
    assert query.relevant_urls == pages
    assert (query.metadata is None) is bool(pages)


def test_no_relevant_document_is_a_negative_query_where_others_have_some(tmp_path: Path) -> None:
    entries = [{"question": "a", "expected_sources": ["x"]}, {"question": "b", "expected_sources": []}]
    assert [query.negative for query in loaded(tmp_path, "set.json", entries)] == [False, True]
    assert not loaded(tmp_path, "set.json", entries[1:])[0].negative, "nobody has labelled this set"
    table = "question,expected_sources\na,\"['x', 'y']\"\nb,[]\nc,\n"
    queries = loaded(tmp_path, "set.csv", table)
    assert [query.negative for query in queries] == [False, True, False]
    assert queries[0].relevant_urls == ("x", "y")


def test_answers_and_labels_are_kept_with_one_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    entries = [{"question": "a", "answer": "A.", "difficulty": "easy"}, {"question": "b", "answer": "B.", "hops": None}]
    with caplog.at_level(logging.WARNING):
        put(tmp_path, "set.json", json.dumps(entries))
        first, _ = load_queries(suite_of(tmp_path, queries="set.json"), advise=True)
    assert first.metadata == {"answer": "A.", "difficulty": "easy"}
    [record] = caplog.records
    assert record.getMessage().endswith(
        "set.json: kept as metadata, and not used to judge: answer (2 queries), difficulty (1 query)"
    )


def test_a_misspelt_key_is_still_an_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="Did you mean critical"):
        loaded(tmp_path, "set.json", [{"question": "a", "critcal": True}])


def test_queries_may_stand_below_a_key_beside_others(tmp_path: Path) -> None:
    content = {"metadata": {"version": "2"}, "cases": [{"question": "a"}], "changelog": ["x"]}
    assert [query.query_text for query in loaded(tmp_path, "set.json", content)] == ["a"]


def test_ragas(tmp_path: Path) -> None:
    table = "user_input,reference_contexts,reference,synthesizer_name\nWhat?,\"['A passage.']\",An answer.,single\n"
    [query] = loaded(tmp_path, "testset.csv", table)
    assert query.query_text == "What?"
    assert query.metadata is not None
    assert query.metadata["reference"] == "An answer."
    old = {"question": ["a", "b"], "answer": ["A", "B"], "contexts": [["x"], ["y"]], "ground_truth": ["A", "B"]}
    assert [query.query_text for query in loaded(tmp_path, "old.json", old)] == ["a", "b"]


def test_deepeval(tmp_path: Path) -> None:
    golden = {
        "input": "What?", "actual_output": None, "expected_output": "That.", "retrieval_context": None,
        "context": ["A passage."], "name": None, "comments": None, "source_file": "docs/a.md",
        "additional_metadata": None, "custom_column_key_values": None,
    }  # fmt: skip
    [query] = loaded(tmp_path, "goldens.json", [golden])
    assert (query.query_text, query.relevant_urls) == ("What?", ("docs/a.md",))
    assert query.metadata == {"expected_output": "That.", "context": ["A passage."]}


def test_llamaindex(tmp_path: Path) -> None:
    pairs = {
        "queries": {"q-1": "What?"},
        "corpus": {"n-1": "A passage."},
        "relevant_docs": {"q-1": ["n-1"]},
        "mode": "text",
    }
    [query] = loaded(tmp_path, "qa.json", pairs)
    assert (query.id, query.query_text, query.expected_results) == ("q-1", "What?", ({"id": "n-1"},))
    examples = [{"query": "What?", "query_by": {"type": "ai"}, "reference_contexts": ["x"], "reference_answer": "y"}]
    [query] = loaded(tmp_path, "rag_dataset.json", {"examples": examples, "predictions": []})
    assert query.query_text == "What?"


def test_the_queries_of_beir_alone(tmp_path: Path) -> None:
    [query] = loaded(tmp_path, "queries.jsonl", {"_id": "7", "text": "What?", "metadata": {"url": "x"}})
    assert (query.id, query.query_text) == ("7", "What?")


def test_messages_name_the_key_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"\[0\]\.question: must not be empty"):
        loaded(tmp_path, "set.json", [{"question": " "}])
    with pytest.raises(
        SuiteError, match=r"the query has no text: it has prompt\. Name the key of the question query_text"
    ):
        loaded(tmp_path, "set.json", [{"prompt": "What?"}])
    with pytest.raises(SuiteError, match="question and input mean the same"):
        loaded(tmp_path, "set.json", [{"question": "What?", "input": "What?"}])
