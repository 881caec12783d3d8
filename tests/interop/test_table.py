"""The page about frameworks, the cases behind it, and what their last run found."""

from __future__ import annotations

import re
from pathlib import Path

from tests.interop.cases import ACCIDENTS, WAYS
from tests.interop.table import PAGE, expected, page, read_outcomes, stored_outcomes


def test_the_page_has_the_versions_and_cases_that_are_tested() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(stored_outcomes()), "run: python -m tests.interop.table"


def test_no_outcome_is_of_a_case_that_is_not_tested_any_more() -> None:
    assert stored_outcomes().keys() <= expected(), "run: python -m tests.interop.table"


def test_the_page_says_what_has_not_run() -> None:
    assert "| 0 of 1, 1 not run |" in page({"accident qdrant-documents-twice": False})
    assert not re.search(r"\d not run", page(dict.fromkeys(expected(), True)))


def test_every_accident_happens_to_a_way_of_writing_that_is_tried_honestly_too() -> None:
    assert {(framework, how) for framework, how, _ in ACCIDENTS} <= {(key, how) for key in WAYS for how in WAYS[key]}


def test_of_a_case_in_two_runs_the_last_one_counts(tmp_path: Path) -> None:
    test = "test_an_accident_is_named_with_its_pages_and_what_to_do[haystack-words-twice]"
    first, second = tmp_path / "1.xml", tmp_path / "2.xml"
    first.write_text(f'<testsuites><testsuite><testcase name="{test}"><failure/></testcase></testsuite></testsuites>')
    second.write_text(f'<testsuites><testsuite><testcase name="{test}"/></testsuite></testsuites>')
    assert read_outcomes([str(first)]) == {"accident haystack-words-twice": False}
    assert read_outcomes([str(first), str(second)]) == {"accident haystack-words-twice": True}
