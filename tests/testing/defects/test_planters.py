"""Every defect, planted in the demo and held to a real run. ``benchmarks/defects`` does it at all amounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragval_pipeline.testing.defects import Corpus, clean, find_defect, judge, list_defects

#: Two defects beside each other, of which one could hide or explain away the other.
PAIRS = [
    ("coverage.missing_page", "query.failed"),
    ("chunk.duplicate_index", "coverage.orphan_page"),
    ("chunk.index_gap", "payload.missing_field:source_url"),
]


def test_the_demo_itself_is_clean(corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None):
    run = validate(corpus)
    assert clean(run.report) == []
    assert run.report.verdict == "pass"


@pytest.mark.parametrize("name", [entry.name for entry in list_defects() if entry.variant is None])
def test_a_planted_defect_is_named_exactly_and_first(
    name: str, corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None
):
    entry = find_defect(name)
    if entry.needs_baseline:
        validate(corpus)
    planted = entry.plant_in(corpus, entry.amounts[0])
    run = validate(corpus)
    assert judge([planted], run.report, folder=run.folder)[0].problems == ()


@pytest.mark.parametrize("names", PAIRS, ids="+".join)
def test_two_defects_beside_each_other_are_both_named(
    names: tuple[str, str], corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None
):
    planted = [find_defect(name).plant_in(corpus) for name in names]
    run = validate(corpus)
    for outcome in judge(planted, run.report, folder=run.folder):
        assert outcome.problems == ()
