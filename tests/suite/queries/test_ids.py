"""Query ids: the entry's, else its name, else its position."""

from __future__ import annotations

from pathlib import Path

from tests.suite.queries.reading import put, read, refused


def test_ids_are_given_or_the_name_or_the_position(tmp_path: Path):
    queries = read(
        tmp_path, [{"query": "a", "id": "x", "name": "y"}, {"query": "b", "name": "y"}, "c", {"query": "d", "id": 7}]
    )
    assert [query.id for query in queries] == ["x", "y", "q3", "7"]


def test_an_id_that_stands_twice_is_refused_with_both_places(tmp_path: Path):
    error = refused(tmp_path, [{"query": "a", "id": "x"}, "b", {"query": "c", "name": "x"}])
    assert error.key == "queries[2]"
    assert "the query id x stands twice, first at queries[0]" in str(error)


def test_the_same_text_twice_is_a_finding_and_no_error(tmp_path: Path):
    assert [query.id for query in read(tmp_path, ["a", "a"])] == ["q1", "q2"]


def test_positions_count_entries_and_not_lines(tmp_path: Path):
    put(tmp_path, "q.jsonl", '\n{"query": "a"}\n\n\n{"query": "b"}\n')
    assert [query.id for query in read(tmp_path, "q.jsonl")] == ["q1", "q2"]
