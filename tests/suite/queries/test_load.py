"""Ground truth in a file of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.suite.queries.reading import put, read, refused

QUERIES = [
    {"id": "ros", "query": "What is ROS 2?"},
    {"id": "isaac", "query": "What is Isaac?", "relevant_urls": ["u0"]},
]
SETTING = {"file": "q.json", "ground_truth": "t.json"}


def put_both(folder: Path, truth: Any, queries: Any = QUERIES) -> None:
    put(folder, "q.json", json.dumps(queries))
    put(folder, "t.json", json.dumps(truth))


def test_relevant_pages_are_joined_by_text_or_id(tmp_path: Path):
    put_both(tmp_path, [
        {"query": " What is ROS 2? ", "relevant_urls": ["u1", "u2"]},
        {"id": "isaac", "relevant_urls": "u3", "acceptable_urls": ["u4"]},
    ])  # fmt: skip
    ros, isaac = read(tmp_path, SETTING)
    assert ros.grades == {"u1": 2, "u2": 2}
    assert isaac.grades == {"u4": 1, "u0": 2, "u3": 2}
    assert isaac.fields()["relevant_urls"] == ["u0", "u3"]


def test_without_ground_truth_the_file_alone_counts(tmp_path: Path):
    put_both(tmp_path, [])
    assert read(tmp_path, {"file": "q.json"})[0].grades == {}
    assert read(tmp_path, SETTING)[0].grades == {}


def test_a_page_that_is_named_twice_counts_once(tmp_path: Path):
    put_both(tmp_path, [{"id": "isaac", "relevant_urls": ["u0", "u1"]}, {"id": "isaac", "relevant_urls": ["u1"]}])
    assert read(tmp_path, SETTING)[1].relevant_urls == ("u0", "u1")


def test_the_error_of_ground_truth_that_is_not_a_list_says_what_an_entry_is(tmp_path: Path):
    put_both(tmp_path, {"ros": {"pages": ["u"]}, "isaac": ["v"]})
    told = str(refused(tmp_path, SETTING))
    assert "t.json: is not a list of queries. Write one entry per query: - {query: ..., relevant_urls: [...]}" in told


def test_ground_truth_may_map_queries_to_their_pages(tmp_path: Path):
    put_both(
        tmp_path,
        {"ros": ["u"], "What is Isaac?": ["v", "w"]},
        [{"id": "ros", "query": "x"}, {"query": "What is Isaac?"}],
    )
    assert [query.relevant_urls for query in read(tmp_path, SETTING)] == [("u",), ("v", "w")]
    put_both(tmp_path, {"ros": ["u"], "nobody asks this": ["v"]}, [{"id": "ros", "query": "x"}])
    assert "t.json: nobody asks this: there is no test query" in str(refused(tmp_path, SETTING))


def test_every_query_of_a_text_gets_its_truth(tmp_path: Path):
    put_both(tmp_path, [{"query": "x", "relevant_urls": ["u"]}], [{"query": "x"}, {"query": "x"}])
    assert [query.relevant_urls for query in read(tmp_path, SETTING)] == [("u",), ("u",)]


def test_truth_may_be_any_expectation(tmp_path: Path):
    expected = {"expected_module": "m", "expected_keywords": ["k"], "expected_results": [{"id": 1}]}
    put_both(tmp_path, [{"query": "ros", **expected}])
    ros = read(tmp_path, SETTING)[0]
    assert ros.expected_module == "m"
    assert ros.expected_keywords == ("k",)
    assert ros.expected_results == ({"id": 1},)
    assert ros.query_text == "What is ROS 2?"


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"query": "What is URDF?", "relevant_urls": ["u"]}, "there is no test query called 'What is URDF?'"),
        ({"relevant_urls": ["u"]}, "needs query and relevant_urls"),
        ({"query": "ros"}, "needs query and relevant_urls"),
        ({"query": "ros", "relevant_urls": []}, "needs query and relevant_urls"),
        ({"query": "ros", "relevant_url": ["u"]}, "needs query and relevant_urls"),
        ({"query": "ros", "relevant_urls": ["u"], "expected_modul": "m"}, "Did you mean expected_module?"),
        ({"query": "ros", "relevant_urls": [5]}, "must be a text, not 5"),
        ({"query": "ros", "relevant_urls": [" "]}, "must not be empty"),
    ],
)  # fmt: skip
def test_truth_that_fits_no_query_is_refused(tmp_path: Path, entry: dict[str, Any], says: str):
    put_both(tmp_path, [{"id": "isaac", "relevant_urls": ["u"]}, entry])
    error = refused(tmp_path, SETTING)
    assert error.file == str(tmp_path / "t.json")
    assert (error.key or "").startswith("[1]")
    assert says in str(error)


def test_a_negative_query_cannot_get_relevant_pages(tmp_path: Path):
    put_both(tmp_path, [{"query": "x", "relevant_urls": ["u"]}], [{"query": "x", "negative": True}])
    assert "a negative query cannot name relevant pages" in str(refused(tmp_path, SETTING))


@pytest.mark.parametrize("name", ["t.qrels", "t.txt", "t.trec", "t.tsv"])
def test_truth_may_be_qrels(tmp_path: Path, name: str):
    put(tmp_path, "q.json", json.dumps(QUERIES))
    put(tmp_path, name, "ros\t0\tdoc 1\t1\nisaac\t0\tu0\t0\n" if name != "t.tsv" else "ros\tdoc 1\t1\nisaac\tu0\t0\n")
    ros, isaac = read(tmp_path, {"file": "q.json", "ground_truth": name})
    assert ros.grades == {"doc 1": 1}
    # The qrels keep their own grade, also against the query file's word.
    assert isaac.grades == {"u0": 0}


def test_002s_real_shape_keeps_sizes_3_and_2(tmp_path: Path):
    base = "https://book.example.org/docs"
    put_both(
        tmp_path,
        [
            {"query": "What is ROS 2?", "relevant_urls": [f"{base}/a", f"{base}/b/", f"{base}/intro"]},
            {"query": "What is Isaac?", "relevant_urls": [f"{base}/c"]},
        ],
        [{"query": "What is ROS 2?", "category": "ROS 2"}, {"query": "What is Isaac?", "category": "NVIDIA Isaac"}],
    )
    queries = read(tmp_path, SETTING, profile="rag-validation", qdrant={"path": "q"})
    assert [len(query.relevant_urls) for query in queries] == [3, 1]


def test_ids_are_given_or_the_name_or_the_position(tmp_path: Path):
    queries = read(
        tmp_path, [{"query": "a", "id": "x", "name": "y"}, {"query": "b", "name": "y"}, "c", {"query": "d", "id": 7}]
    )
    assert [query.id for query in queries] == ["x", "y", "q3", "7"]


def test_a_duplicate_id_is_refused_with_both_locations(tmp_path: Path):
    error = refused(tmp_path, [{"query": "a", "id": "x"}, "b", {"query": "c", "name": "x"}])
    assert error.key == "queries[2]"
    assert "the query id x occurs twice, first at queries[0]" in str(error)


def test_the_same_text_twice_is_a_finding_and_no_error(tmp_path: Path):
    assert [query.id for query in read(tmp_path, ["a", "a"])] == ["q1", "q2"]


def test_positions_count_entries_and_not_lines(tmp_path: Path):
    put(tmp_path, "q.jsonl", '\n{"query": "a"}\n\n\n{"query": "b"}\n')
    assert [query.id for query in read(tmp_path, "q.jsonl")] == ["q1", "q2"]
