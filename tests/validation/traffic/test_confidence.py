from __future__ import annotations

import random

import pytest

from ragval_pipeline.validation.traffic.confidence import Evidence, Observed, calibrate_confidence


def answered(rng: random.Random, count: int, *, known: bool | None = None) -> list[Observed]:
    """Questions with a page, and what they find without it."""
    return [
        Observed(
            Evidence(rng.gauss(0.6, 0.06), min(1.0, rng.gauss(0.8, 0.12))),
            Evidence(rng.gauss(0.38, 0.06), max(0.0, rng.gauss(0.35, 0.12))),
            known,
        )
        for _ in range(count)
    ]


def unanswered(rng: random.Random, count: int, *, known: bool | None = None) -> list[Observed]:
    return [
        Observed(
            Evidence(rng.gauss(0.36, 0.06), max(0.0, rng.gauss(0.3, 0.12))),
            Evidence(rng.gauss(0.34, 0.06), max(0.0, rng.gauss(0.28, 0.12))),
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
