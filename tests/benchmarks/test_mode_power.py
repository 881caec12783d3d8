from __future__ import annotations

import numpy as np

from benchmarks.mode_power import outcomes, probability, significant
from ragval_pipeline.validation.paired import ALPHA


def test_the_test_between_ways_stays_below_its_alpha_and_sees_large_differences() -> None:
    rng = np.random.default_rng(1)
    assert significant(outcomes(100, 0.2, 0.0, 1_000, rng)) <= ALPHA
    assert significant(outcomes(100, 0.1, 0.3, 200, rng)) > 0.99


def test_the_probability_is_that_of_as_many_heads() -> None:
    assert probability(5, 0) == 1 / 32
    assert probability(2, 2) == 11 / 16
