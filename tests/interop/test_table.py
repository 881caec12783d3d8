"""The page about frameworks, and the cases behind it."""

from __future__ import annotations

from tests.interop.cases import ACCIDENTS, WAYS
from tests.interop.table import PAGE, page


def test_the_page_has_the_versions_and_cases_that_are_tested() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.interop.table"


def test_every_accident_happens_to_a_way_of_writing_that_is_tried_honestly_too() -> None:
    assert {(framework, how) for framework, how, _ in ACCIDENTS} <= {(key, how) for key in WAYS for how in WAYS[key]}
