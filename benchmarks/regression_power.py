"""``python -m benchmarks.regression_power``: how often the regression gate is wrong, and which drops it detects.

Two runs of the same queries are simulated many times and given to the gate's own test. Without a change between them
every alarm is a false one; with a drop, the share of alarms is the gate's power. ``--write`` puts the tables into
docs/evidence/regression-power.md.

A query keeps its outcome from run to run unless it is drawn anew, which happens to ``UNSTEADY`` of them: an index that
is ingested again gives most queries the same hits. A query whose relevant page is not in the top k fails, so that the
two metrics move together. A drop of d points takes the answer away from queries that have it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ragval_pipeline.validation.paired import ALPHA, drop_probabilities, drop_probability
from ragval_pipeline.validation.regression.compare import is_drop

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "regression-power.md"
SIZES = (15, 50, 500)
DROPS = (2, 4, 6, 8, 10, 12, 15, 20)
NULLS = 2_000
#: Share of queries that pass, and share of those without a change that are drawn anew.
PASSING, UNSTEADY = 0.90, 0.20
#: The number of queries at which the correction is compared with Holm's.
HOLM_AT = 50
#: nDCG of a query whose first relevant page is at rank 1, 2, 3, 4, 5, or not there, and how often that happens.
NDCG = (1.0, 0.631, 0.5, 0.431, 0.387, 0.0)
RANKS = (0.62, 0.15, 0.08, 0.05, 0.03, 0.07)


@dataclass(frozen=True)
class Rates:
    """Share of comparisons with an alarm: of either metric alone, of the two together, and of the gate.

    Attributes:
        passing: ``query_pass_rate`` alone, uncorrected, nothing tolerated.
        ndcg: ``ndcg_at_5`` alone, uncorrected, nothing tolerated.
        both: Either of them, corrected by max-T, nothing tolerated.
        gate: The same beyond a tolerated drop of 0.02: what ``no_regression`` does.
        by_holm: The gate if it corrected by Holm.
    """

    passing: float
    ndcg: float
    both: float
    gate: float
    by_holm: float


def rates(n: int, drop: float, times: int, rng: np.random.Generator) -> Rates:
    """Alarms in ``times`` comparisons of two runs of ``n`` queries, the second worse by ``drop`` (0..1)."""
    alarms = np.zeros(5)
    for _ in range(times):
        differences = _differences(n, drop, rng)
        probabilities = [drop_probability(values.tolist())[0] for values in differences]
        means = [float(values.mean()) for values in differences]
        adjusted, _ = drop_probabilities([values.tolist() for values in differences])
        alone = [is_drop(mean, p, 0.0) for mean, p in zip(means, probabilities, strict=True)]
        alarms += [
            *alone,
            any(is_drop(mean, p, 0.0) for mean, p in zip(means, adjusted, strict=True)),
            any(is_drop(mean, p, 0.02) for mean, p in zip(means, adjusted, strict=True)),
            any(is_drop(mean, p, 0.02) for mean, p in zip(means, _holm(probabilities), strict=True)),
        ]
    return Rates(*(alarms / times).tolist())


def _holm(probabilities: Sequence[float]) -> list[float]:
    """Two probabilities corrected for their number (Holm 1979), which needs no common swaps."""
    smallest = min(probabilities)
    return [min(1.0, max(p, 2 * smallest)) for p in probabilities]


def _differences(n: int, drop: float, rng: np.random.Generator) -> list[np.ndarray]:
    """What the two metrics of each query changed by."""
    worse, unsteady = rng.random(n), rng.random(n) < UNSTEADY
    values = np.array(NDCG)
    before, again = (values[rng.choice(len(NDCG), size=n, p=RANKS)] for _ in range(2))
    # Conditions other than the page fail some of the queries that find it.
    other, anew = (rng.random(n) < PASSING / (1 - RANKS[-1]) for _ in range(2))
    after = np.where(unsteady, again, before) * (worse >= drop / float(np.dot(NDCG, RANKS)))
    passed, now = (before > 0) & other, np.where(unsteady, anew, other) & (worse >= drop / PASSING) & (after > 0)
    return [now.astype(float) - passed.astype(float), after - before]


def false_alarms(times: int, rng: np.random.Generator) -> Iterator[str]:
    """The table of false alarms."""
    yield "| queries | query_pass_rate alone | ndcg_at_5 alone | both, max-T | the gate (tolerated drop 0.02) |"
    yield "|---:|---:|---:|---:|---:|"
    for n in SIZES:
        found = rates(n, 0.0, times, rng)
        cells = (f"{value:.1%}" for value in (found.passing, found.ndcg, found.both, found.gate))
        yield f"| {n} | {' | '.join(cells)} |"


def power(times: int, rng: np.random.Generator) -> Iterator[str]:
    """The table of power: alarms of the gate by size of the drop and number of queries."""
    yield f"| drop | {' | '.join(f'{n} queries' for n in SIZES)} | {HOLM_AT} queries, Holm instead |"
    yield f"|---:|{'---:|' * (len(SIZES) + 1)}"
    for drop in DROPS:
        found = {n: rates(n, drop / 100, times, rng) for n in SIZES}
        cells = (f"{value:.0%}" for value in (*(entry.gate for entry in found.values()), found[HOLM_AT].by_holm))
        yield f"| {drop} points | {' | '.join(cells)} |"


def page(nulls: int, times: int) -> str:
    """The page of the documentation."""
    rng, started = np.random.default_rng(20261120), time.monotonic()
    lines = [
        "# How far the regression gate can be trusted",
        "",
        "<!-- Written by: python -m benchmarks.regression_power --write -->",
        "",
        "`no_regression` fails when `query_pass_rate` or `ndcg_at_K` falls beyond chance (paired permutation test,",
        f"one-sided, alpha {ALPHA:g}, corrected for both by step-down max-T) and by more than",
        "`history.tolerated_drop`. These tables come from simulated runs judged by the gate's own code:",
        f"{PASSING:.0%} of the queries pass, and {UNSTEADY:.0%} of them are drawn again in the second run, as after an",
        "ingestion that changed some chunks. A query whose page is not found fails: the two metrics move together.",
        "",
        "## False alarms",
        "",
        f"{nulls:,} comparisons of two runs of the same quality for each number of queries. A permutation test of pass",
        "and fail is discrete, so it stays below its alpha; the correction keeps two tests from doubling it. Both",
        "metrics are permuted together, so their correlation costs no power. Each figure is accurate to about one",
        "point.",
        "",
        *false_alarms(nulls, rng),
        "",
        "## Drops that are detected",
        "",
        f"Share of {times:,} comparisons in which the gate fails when both metrics drop by so many points in the",
        "second run.",
        "",
        *power(times, rng),
        "",
        "In other words: with 15 queries the gate detects only a collapse. Set `critical: true` on queries that must",
        "not be lost, which needs no statistics; for the rest add queries with ground truth.",
        "",
    ]
    print(f"{time.monotonic() - started:.0f} s")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nulls", type=int, default=NULLS, help="comparisons without a change")
    parser.add_argument("--times", type=int, default=400, help="comparisons for each drop")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args(arguments)
    text = page(options.nulls, options.times)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
