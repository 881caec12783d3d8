from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.retrieval.repeats import determinism, unstable

Pairs = Sequence[tuple[str, float]]


def hits(pairs: Pairs) -> tuple[Hit, ...]:
    return tuple(Hit(rank, point_id, score) for rank, (point_id, score) in enumerate(pairs, 1))


def asked(first: Pairs, *again: Pairs, query_id: str = "q", error: str | None = None) -> Answer:
    return Answer(query_id, hits=hits(first), repeats=tuple(map(hits, again)), error=error)


BASE = [("a", 0.9), ("b", 0.8)]


@pytest.mark.parametrize(
    ("again", "same"),
    [
        (BASE, True),
        ([("a", 0.9000009), ("b", 0.7999991)], True),
        ([("a", 0.900002), ("b", 0.8)], False),
        ([("b", 0.9), ("a", 0.8)], False),
        ([("a", 0.9), ("c", 0.8)], False),
        ([("a", 0.9)], False),
        ([*BASE, ("c", 0.7)], False),
        ([], False),
        ([("a", math.nan), ("b", 0.8)], False),
    ],
)
def test_the_same_is_the_same_ids_order_and_scores(again: Pairs, same: bool) -> None:
    answers = [asked(BASE, BASE, again)]
    assert determinism(answers).value == float(same)
    assert len(unstable(answers)) == (not same)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_and_comes_again_is_no_difference(score: float) -> None:
    strange = [("a", score), ("b", 0.8)]
    answers = [asked(strange, [("a", float(str(score))), ("b", 0.8)])]
    assert (determinism(answers).value, unstable(answers)) == (1.0, [])
    assert determinism([asked(strange, BASE)]).value == 0.0


def test_the_share_is_over_queries_that_were_repeated() -> None:
    answers = [
        asked(BASE, BASE, query_id="same"),
        asked(BASE, [("a", 0.9), ("x", 0.8)], query_id="other"),
        asked(BASE, query_id="once"),
        asked([], [], query_id="nothing"),
        asked([], query_id="failed", error="gone"),
    ]
    value, [subject] = determinism(answers), unstable(answers)
    assert (value.numerator, value.denominator) == (1, 2)
    assert (subject.name, subject.details) == ("other", {"overlap": pytest.approx(1 / 3)})


def test_hits_that_come_only_the_second_time_are_a_difference() -> None:
    answers = [asked([], BASE)]
    assert determinism(answers).value == 0.0
    assert unstable(answers)[0].details == {"overlap": 0.0}


@pytest.mark.parametrize("answers", [[], [asked(BASE)], [asked([], [])]])
def test_two_empty_runs_are_not_deterministic_but_not_measured(answers: list[Answer]) -> None:
    value = determinism(answers)
    assert (value.value, value.reason_code, unstable(answers)) == (None, "no_data", [])
