from __future__ import annotations

from collections.abc import Sequence

from ragval_pipeline.orchestration.metadata import TABLE_ROWS, section_tables
from ragval_pipeline.validation.query_report import QueryReport
from tests.reporting import factory


def result(name: str, *, passed: bool | None, score: float | None = 0.51234, missed: Sequence[str] = ()) -> QueryReport:
    return factory.query(name, f"What is {name}?", score, passed=passed, failed_conditions=list(missed))


def test_queries_that_did_not_pass_come_first_with_what_they_missed() -> None:
    queries = [
        result("good", passed=True),
        result("bad", passed=False, missed=["chapter", "url"]),
        result("broken", passed=None, score=None),
    ]
    rows = [record.data for record in section_tables({"query_results": queries})["queries"].records]
    assert rows == [
        {"query": "What is bad?", "passed": "no", "best_score": "0.5123", "missed": "chapter, url"},
        {"query": "What is broken?", "passed": "error", "best_score": "", "missed": ""},
        {"query": "What is good?", "passed": "yes", "best_score": "0.5123", "missed": ""},
    ]


def test_of_many_queries_the_failed_ones_are_not_cut_away() -> None:
    queries = [result(f"q{i}", passed=True) for i in range(200)] + [result("last", passed=False)]
    records = section_tables({"query_results": queries})["queries"].records
    assert len(records) == TABLE_ROWS
    assert records[0].data["query"] == "What is last?"


def test_expectations_are_a_row_each_those_that_do_not_hold_first() -> None:
    held = {"level": "present", "field": "title", "success": True, "element_count": 91, "unexpected_count": 0}
    broken = {**held, "level": "rule", "field": "token_count", "success": False, "unexpected_count": 3}
    results = [{**entry, "exception": None} for entry in (held, broken)]
    rows = [record.data for record in section_tables({"expectations": {"results": results}})["expectations"].records]
    assert rows == [
        {
            "field": "token_count", "level": "rule", "expected": "its value is valid",
            "observed": "88\u00a0of\u00a091", "share": "96.7\u00a0%",
        },
        {
            "field": "title", "level": "present", "expected": "every point has it",
            "observed": "91\u00a0of\u00a091", "share": "100\u00a0%",
        },
    ]  # fmt: skip


def test_modules_with_missing_pages_come_first() -> None:
    modules = {"a": {"total": 2, "indexed": 2, "missing": 0}, "b": {"total": 3, "indexed": 1, "missing": 2}}
    rows = [record.data for record in section_tables({"coverage_report": {"by_module": modules}})["modules"].records]
    assert rows[0] == {"module": "b", "pages": 3, "indexed": 1, "missing": 2}
