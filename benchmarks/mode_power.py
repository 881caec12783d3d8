"""``python -m benchmarks.mode_power``: which differences between two ways to search the paired test shows.

Two ways answer the same questions, many times, and the report's own test compares them. Each way alone answers some of
the questions that the other one misses: of two equally good ones, half of these each. A difference of d points gives
one of them d points more. ``--write`` puts the tables into docs/evidence/mode-power.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ragval_pipeline.validation.paired import ALPHA, drop_probability, fewest_pairs
from ragval_pipeline.validation.thresholds import ONLY_BY_WORDS

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "mode-power.md"
SIZES = (20, 50, 100, 500)
DIFFERENCES = (2, 5, 10, 15, 20, 30)
#: Share of the questions that only one of two equally good ways answers.
APART = (0.05, 0.10, 0.20, 0.40)
TIMES = 4_000


@cache
def probability(won: int, lost: int) -> float:
    """The report's p for a way that alone answers ``won`` questions, and misses ``lost`` of the judged way's."""
    return drop_probability([-1.0] * won + [1.0] * lost)[0]


def outcomes(n: int, apart: float, difference: float, times: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Questions that only the other way answers, and that only the judged one does, in ``times`` comparisons."""
    by_other, by_judged = apart / 2 + difference, apart / 2
    drawn = rng.multinomial(n, [by_other, by_judged, 1 - by_other - by_judged], times)
    return [(int(won), int(lost)) for won, lost, _ in drawn]


def significant(found: Sequence[tuple[int, int]]) -> float:
    """The share of comparisons in which the paired test calls the other way better."""
    return sum(probability(*each) <= ALPHA for each in found) / len(found)


def by_number(found: Sequence[tuple[int, int]]) -> float:
    """The share in which the other way alone answers as many questions as ``retrieval.lexical_better`` always names."""
    return sum(won >= ONLY_BY_WORDS for won, _ in found) / len(found)


def without_difference(times: int, rng: np.random.Generator) -> Iterator[str]:
    """The table of two equally good ways."""
    yield "| answered by one way alone | " + " | ".join(f"{n} questions" for n in SIZES) + " |"
    yield f"|---:|{'---:|' * len(SIZES)}"
    for apart in APART:
        found = [outcomes(n, apart, 0.0, times, rng) for n in SIZES]
        cells = (f"{significant(each):.1%} / {by_number(each):.0%}" for each in found)
        yield f"| {apart:.0%} | {' | '.join(cells)} |"


def with_difference(apart: float, times: int, rng: np.random.Generator) -> Iterator[str]:
    """The table of power."""
    yield f"| better by | {' | '.join(f'{n} questions' for n in SIZES)} |"
    yield f"|---:|{'---:|' * len(SIZES)}"
    for points in DIFFERENCES:
        found = (outcomes(n, apart, points / 100, times, rng) for n in SIZES)
        yield f"| {points} points | {' | '.join(f'{significant(each):.0%}' for each in found)} |"


_PAGE = """\
# Which differences between ways to search can be seen

<!-- Written by: python -m benchmarks.mode_power --write -->

The report compares each way of `retrieval.also` with the judged one on the same questions: a paired test, exact and
one-sided, alpha {alpha:g}. The tables come from {times:,} simulated comparisons for each cell, judged by the report's
own test.

## Two equally good ways

Share of the comparisons in which the test calls the other way better although it is not, and after the stroke, in
which it alone answers {named} questions or more.

{equal}

The test stays below its alpha. With many questions, each way alone answers some: that BM25 does is no sign that it is
better. `retrieval.lexical_better` names the questions from {named} on all the same, since each is one that your texts
answer and your search does not; its cause gives p, and how many only your search answers.

## A way that is better

Share of the comparisons in which the test says so, where each way alone answers {usual:.0%} of the questions anyway.

{better}

Below {fewest} questions nothing can be significant. With 20 questions even a difference of 30 points is often missed:
read the questions one by one. To choose between two ways that differ by ten points ask several hundred, or take an
interval that has zero in it for "not known", never for "equal".
"""


def page(times: int) -> str:
    """The page of the documentation."""
    rng, usual = np.random.default_rng(20261129), APART[1]
    return _PAGE.format(
        alpha=ALPHA,
        times=times,
        named=ONLY_BY_WORDS,
        equal="\n".join(without_difference(times, rng)),
        usual=usual / 2,
        better="\n".join(with_difference(usual, times, rng)),
        fewest=fewest_pairs(),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=TIMES, help="comparisons for each cell")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args(arguments)
    text = page(options.times)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
