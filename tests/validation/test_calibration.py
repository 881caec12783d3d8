from __future__ import annotations

import pytest

from ragval_pipeline.validation.calibration import Scores, error_rates, propose, scores_of
from tests.validation.regression.runs import query

#: What the seeds' own runs scored: healthy, and below their 0.70 almost everywhere.
SEED_SCORES = (0.55, 0.57, 0.58, 0.59, 0.60, 0.61, 0.62, 0.64, 0.66, 0.68, 0.70, 0.73)


def scores(positive: tuple[float, ...] = (), negative: tuple[float, ...] = (), own: tuple[float, ...] = ()) -> Scores:
    return Scores(sorted(positive), sorted(negative), sorted(own))


def test_the_threshold_of_separated_scores_is_in_the_middle_of_the_gap() -> None:
    proposal = propose(scores((0.6, 0.7, 0.8), (0.1, 0.2, 0.3)))
    assert proposal is not None
    assert proposal.min_similarity == proposal.relevance_similarity == 0.45
    assert proposal.separation == 1.0
    assert not any("hardly distinguish" in warning for warning in proposal.warnings)


def test_overlapping_scores_lose_and_let_through_as_few_as_possible() -> None:
    found = scores((0.45, 0.55, 0.6, 0.65, 0.7, 0.75), (0.2, 0.25, 0.3, 0.35, 0.5, 0.58))
    proposal = propose(found)
    assert proposal is not None
    chosen = error_rates(found, proposal.min_similarity)
    best = min(
        (rates.lost or 0) + (rates.let_through or 0)
        for rates in (error_rates(found, number / 200) for number in range(201))
    )
    assert (chosen.lost or 0) + (chosen.let_through or 0) == pytest.approx(best)
    assert proposal.relevance_similarity <= proposal.min_similarity
    assert proposal.separation is not None
    assert 0.5 < proposal.separation < 1


def test_a_score_that_equals_the_threshold_passes() -> None:
    assert error_rates(scores((0.5,)), 0.5).lost == 0
    assert error_rates(scores((0.5 - 1e-7,)), 0.5).lost == 0
    assert error_rates(scores((), (0.5,)), 0.5).let_through == 1


def test_the_usual_thresholds_are_marked_and_said_to_be_of_another_scale() -> None:
    proposal = propose(scores(SEED_SCORES, (0.21, 0.25, 0.28, 0.3, 0.33)))
    assert proposal is not None
    assert proposal.min_similarity == 0.44
    marked = {rates.threshold: rates for rates in proposal.table if rates.note}
    assert marked[0.70].note == "the usual min_similarity"
    assert marked[0.70].lost == pytest.approx(10 / 12)
    assert (marked[0.50].note, marked[0.50].lost) == ("the usual relevance_similarity", 0)
    assert any("0.70 would fail 83 % of the positive queries" in warning for warning in proposal.warnings)


def test_thresholds_in_use_are_marked() -> None:
    proposal = propose(scores((0.6, 0.7), (0.1,)), current={0.38: "min_similarity in use"})
    assert proposal is not None
    assert {rates.note for rates in proposal.table} >= {"min_similarity in use", "proposed for both"}


def test_without_negative_queries_a_warning_says_so() -> None:
    proposal = propose(scores(tuple(0.5 + number / 100 for number in range(20))))
    assert proposal is not None
    assert proposal.min_similarity == proposal.relevance_similarity == 0.51
    assert proposal.separation is None
    assert any("no negative query" in warning for warning in proposal.warnings)


def test_without_positive_queries_page_titles_are_used() -> None:
    proposal = propose(scores((), (0.1, 0.2), (0.7, 0.8)))
    assert proposal is not None
    assert 0.2 < proposal.min_similarity <= 0.7
    assert any("are used instead" in warning for warning in proposal.warnings)


def test_scores_that_tell_nothing_say_so() -> None:
    proposal = propose(scores((0.3, 0.4, 0.5, 0.6, 0.7), (0.3, 0.4, 0.5, 0.6, 0.7)))
    assert proposal is not None
    assert any("no threshold works well" in warning for warning in proposal.warnings)


def test_equal_scores_on_both_sides_still_give_a_threshold() -> None:
    proposal = propose(scores((0.5,), (0.5,)))
    assert proposal is not None
    assert 0 <= proposal.min_similarity <= 1


def test_without_any_score_nothing_is_proposed() -> None:
    assert propose(scores((), (0.1,))) is None


def test_queries_without_hits_have_no_score() -> None:
    unanswered = query("c").model_copy(update={"best_similarity": None})
    found = scores_of([query("a"), query("b", passed=False, negative=True), unanswered], [0.9, 0.8])
    assert (list(found.positive), list(found.negative), list(found.own)) == ([0.7], [0.1], [0.8, 0.9])
