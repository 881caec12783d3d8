"""Expected modules as regular expressions."""

from __future__ import annotations

from pathlib import Path

from tests.suite.queries.reading import put, read, refused

BROKEN = '[{"id": "arm", "query": "a", "expected_module": "module-(1"}]'


def test_a_module_that_is_no_regular_expression_is_refused_with_file_and_query(tmp_path: Path):
    put(tmp_path, "q.json", BROKEN)
    error = refused(tmp_path, "q.json", retrieval={"module_match": "regex"})
    assert error.key == "[0].expected_module"
    assert "q.json" in str(error)
    assert "query arm: module-(1 is no regular expression" in str(error)
    assert "at position 7" in str(error)


def test_without_the_setting_a_module_may_hold_any_signs(tmp_path: Path):
    put(tmp_path, "q.json", BROKEN)
    assert read(tmp_path, "q.json")[0].expected_module == "module-(1"


def test_valid_expressions_and_queries_without_a_module_pass(tmp_path: Path):
    queries = ["a", {"query": "b", "expected_module": "module-[12].*"}]
    assert len(read(tmp_path, queries, retrieval={"module_match": "regex"})) == 2
