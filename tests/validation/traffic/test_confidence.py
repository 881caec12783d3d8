from __future__ import annotations

import random

import numpy as np
import pytest

from ragval_pipeline.validation.traffic.confidence import SURE, Evidence, Observed, averaged, calibrate_confidence


def evidence(score: float, words: float) -> Evidence:
    """Evidence whose named and said words say the same as its words."""
    return Evidence(score, words, words / 2, words / 4)


def answered(rng: random.Random, count: int, *, known: bool | None = None) -> list[Observed]:
    """Questions with a page, and what they find without it."""
    return [
        Observed(
            evidence(rng.gauss(0.6, 0.06), min(1.0, rng.gauss(0.8, 0.12))),
            evidence(rng.gauss(0.38, 0.06), max(0.0, rng.gauss(0.35, 0.12))),
            known,
        )
        for _ in range(count)
    ]


def unanswered(rng: random.Random, count: int, *, known: bool | None = None) -> list[Observed]:
    return [
        Observed(
            evidence(rng.gauss(0.36, 0.06), max(0.0, rng.gauss(0.3, 0.12))),
            evidence(rng.gauss(0.34, 0.06), max(0.0, rng.gauss(0.28, 0.12))),
            known,
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize(("right", "wrong"), [(300, 15), (300, 3), (60, 60), (40, 160)])
def test_unanswered_questions_are_told_apart_whatever_their_share(right: int, wrong: int) -> None:
    rng = random.Random(3)
    good, bad = answered(rng, right), unanswered(rng, wrong)
    rule = calibrate_confidence([*good, *bad])
    assert rule is not None
    assert sum(rule.is_confident(each.best) for each in bad) <= 0.1 * wrong
    assert sum(not rule.is_confident(each.best) for each in good) <= 0.03 * right


def test_a_log_without_unanswered_questions_has_hardly_any() -> None:
    good = answered(random.Random(1), 500)
    rule = calibrate_confidence(good)
    assert rule is not None
    assert sum(not rule.is_confident(each.best) for each in good) <= 5


def test_a_score_that_is_always_the_same_decides_nothing() -> None:
    rng = random.Random(2)
    good, bad = (
        [Observed(each.best._replace(score=0.5), each.without and each.without._replace(score=0.5)) for each in some]
        for some in (answered(rng, 100), unanswered(rng, 20))
    )
    rule = calibrate_confidence([*good, *bad])
    assert rule is not None
    assert sum(rule.is_confident(each.best) for each in bad) <= 4
    assert sum(not rule.is_confident(each.best) for each in good) <= 8


def test_questions_whose_answer_is_known_decide_where_hardly_any_is_answered() -> None:
    rng = random.Random(4)
    bad = unanswered(rng, 200)
    rule = calibrate_confidence([*answered(rng, 30, known=True), *bad])
    assert rule is not None
    assert rule.known == 30
    assert sum(rule.is_confident(each.best) for each in bad) <= 20


def test_too_few_questions_teach_nothing() -> None:
    assert calibrate_confidence(answered(random.Random(5), 19)) is None


def test_most_unanswered_questions_are_as_good_as_certain_and_hardly_any_answered_one_is() -> None:
    rng = random.Random(6)
    good, bad = answered(rng, 300), unanswered(rng, 30)
    rule = calibrate_confidence([*good, *bad])
    assert rule is not None
    assert sum(rule.unanswered_probability(each.best) >= SURE for each in bad) >= 20
    assert sum(rule.unanswered_probability(each.best) >= SURE for each in good) <= 3


def test_the_evidence_of_questions_that_are_alike_is_averaged() -> None:
    one, other = evidence(0.6, 1.0), evidence(0.2, 0.0)
    observed = [Observed(one, other)] * 10 + [Observed(other, other)] * 10 + [Observed(other, None)]
    vectors = [np.array([1.0, 0.0])] * 10 + [np.array([0.0, 1.0])] * 10 + [None]
    # Those nearest say the same, and the last has no vector.
    alike = averaged(observed, vectors, [""] * 21)
    assert [each.best.score for each in alike] == pytest.approx([each.best.score for each in observed])
    mixed = averaged(observed, [np.array([1.0, 0.0])] * 20 + [None], [""] * 21)
    assert all(other.score < each.best.score <= one.score for each in mixed[:10])
    # Another filter is another index.
    apart = averaged(observed, [np.array([1.0, 0.0])] * 20 + [None], ["a"] * 10 + ["b"] * 10 + [""])
    assert apart[10].best.score == pytest.approx(other.score)
    assert averaged(observed, [None] * 21, [""] * 21) == observed
