from __future__ import annotations

import math
import random

import pytest

from ragval_pipeline.validation.latency import nearest_rank, summary


@pytest.mark.parametrize(
    ("number", "percent", "expected"),
    [(20, 95, 19), (20, 50, 10), (21, 95, 20), (1, 95, 1), (2, 50, 1), (100, 95, 95), (100, 100, 100), (3, 1, 1)],
)
def test_the_nearest_rank_is_a_value_that_was_measured(number: int, percent: float, expected: int) -> None:
    values = [float(value) for value in range(1, number + 1)]
    random.Random(number).shuffle(values)
    assert nearest_rank(values, percent) == expected


def test_at_least_the_asked_share_does_not_exceed_the_nearest_rank_and_no_smaller_value_does_that() -> None:
    rng = random.Random(4)
    for number in range(1, 60):
        values = [rng.random() for _ in range(number)]
        found = nearest_rank(values, 95)
        assert sum(value <= found for value in values) >= 0.95 * number - 1e-9
        assert sum(value < found for value in values) < 0.95 * number


def test_a_summary_of_nothing_has_no_figures() -> None:
    assert summary([]) == {"p50": None, "p95": None, "max": None, "n": 0}
    assert summary([2.0, 1.0]) == {"p50": 1.0, "p95": 2.0, "max": 2.0, "n": 2}
    assert not any(isinstance(value, float) and math.isnan(value) for value in summary([1.0]).values())
