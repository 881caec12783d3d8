from __future__ import annotations

import random

import numpy as np

from ragval_pipeline.text.folding import SEPARATOR
from ragval_pipeline.text.grams import SIZE, GramIndex, gram_hashes, runs_of

PAGE = "thegripperclosesuntilthemotordrawsmorethantwoamperes"


def test_a_common_run_is_found_with_both_its_places():
    assert GramIndex(PAGE, SIZE).common_runs("zz" + PAGE[5:30] + "qq") == [(2, 5, 25)]


def test_a_run_that_is_one_letter_too_short_is_not_found():
    assert GramIndex(PAGE, SIZE).common_runs(PAGE[5:16]) == []
    assert GramIndex(PAGE, SIZE).common_runs(PAGE[5:17]) == [(0, 5, 12)]


def test_a_run_with_several_positions_is_returned_several_times():
    twice = PAGE + SEPARATOR + PAGE
    assert sorted(GramIndex(twice, SIZE).common_runs(PAGE)) == [(0, 0, len(PAGE)), (0, len(PAGE) + 1, len(PAGE))]


def test_nothing_is_found_across_two_parts():
    parts = PAGE[:20] + SEPARATOR + PAGE[20:]
    assert sorted(GramIndex(parts, SIZE).common_runs(PAGE)) == [(0, 0, 20), (20, 21, len(PAGE) - 20)]


def test_empty_and_short_texts_have_no_runs():
    assert GramIndex("", SIZE).common_runs(PAGE) == []
    assert GramIndex(PAGE, SIZE).common_runs("") == []
    assert len(gram_hashes("short", SIZE)) == 0


def test_equal_runs_have_equal_hashes_wherever_they_stand():
    letters = "".join(random.Random(1).choices("abcd", k=5000))
    hashes = gram_hashes(letters, SIZE).tolist()
    by_hash = {}
    for at, value in enumerate(hashes):
        assert by_hash.setdefault(value, letters[at : at + SIZE]) == letters[at : at + SIZE]
    assert len(by_hash) == len({letters[at : at + SIZE] for at in range(len(hashes))})


def test_runs_are_stretches_of_true_values():
    assert runs_of(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
    assert runs_of(np.array([False])) == []
