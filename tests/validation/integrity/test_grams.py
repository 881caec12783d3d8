from __future__ import annotations

import numpy as np

from ragval_pipeline.validation.integrity.folding import SEPARATOR
from ragval_pipeline.validation.integrity.grams import GramSet, runs_of

PAGE = "thegripperclosesuntilthemotordrawsmorethantwoamperes"


def covered(letters: str, *, size: int | None = None, page: str = PAGE) -> str:
    return "".join(
        letter if found else "-"
        for letter, found in zip(letters, GramSet(page).covers(letters, size=size), strict=True)
    )


def test_letters_in_a_run_that_both_have_are_found():
    assert covered("xxthegripperclosesxx", size=12) == "--thegripperclosesxx"[:18].replace("x", "-") + "--"


def test_a_run_that_is_one_letter_too_short_is_not_found():
    assert covered("thegripperc", size=12) == "-" * 11
    assert covered("thegripperczzz", size=12) == "-" * 14
    assert covered("thegripperclzz", size=12) == "thegripperclzz"[:12] + "--"


def test_a_short_text_is_looked_for_in_shorter_runs():
    assert covered("thegrippzzz") == "thegripp---"
    assert covered("thegrippzzz" + "q" * 60).count("t") == 0


def test_nothing_is_found_across_two_parts():
    assert covered("thegripper", size=10, page=f"thegr{SEPARATOR}ipper") == "-" * 10


def test_empty_texts_are_compared_without_a_fuss():
    assert GramSet("").covers("thegripper").tolist() == [False] * 10
    assert GramSet(PAGE).covers("").tolist() == []


def test_runs_are_stretches_of_true_values():
    assert runs_of(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
    assert runs_of(np.array([], dtype=bool)) == []
