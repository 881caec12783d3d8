from __future__ import annotations

from collections.abc import Sequence

from ragval_pipeline.orchestration.metadata import section_tables
from ragval_pipeline.validation.query_report import QueryReport
from tests.reporting import factory


def result(name: str, *, passed: bool | None, score: float | None = 0.51234, missed: Sequence[str] = ()) -> QueryReport:
    return factory.query(name, f"What is {name}?", score, passed=passed, failed_conditions=list(missed))


def test_only_queries_that_did_not_pass_are_listed_with_what_they_missed() -> None:
    queries = [
        result("good", passed=True),
        result("bad", passed=False, missed=["chapter", "url"]),
        result("broken", passed=None, score=None),
    ]
    rows = [record.data for record in section_tables({"query_results": queries})["queries"].records]
    assert rows == [
        {"query": "What is bad?", "best_score": "0.5123", "missed": "chapter, url"},
        {"query": "What is broken?", "best_score": "", "missed": "error"},
    ]


def test_only_expectations_that_do_not_hold_are_listed() -> None:
    held = {"level": "present", "field": "title", "success": True, "element_count": 91, "unexpected_count": 0}
    broken = {**held, "level": "rule", "field": "token_count", "success": False, "unexpected_count": 3}
    results = [{**entry, "exception": None} for entry in (held, broken)]
    [row] = [record.data for record in section_tables({"expectations": {"results": results}})["expectations"].records]
    assert row == {
        "field": "token_count", "level": "rule", "expected": "its value is valid", "observed": "88\u00a0of\u00a091",
    }  # fmt: skip


def test_only_modules_with_missing_pages_are_listed() -> None:
    modules = {"a": {"total": 2, "indexed": 2, "missing": 0}, "b": {"total": 3, "indexed": 1, "missing": 2}}
    [row] = [record.data for record in section_tables({"coverage_report": {"by_module": modules}})["modules"].records]
    assert row == {"module": "b", "pages": 3, "missing": 2}


def test_nothing_wrong_is_no_table() -> None:
    assert section_tables({"query_results": [result("good", passed=True)], "coverage_report": {"by_module": {}}}) == {}
