"""The paired permutation test: whether the same queries score lower than before, beyond chance.

What lives here: the statistics of one metric, and the correction for several. What does not: which queries and which
metrics (``pairing``, ``series``). The test is Fisher's: under the null hypothesis each query's two values could as well
be swapped. It is the one that Smucker, Allan and Carterette (CIKM 2007) recommend for comparing rankings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: A drop counts as beyond chance below this probability, after Holm's correction.
ALPHA = 0.05
#: Up to so many pairs that differ, every one of the 2^n swaps is tried; beyond, ``RESAMPLES`` random ones.
EXACT_UP_TO = 13
RESAMPLES = 9_999
#: Differences below are rounding.
TIE = 1e-9
_SEED = 20070601
#: Values of one batch of resamples: 8 MB of floats.
_BATCH_VALUES = 1_000_000


@dataclass(frozen=True)
class PairedTest:
    """One metric before and after.

    Args:
        n: Queries that have both values.
        before: Mean before, 0..1.
        after: Mean now.
        delta: ``after - before``: below zero is worse.
        p: Probability of a drop at least as large if nothing had changed (one-sided).
        exact: Whether every swap was counted; else ``p`` comes from ``RESAMPLES`` random ones.
        interval: 95 % confidence interval of ``delta`` (percentile bootstrap); null below two queries.
        effect_size: ``delta`` in standard deviations of the differences (Cohen's d_z); null when they do not vary.
        wins: Queries that score higher now.
        ties: Queries that score the same.
        losses: Queries that score lower now.
    """

    n: int
    before: float
    after: float
    delta: float
    p: float
    exact: bool
    interval: tuple[float, float] | None
    effect_size: float | None
    wins: int
    ties: int
    losses: int


def paired_test(before: Sequence[float], after: Sequence[float]) -> PairedTest:
    """Compare the values of the same queries.

    Args:
        before: One value a query.
        after: The value of the same query now, in the same order.

    Raises:
        ValueError: There is no query, or not as many values on both sides.
    """
    if not before or len(before) != len(after):
        raise ValueError(f"{len(before)} values before and {len(after)} now make no pairs")
    differences = [new - old for old, new in zip(before, after, strict=True)]
    wins = sum(difference > TIE for difference in differences)
    losses = sum(difference < -TIE for difference in differences)
    p, exact = drop_probability(differences)
    return PairedTest(
        n=len(differences),
        before=math.fsum(before) / len(before),
        after=math.fsum(after) / len(after),
        delta=math.fsum(differences) / len(differences),
        p=p,
        exact=exact,
        interval=_interval(differences),
        effect_size=_effect_size(differences),
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
    )


def drop_probability(differences: Sequence[float]) -> tuple[float, bool]:
    """The one-sided p of the paired permutation test, and whether it is exact.

    Pairs without a difference change no swap's sum, so only the others are swapped. Where those are all of one size, as
    with queries that pass or fail, the swaps are coin tosses and the binomial distribution gives the exact answer.
    """
    from scipy import stats

    differing = [difference for difference in differences if abs(difference) > TIE]
    if not differing:
        return 1.0, True
    size = abs(differing[0])
    if all(abs(abs(difference) - size) <= TIE for difference in differing):
        losses = sum(difference < 0 for difference in differing)
        return float(stats.binomtest(losses, len(differing), 0.5, alternative="greater").pvalue), True
    return _permuted(differing)


def holm(probabilities: Sequence[float]) -> list[float]:
    """The probabilities corrected for their number (Holm 1979), in the same order."""
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    adjusted = [0.0] * len(probabilities)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min((len(order) - rank) * probabilities[index], 1.0))
        adjusted[index] = highest
    return adjusted


def fewest_pairs(metrics: int, alpha: float = ALPHA) -> int:
    """Queries below which no drop, not even of all of them, is beyond chance when ``metrics`` are tested at once."""
    return math.ceil(math.log2(max(metrics, 1) / alpha))


def _permuted(differing: Sequence[float]) -> tuple[float, bool]:
    import numpy as np
    from scipy import stats

    exact = len(differing) <= EXACT_UP_TO
    result = stats.permutation_test(
        (np.asarray(differing),),
        np.mean,
        permutation_type="samples",
        alternative="less",
        n_resamples=RESAMPLES,  # scipy tries every swap when there are fewer
        batch=max(_BATCH_VALUES // len(differing), 1),
        vectorized=True,
        rng=np.random.default_rng(_SEED),  # the same two runs always give the same answer
    )
    return float(result.pvalue), exact


def _interval(differences: Sequence[float]) -> tuple[float, float] | None:
    import numpy as np
    from scipy import stats

    if len(differences) < 2:
        return None
    if max(differences) - min(differences) <= TIE:
        return differences[0], differences[0]
    found = stats.bootstrap(
        (np.asarray(differences),),
        np.mean,
        method="percentile",
        batch=max(_BATCH_VALUES // len(differences), 1),
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return float(found.low), float(found.high)


def _effect_size(differences: Sequence[float]) -> float | None:
    if len(differences) < 2:
        return None
    mean = math.fsum(differences) / len(differences)
    variance = math.fsum((difference - mean) ** 2 for difference in differences) / (len(differences) - 1)
    return mean / math.sqrt(variance) if variance > TIE**2 else None
