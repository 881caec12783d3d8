"""The paired permutation test: whether the same queries score lower than before, beyond chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.text.numbers import TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Significance level, corrected for the number of metrics.
ALPHA = 0.05  # definition
#: Up to this many differing pairs all 2^n swaps are enumerated; above, ``RESAMPLES`` random ones.
EXACT_UP_TO = 13  # work
RESAMPLES = 9_999  # work
_SEED = 20070601  # work
#: Values of one batch of resamples: 8 MB of floats.
_BATCH_VALUES = 1_000_000  # work


@dataclass(frozen=True)
class PairedTest:
    """One metric before and after.

    Attributes:
        n: Queries with both values.
        before: Mean before, 0..1.
        after: Mean now.
        delta: ``after - before``: negative is worse.
        p: Probability of a drop at least as large under the null hypothesis (one-sided), for this metric alone.
        interval: 95 % confidence interval of ``delta`` (percentile bootstrap); None below two queries.
        effect_size: ``delta`` in standard deviations of the differences (Cohen's d_z); None if they do not vary.
        wins: Queries that score higher now.
        ties: Queries that score the same.
        losses: Queries that score lower now.
    """

    n: int
    before: float
    after: float
    delta: float
    p: float
    interval: tuple[float, float] | None
    effect_size: float | None
    wins: int
    ties: int
    losses: int


def paired_test(before: Sequence[float], after: Sequence[float]) -> PairedTest:
    """Compare the values of the same queries.

    Both have one value per query, in the same order.

    Raises:
        ValueError: There are no queries, or the lengths differ.
    """
    if not before or len(before) != len(after):
        raise ValueError(f"{len(before)} values before and {len(after)} now make no pairs")
    differences = [new - old for old, new in zip(before, after, strict=True)]
    wins = sum(difference > TOLERANCE for difference in differences)
    losses = sum(difference < -TOLERANCE for difference in differences)
    return PairedTest(
        n=len(differences),
        before=math.fsum(before) / len(before),
        after=math.fsum(after) / len(after),
        delta=math.fsum(differences) / len(differences),
        p=drop_probability(differences)[0],
        interval=_interval(differences),
        effect_size=_effect_size(differences),
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
    )


def drop_probability(differences: Sequence[float]) -> tuple[float, bool]:
    """The one-sided p-value of the paired permutation test, and whether it is exact.

    Pairs without a difference do not change any sum, so only the others are swapped. If all differences have the same
    size, as with pass and fail, the swaps are coin tosses and the binomial distribution is exact.
    """
    differing = [difference for difference in differences if abs(difference) > TOLERANCE]
    if not differing:
        return 1.0, True
    size = abs(differing[0])
    if all(abs(abs(difference) - size) <= TOLERANCE for difference in differing):
        losses = sum(difference < 0 for difference in differing)
        return _as_many_heads(losses, len(differing)), True
    swapped, [observed], exact = _swapped([differing])
    return _share_as_low(swapped[:, 0], observed, exact=exact), exact


def _as_many_heads(heads: int, tosses: int) -> float:
    """The probability of at least so many heads; exact, and without scipy, which takes a second to import."""
    ways = total = math.comb(tosses, heads)
    for count in range(heads, tosses):
        ways = ways * (tosses - count) // (count + 1)
        total += ways
    return float(total / 2**tosses)


def binary_interval(wins: int, ties: int, losses: int) -> tuple[float, float]:
    """95 % confidence interval of the mean difference of pairs that win, tie or lose by one (percentile bootstrap).

    Raises:
        ZeroDivisionError: There are no pairs.
    """
    pairs = wins + ties + losses
    drawn = np.random.default_rng(_SEED).multinomial(pairs, [wins / pairs, ties / pairs, losses / pairs], RESAMPLES)
    low, high = np.percentile((drawn[:, 0] - drawn[:, 2]) / pairs, (2.5, 97.5))  # definition
    return float(low), float(high)


def drop_probabilities(differences: Sequence[Sequence[float]]) -> tuple[list[float], bool]:
    """The one-sided p-value of each metric corrected for all of them (step-down max-T), and whether they are exact.

    A swap of a query swaps its values of all metrics. The smallest p-value is the share of swaps in which any metric
    falls as far as the one that fell farthest, each scaled by the root of its sum of squares, which swaps do not
    change. Each metric has one value per query, in the same order; 0 for a query without it.
    """
    adjusted = [1.0] * len(differences)
    moving = [at for at, column in enumerate(differences) if any(abs(value) > TOLERANCE for value in column)]
    if len(moving) < 2:
        probabilities = [drop_probability(differences[at]) for at in moving]
        for at, (p, _) in zip(moving, probabilities, strict=True):
            adjusted[at] = p
        return adjusted, all(exact for _, exact in probabilities)
    swapped, observed, exact = _swapped([differences[at] for at in moving])
    left = sorted(range(len(moving)), key=observed.__getitem__)
    highest = 0.0
    while left:
        farthest = left[0]
        highest = max(highest, _share_as_low(swapped[:, left].min(axis=1), observed[farthest], exact=exact))
        adjusted[moving[farthest]] = highest
        left.pop(0)
    return adjusted, exact


def fewest_pairs() -> int:
    """Number of queries below which no drop can be significant."""
    return math.ceil(-math.log2(ALPHA))


def _swapped(columns: Sequence[Sequence[float]]) -> tuple[NDArray[np.float64], list[float], bool]:
    """Scaled sums of each column, one row per swap; the observed ones; and whether all swaps are enumerated.

    All swaps for up to ``EXACT_UP_TO`` differing rows, else ``RESAMPLES`` random ones.
    """
    values = np.asarray(columns, dtype=np.float64).T
    values = values[(np.abs(values) > TOLERANCE).any(axis=1)]
    values = values / np.sqrt((values**2).sum(axis=0))
    pairs = len(values)
    exact = pairs <= EXACT_UP_TO
    if exact:
        bits = np.arange(2**pairs)[:, None] >> np.arange(pairs) & 1
        return (1.0 - 2.0 * bits) @ values, values.sum(axis=0).tolist(), exact
    rng = np.random.default_rng(_SEED)  # the same two runs always give the same result
    rows = max(_BATCH_VALUES // pairs, 1)
    sums = [
        (1.0 - 2.0 * rng.integers(0, 2, size=(min(rows, RESAMPLES - start), pairs))) @ values
        for start in range(0, RESAMPLES, rows)
    ]
    return np.concatenate(sums), values.sum(axis=0).tolist(), exact


def _share_as_low(sums: NDArray[np.float64], observed: float, *, exact: bool) -> float:
    """The share of swaps at least as low as the observed one, which is included."""
    count = int((sums <= observed + TOLERANCE).sum())
    return count / len(sums) if exact else (count + 1) / (len(sums) + 1)


def _interval(differences: Sequence[float]) -> tuple[float, float] | None:
    from scipy import stats

    if len(differences) < 2:
        return None
    if max(differences) - min(differences) <= TOLERANCE:
        return differences[0], differences[0]
    interval = stats.bootstrap(
        (np.asarray(differences),),
        np.mean,
        method="percentile",
        batch=max(_BATCH_VALUES // len(differences), 1),
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def _effect_size(differences: Sequence[float]) -> float | None:
    if len(differences) < 2:
        return None
    mean = math.fsum(differences) / len(differences)
    variance = math.fsum((difference - mean) ** 2 for difference in differences) / (len(differences) - 1)
    return mean / math.sqrt(variance) if variance > TOLERANCE**2 else None
