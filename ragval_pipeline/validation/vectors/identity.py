"""Was the collection embedded with the model that queries are embedded with, and all of it?

What lives here: the decision between no finding, ``vector.model_mismatch`` and ``vector.mixed_models``, from what
``populations`` sorted and ``trials`` tried. What does not: swapped and copied vectors, which are left out before.

The rules, of all compared points:

- mixed: at least ``POPULATION`` of another space (and ``FEWEST`` points) beside as many that belong, with a gap
  between; or as many off ones that a model name or a day of embedding separates from the rest;
- mismatch: two thirds or more off, or fewer when one way of embedding explains those that are off and those that
  match.

Between them nothing is claimed: where half of the texts were changed by hand, half of the vectors are off, and none of
them is of another model. The criterion ``embedding_match`` says how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ragval_pipeline.validation.vectors.pairs import Pairs
from ragval_pipeline.validation.vectors.populations import Populations, unrelated_below
from ragval_pipeline.validation.vectors.trials import Trial

#: A population: this share of the compared points, and this many.
POPULATION, FEWEST = 0.05, 3
#: Share of points that are off from which the collection as a whole is off.
MOST = 2 / 3
#: Between the cosines of another model's points and those of the rest (highest and lowest tenth aside).
GAP = 0.3
#: Median cosine from which vectors are of the same model, given another text or input type.
SAME_MODEL = 0.8

Kind = Literal["another_model", "input_type", "preprocessing", "truncation", "unclear"]
_KINDS: Mapping[str, Kind] = {
    "added": "preprocessing", "instructed": "preprocessing", "cleaned": "preprocessing", "input_type": "input_type",
    "truncated": "truncation",
}  # fmt: skip
#: Ways that explain an index also when most points match: they change what a text says.
_TELLING = frozenset({"added", "instructed", "input_type", "truncated"})


@dataclass(frozen=True)
class Decision:
    """What the compared points say of the collection.

    Args:
        mismatch: Why the collection as a whole is off; null when it is not.
        mixed: Points of another model than the rest, which may be off as a whole; empty when there is no such part.
        median: Median cosine of the points that are off, those of another model's part aside; null without any.
        best: The way of embedding that comes closest, when ways were tried for what is named.
        split: What separates the mixed points from the rest, as ``explain_split`` says.
    """

    mismatch: Kind | None = None
    mixed: tuple[str, ...] = ()
    median: float | None = None
    best: Trial | None = None
    split: Mapping[str, Any] | None = None


def worth_trying(populations: Populations) -> bool:
    """Whether enough vectors are related to their texts and off to try what was embedded instead."""
    return _is_population(len(populations.related), populations.total)


def decide(
    pairs: Pairs, populations: Populations, trials: Sequence[Trial], splits: Mapping[str, Mapping[str, Any] | None]
) -> Decision:
    """Decide.

    Args:
        pairs: The compared points.
        populations: The same, sorted.
        trials: Ways of embedding, the closest first; empty when none was tried.
        splits: What separates the ``foreign`` and the ``related`` points from the rest, by these names.
    """
    if _is_part(pairs, populations):
        # The rest may be off as a whole besides.
        rest = _decide_as_one(pairs, replace(populations, foreign=()), trials, splits)
        whole = Decision(median=rest.median) if rest.mismatch is None else rest
        return replace(whole, mixed=populations.foreign, split=splits.get("foreign"))
    if _is_most(len(populations.foreign), populations.total):
        return Decision("another_model", median=_median(pairs, _off(populations)))
    return _decide_as_one(pairs, populations, trials, splits)


def _decide_as_one(
    pairs: Pairs, populations: Populations, trials: Sequence[Trial], splits: Mapping[str, Mapping[str, Any] | None]
) -> Decision:
    """Decide on points of which no part is of another space."""
    total, off = populations.total, _off(populations)
    if total < FEWEST or not off:
        return Decision()
    median, best = _median(pairs, off), trials[0] if trials else None
    most = _is_most(len(off), total)
    explaining = next((trial for trial in trials if trial.explains and (most or _explains_all(trial))), None)
    if explaining is not None:
        return Decision(_KINDS[explaining.kind], median=median, best=explaining)
    if _is_population(len(populations.related), total) and _is_population(len(populations.matching), total):
        split = splits.get("related")
        if split is not None and split["by"] != "id":
            return Decision(mixed=populations.related, median=median, best=best, split=split)
    if _is_most(len(populations.related) + len(populations.foreign), total):
        return Decision(_kind_of(median, unrelated_below(pairs)), median=median, best=best)
    return Decision(median=median, best=best)


def _is_part(pairs: Pairs, populations: Populations) -> bool:
    """Whether the points of another space are a part beside others that belong."""
    belonging = [*populations.matching, *populations.related]
    total = populations.total
    both = _is_population(len(populations.foreign), total) and _is_population(len(belonging), total)
    return both and _apart(pairs, populations.foreign, belonging)


def _off(populations: Populations) -> list[str]:
    return [*populations.related, *populations.foreign, *populations.stray]


def _explains_all(trial: Trial) -> bool:
    return trial.keeps and trial.kind in _TELLING


def _is_population(count: int, total: int) -> bool:
    return count >= FEWEST and count >= POPULATION * total


def _is_most(count: int, total: int) -> bool:
    return count >= FEWEST and count >= MOST * total


def _apart(pairs: Pairs, foreign: Sequence[str], belonging: Sequence[str]) -> bool:
    import numpy as np

    cosines = pairs.cosines()
    high = np.percentile([cosines[name] for name in foreign], 90)
    low = np.percentile([cosines[name] for name in belonging], 10)
    return bool(low - high >= GAP)


def _kind_of(median: float, unrelated: float) -> Kind:
    if median <= unrelated:
        return "another_model"
    return "preprocessing" if median >= SAME_MODEL else "unclear"


def _median(pairs: Pairs, ids: Sequence[str]) -> float:
    import numpy as np

    cosines = pairs.cosines()
    return float(np.median([cosines[name] for name in ids]))
