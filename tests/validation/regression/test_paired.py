from __future__ import annotations

from itertools import product

import pytest

from ragval_pipeline.validation.regression.paired import (
    EXACT_UP_TO,
    drop_probability,
    fewest_pairs,
    holm,
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


def test_nothing_changed_is_no_drop() -> None:
    test = paired_test([0.5, 1.0, 0.0], [0.5, 1.0, 0.0])
    assert (test.delta, test.p, test.ties, test.effect_size) == (0.0, 1.0, 3, None)
    assert test.interval == (0.0, 0.0)


def test_a_gain_is_never_a_drop() -> None:
    assert paired_test([0.0] * 20, [1.0] * 20).p == 1.0


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


def test_holm_multiplies_the_smallest_by_all_and_never_turns_the_order() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(("metrics", "fewest"), [(1, 5), (2, 6), (3, 6)])
def test_below_the_fewest_pairs_even_a_collapse_is_chance(metrics: int, fewest: int) -> None:
    assert fewest_pairs(metrics) == fewest
    assert drop_probability([-1.0] * fewest)[0] * metrics <= 0.05
    assert drop_probability([-1.0] * (fewest - 1))[0] * metrics > 0.05
