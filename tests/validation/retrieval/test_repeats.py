from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from ragval_pipeline.sources.answers import Answer
from ragval_pipeline.sources.qdrant.reader import Hit
from ragval_pipeline.validation.retrieval.repeats import measure_determinism

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
    value, findings = measure_determinism([asked(BASE, BASE, again)])
    assert value.value == float(same)
    assert [finding.code for finding in findings] == ([] if same else ["retrieval.nondeterministic"])


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_and_comes_again_is_no_difference(score: float) -> None:
    strange = [("a", score), ("b", 0.8)]
    value, findings = measure_determinism([asked(strange, [("a", float(str(score))), ("b", 0.8)])])
    assert (value.value, findings) == (1.0, [])
    assert measure_determinism([asked(strange, BASE)])[0].value == 0.0


def test_the_share_is_over_queries_that_were_repeated() -> None:
    answers = [
        asked(BASE, BASE, query_id="same"),
        asked(BASE, [("a", 0.9), ("x", 0.8)], query_id="other"),
        asked(BASE, query_id="once"),
        asked([], [], query_id="nothing"),
        asked([], query_id="failed", error="gone"),
    ]
    value, [finding] = measure_determinism(answers)
    assert (value.numerator, value.denominator) == (1, 2)
    assert [subject.name for subject in finding.subjects] == ["other"]
    assert finding.subjects[0].details == {"overlap": pytest.approx(1 / 3)}


def test_hits_that_come_only_the_second_time_are_a_difference() -> None:
    value, [finding] = measure_determinism([asked([], BASE)])
    assert value.value == 0.0
    assert finding.subjects[0].details == {"overlap": 0.0}


@pytest.mark.parametrize("answers", [[], [asked(BASE)], [asked([], [])]])
def test_two_empty_runs_are_not_deterministic_but_not_measured(answers: list[Answer]) -> None:
    value, findings = measure_determinism(answers)
    assert (value.value, value.reason_code, findings) == (None, "no_data", [])
