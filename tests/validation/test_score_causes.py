"""A query that found what it expects and scored too low is explained by what lowers scores, and by nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.causes import link_consequences
from ragval_pipeline.validation.causes.table import NO_SCORE_CAUSES
from ragval_pipeline.validation.golden.thresholds import Scores, unfit_threshold

RIGHT = (0.55, 0.58, 0.61, 0.66, 0.73)


def failed(*thresholds: float, conditions: Sequence[str] = ("score",), **details: Any) -> Finding:
    return make_finding(
        "query.failed",
        [
            Subject(name=f"q{at}", details={"conditions": list(conditions), "threshold": value, **details})
            for at, value in enumerate(thresholds)
        ],
    )


def because(finding: Finding, *causes: Finding) -> str | None:
    linked = link_consequences([finding, *causes], page_modules={})
    return next(entry.because for entry in linked if entry.code == finding.code)


def unfit(threshold: float, *, higher_is_better: bool = True) -> Finding:
    [finding] = unfit_threshold(threshold, Scores(RIGHT, (), higher_is_better))
    return finding


@pytest.mark.parametrize("own", [0.7, 0.65, 0.62])
def test_a_threshold_of_its_own_explains_a_query_when_most_right_answers_miss_it_too(own: float):
    assert because(failed(0.7, own), unfit(0.7)) == "query.threshold_unfit"


@pytest.mark.parametrize("own", [0.5, 0.61])
def test_a_threshold_that_most_right_answers_reach_explains_no_query(own: float):
    assert because(failed(0.7, own), unfit(0.7)) is None


def test_of_distances_the_stricter_threshold_is_the_smaller_one():
    assert because(failed(0.5), unfit(0.56, higher_is_better=False)) == "query.threshold_unfit"
    assert because(failed(0.7), unfit(0.56, higher_is_better=False)) is None


def test_a_threshold_that_only_lets_in_too_much_turns_no_query_down():
    [lax] = unfit_threshold(0.1, Scores(RIGHT, (0.2, 0.3, 0.4, 0.5, 0.6)))
    assert because(failed(0.7), lax) is None


def scored_high(*thresholds: float) -> Finding:
    subjects = [
        Subject(name=f"n{at}", details={"conditions": ["score"], "threshold": value})
        for at, value in enumerate(thresholds)
    ]
    return make_finding("query.negative_scored_high", subjects)


WRONG = (0.2, 0.3, 0.4, 0.5, 0.6)


@pytest.mark.parametrize("own", [0.1, 0.35])
def test_a_threshold_that_most_wrong_answers_reach_explains_those_that_reach_it(own: float):
    [lax] = unfit_threshold(0.1, Scores(RIGHT, WRONG))
    assert because(scored_high(0.1, own), lax) == "query.threshold_unfit"


def test_a_negative_query_that_reaches_a_threshold_of_its_own_that_few_others_reach_is_not_explained():
    [lax] = unfit_threshold(0.1, Scores(RIGHT, WRONG))
    assert because(scored_high(0.55), lax) is None


def test_a_threshold_that_only_turns_down_too_much_lets_no_negative_query_in():
    assert because(scored_high(0.1), unfit(0.7)) is None


def test_of_distances_the_laxer_threshold_is_the_larger_one():
    [lax] = unfit_threshold(0.7, Scores((0.1, 0.12, 0.13, 0.15, 0.2), WRONG, higher_is_better=False))
    assert because(scored_high(0.7), lax) == "query.threshold_unfit"
    assert because(scored_high(0.3), lax) is None


def test_a_query_that_misses_its_module_too_is_not_explained_by_the_threshold():
    assert because(failed(0.7, conditions=["score", "module"]), unfit(0.7)) is None


#: Codes that have tests of their own.
APART = {
    "payload.field_map", "payload.constant_field", "payload.unexpected_module", "chunk.duplicate_text",
    "chunk.near_duplicate",
}  # fmt: skip


@pytest.mark.parametrize("code", sorted(NO_SCORE_CAUSES - APART))
def test_what_only_reorders_or_renames_hits_does_not_lower_the_best_score(code: str):
    cause = make_finding(code, [Subject(name="q0", page="/a")])
    assert because(failed(0.7, expected_pages=["/a"]), cause) is None
    assert because(failed(0.7, conditions=["url"], expected_pages=["/a"]), cause) == code


def test_what_only_reorders_or_renames_hits_does_not_raise_the_score_of_a_negative_query():
    answered = make_finding("query.negative_scored_high", [Subject(name="n", details={"points": ["p", "r"]})])
    assert because(answered, make_finding("chunk.near_duplicate", ["p", "r"])) is None
    assert because(answered, make_finding("integrity.gone", ["p"])) == "integrity.gone"


@pytest.mark.parametrize("code", ["chunk.duplicate_text", "chunk.near_duplicate"])
def test_texts_that_repeat_each_other_push_others_out_only_where_several_of_them_are_found(code: str):
    repeated = make_finding(code, ["p", "r", "s"])
    alone = failed(0.7, conditions=["url"], expected_pages=["/a"], points=["p", "x"])
    assert because(alone, repeated) is None
    crowd = {"expected_pages": ["/a"], "points": ["p", "x", "r"]}
    assert because(failed(0.7, conditions=["url"], **crowd), repeated) == code
    assert because(failed(0.7, **crowd), repeated) is None


def test_words_that_nothing_found_holds_follow_from_texts_that_are_spoilt_everywhere():
    unread = make_finding(
        "chunk.over_model_limit", [Subject(name="p", page="/b")], details={"share": 0.1, "unread_share": 0.3}
    )
    few = make_finding(
        "chunk.over_model_limit", [Subject(name="p", page="/b")], details={"share": 0.1, "unread_share": 0.2}
    )
    expected = {"expected_pages": ["/a"]}
    assert because(failed(0.4, conditions=["keywords"], **expected), unread) == "chunk.over_model_limit"
    assert because(failed(0.4, conditions=["keywords"], **expected), few) is None
    assert because(failed(0.4, conditions=["url", "keywords"], **expected), unread) is None
