"""What a report shows of a query: the entry of its file, and the canonical name of what is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragval_pipeline.errors import SuiteError
from tests.suite.queries.reading import put, read


@pytest.mark.parametrize(
    "entry",
    [
        {"query_text": "What is ROS 2?"},
        {"id": "own", "query_text": "What is ROS 2?", "relevant_urls": ["https://x.org/a"], "min_similarity": 0.5},
        {"name": "named", "query_text": "What is ROS 2?", "metadata": {"author": "me"}, "negative": True},
    ],
)
def test_an_entry_in_canonical_names_is_given_back_as_it_is(tmp_path: Path, entry: dict[str, Any]):
    [query] = read(tmp_path, [entry])
    assert query.as_given() == entry


def test_expected_chunks_keep_seed_001s_metadata_as_the_file_nests_it(tmp_path: Path):
    chunk = {"id": "1", "metadata": {"module": "m", "chunk_index": 0}}
    [query] = read(tmp_path, [{"query_text": "Why?", "expected_results": [chunk]}])
    assert query.expected_results == ({"id": "1", "module": "m", "chunk_index": 0},)
    assert query.as_given()["expected_results"] == [chunk]
    slots = {"template": "Why {what}?", "parameters": {"what": ["a"]}}
    [filled] = read(tmp_path, [{**slots, "expected_results": [{"metadata": {"module": "{what}"}}]}])
    assert filled.as_given()["expected_results"] == [{"module": "a"}]


@pytest.mark.parametrize("format_", ["yaml", "json", "csv"])
def test_no_id_is_put_in_that_the_file_does_not_have(tmp_path: Path, format_: str):
    texts = {"yaml": "- query_text: Why?\n", "json": '[{"query_text": "Why?"}]', "csv": "query_text\nWhy?\n"}
    put(tmp_path, f"q.{format_}", texts[format_])
    [query] = read(tmp_path, f"q.{format_}")
    assert (query.id, query.as_given()) == ("q1", {"query_text": "Why?"})


def test_other_names_are_kept_beside_the_canonical_ones(tmp_path: Path):
    [query] = read(tmp_path, [{"query": "Why?", "score_threshold": 0.4}])
    assert query.as_given() == {"query": "Why?", "score_threshold": 0.4, "query_text": "Why?", "min_similarity": 0.4}


def test_an_expanded_query_keeps_its_template_and_parameters_and_has_its_own_text(tmp_path: Path):
    entry = {"id": "what", "template": "What is {thing}?", "parameters": {"thing": ["ROS 2", "URDF"]}}
    first, second = read(tmp_path, [{**entry, "expected_keywords": ["{thing}"]}])
    assert second.as_given() == {**entry, "query_text": "What is URDF?", "expected_keywords": ["URDF"]}
    assert first.id == "what[thing=ROS 2]"


def test_ground_truth_of_another_file_is_part_of_the_query(tmp_path: Path):
    put(tmp_path, "q.yaml", "- query: Why?\n")
    put(tmp_path, "truth.json", json.dumps([{"query": "Why?", "relevant_urls": ["https://x.org/a"]}]))
    [query] = read(tmp_path, {"file": "q.yaml", "ground_truth": "truth.json"})
    assert query.as_given() == {"query": "Why?", "query_text": "Why?", "relevant_urls": ["https://x.org/a"]}


@pytest.mark.parametrize("status", ["PENDING", "PASS", "FAIL", "ERROR"])
@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_validation_test_of_seed_001_with_its_earlier_outcome_is_read_counted_and_given_back(
    tmp_path: Path, status: str, kind: str
):
    metadata = {"source_url": "https://x.org/a", "module": "m", "chapter": "c", "chunk_index": 0}
    later = {"original_length": 900, "processed_at": "2026-01-01T00:00:00"}
    chunk = {"id": "1", "text": "node", "embedding": [0.5], "score": 0.9, "metadata": {**metadata, **later}}
    test = {
        "id": "t1", "name": "n", "description": "d", "query_text": "What is {ROS}?", "expected_results": [chunk],
        "actual_results": [], "status": status, "timestamp": "2026-01-01T00:00:00", "execution_time_ms": 0.0,
    }  # fmt: skip
    if kind == "json":
        put(tmp_path, "q.json", json.dumps([test]))
    else:
        cells = [value if isinstance(value, str) else json.dumps(value) for value in test.values()]
        quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
        put(tmp_path, "q.csv", f"{','.join(test)}\n{quoted}\n")
    [query] = read(tmp_path, f"q.{kind}")
    assert query.counted
    assert query.expected_results == ({"id": "1", "text": "node", **metadata},)
    given = query.as_given()
    assert given == (test if kind == "json" else {**test, "execution_time_ms": given["execution_time_ms"]})
    only_score = {"query_text": "x", "expected_results": [{"score": 0.9}]}
    with pytest.raises(SuiteError, match="each expected result states some of"):
        read(tmp_path, [only_score])
