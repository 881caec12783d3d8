from __future__ import annotations

import math
from itertools import product

import pytest

from ragval_pipeline.validation.paired import (
    EXACT_UP_TO,
    drop_probabilities,
    drop_probability,
    fewest_pairs,
    paired_test,
)


def by_hand(differences: list[float]) -> float:
    """Every swap counted: how often the sum is as low as it is."""
    observed = sum(differences)
    sums = [
        sum(sign * value for sign, value in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(value <= observed + 1e-12 for value in sums) / len(sums)


@pytest.mark.parametrize(
    "differences",
    [
        [-1.0] * 5,
        [-1.0, -1.0, -1.0, 1.0, 0.0, 0.0],
        [-0.5, 0.2, -0.3, 0.1, 0.0],
        [0.3, 0.2, -0.1],
        [-0.369, -0.5, -0.569, 0.131, -0.369, -1.0, 0.2],
    ],
)
def test_a_small_test_counts_every_swap(differences: list[float]) -> None:
    p, exact = drop_probability(differences)
    assert exact
    assert p == pytest.approx(by_hand(differences), abs=1e-12)


def test_five_queries_that_all_fail_now_are_beyond_chance() -> None:
    assert drop_probability([-1.0] * 5)[0] == pytest.approx(1 / 32)


def test_many_passes_and_failures_are_exact_as_well() -> None:
    p, exact = drop_probability([-1.0] * 60 + [1.0] * 40 + [0.0] * 900)
    assert exact
    assert p == pytest.approx(0.0284, abs=1e-4)  # the upper tail of 60 heads in 100 tosses


def test_many_different_values_are_resampled_and_give_the_same_answer_each_time() -> None:
    differences = [-0.01 * (number % 7) + 0.012 for number in range(EXACT_UP_TO * 4)]
    first, exact = drop_probability(differences)
    assert not exact
    assert first == drop_probability(differences)[0]
    assert 0 < first < 0.05


def test_rounding_is_a_tie() -> None:
    test = paired_test([0.1 + 0.2], [0.3])
    assert (test.wins, test.ties, test.losses, test.p) == (0, 1, 0, 1.0)


def test_the_interval_holds_the_difference_and_the_effect_its_direction() -> None:
    test = paired_test([1.0] * 20, [1.0] * 14 + [0.0] * 6)
    assert test.interval is not None
    assert test.interval[0] < test.delta < test.interval[1] < 0
    assert test.effect_size == pytest.approx(-0.3 / (20 * 0.3 * 0.7 / 19) ** 0.5)


def test_values_without_partners_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        paired_test([1.0], [])


def test_metrics_that_share_their_swaps_are_counted_by_hand() -> None:
    """Step-down max-T: each swap swaps both metrics of a query; the second is held to itself alone."""
    passing, ranking = [-1.0, -1.0, 0.0, -1.0, 1.0], [-0.5, -0.2, -0.3, -0.4, 0.0]
    adjusted, exact = drop_probabilities([passing, ranking])
    scaled = [[value / math.dist(column, [0] * 5) for value in column] for column in (passing, ranking)]
    seen = [sum(column) for column in scaled]
    lowest = []
    for signs in product((1, -1), repeat=5):
        sums = [sum(sign * value for sign, value in zip(signs, column, strict=True)) for column in scaled]
        lowest.append((min(sums), sums[0]))
    assert exact
    assert seen[1] < seen[0]
    first = sum(low <= seen[1] + 1e-12 for low, _ in lowest) / 32
    assert adjusted == pytest.approx([max(first, sum(own <= seen[0] + 1e-12 for _, own in lowest) / 32), first])


def test_metrics_that_fall_together_cost_nothing() -> None:
    """Holm would double the p of either."""
    fallen = [-1.0] * 5
    assert drop_probabilities([fallen, [-0.4] * 5]) == ([1 / 32, 1 / 32], True)
    assert drop_probabilities([fallen, [0.0] * 5]) == ([pytest.approx(1 / 32), 1.0], True)
    assert drop_probabilities([]) == ([], True)


def test_many_queries_are_resampled_and_no_corrected_p_is_below_what_one_test_gives() -> None:
    passing = [-1.0] * 12 + [1.0] * 4 + [0.0] * 40
    ranking = [-0.01 * (number % 7) + 0.01 for number in range(56)]
    adjusted, exact = drop_probabilities([passing, ranking])
    assert not exact
    assert drop_probabilities([passing, ranking])[0] == adjusted
    for p, alone in zip(adjusted, (drop_probability(passing)[0], drop_probability(ranking)[0]), strict=True):
        assert alone - 0.005 < p <= 2 * alone + 0.005


def test_below_the_fewest_pairs_even_a_collapse_is_chance() -> None:
    assert drop_probability([-1.0] * fewest_pairs())[0] <= 0.05
    assert drop_probability([-1.0] * (fewest_pairs() - 1))[0] > 0.05
