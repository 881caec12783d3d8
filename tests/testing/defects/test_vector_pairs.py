"""Defects of vectors and of the server beside each other: none hides or explains away the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragval_pipeline.testing.defects import ONE, Corpus, find_defect, judge

PAIRS = [
    ("vector.zero", "vector.swapped"),
    ("vector.identical", "vector.missing"),
    ("index.not_ready", "retrieval.invalid_order"),
    ("index.payload_index_missing", "vector.model_mismatch:truncated"),
]


@pytest.mark.parametrize("names", [PAIRS[0], *(pytest.param(pair, marks=pytest.mark.slow) for pair in PAIRS[1:])])
def test_both_are_named_exactly(
    names: tuple[str, str], corpus: Corpus, validate: Callable[[Corpus], Any], without_gx: None
) -> None:
    planted = [find_defect(name).plant_in(corpus) for name in names]
    run = validate(corpus)
    for outcome in judge(planted, run.report, folder=run.folder):
        assert outcome.problems == ()


def test_a_few_single_points_are_no_part_of_another_model(corpus: Corpus) -> None:
    planted = find_defect("vector.mixed_models").plant_in(corpus, ONE)
    assert len(planted.subjects) >= 0.3 * len(corpus.points)
