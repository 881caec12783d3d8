"""Thresholds for one index, proposed from its actual scores."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ragval_pipeline.text.numbers import TOLERANCE
from ragval_pipeline.text.printing import percent, plural
from ragval_pipeline.validation.paired import fewest_pairs
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.thresholds import FEW, MOST, ROUNDING

#: Granularity of a proposed threshold: coarse for readability, fine as the limit.
DIGITS = 2
_STEPS, _FINEST = 100, 1_000_000  # definition
#: Digits of a threshold if two do not separate, and rows of the table from 0 to 1.
_MOST_DIGITS, _SHOWN = 6, 20  # shown
#: The usual initial thresholds, which were meant for one embedder.
USUAL_THRESHOLDS = {0.70: "the usual min_similarity", 0.50: "the usual relevance_similarity"}  # definition


@dataclass(frozen=True)
class ErrorRates:
    """Error rates of a threshold on this index.

    Attributes:
        threshold: The threshold; scores at or above it pass.
        lost: Share of positive queries below it, 0..1, which fail if the score decides; None without any.
        let_through: Share of negative queries at or above it, 0..1; None without any.
        own_lost: Share of pages whose own title scores below it, 0..1; None without any.
        note: Name of the threshold, or empty.
    """

    threshold: float
    lost: float | None
    let_through: float | None
    own_lost: float | None
    note: str = ""


@dataclass(frozen=True)
class Proposal:
    """Two thresholds and their basis.

    Attributes:
        min_similarity: Minimum score of a query's best hit.
        relevance_similarity: Score from which a hit counts as relevant; at most ``min_similarity``.
        separation: AUC of positive against negative queries; None without both.
        table: Error rates at the proposed, the usual, the suite's and evenly spaced thresholds, in order.
        warnings: Caveats, one sentence each.
    """

    min_similarity: float
    relevance_similarity: float
    separation: float | None
    table: Sequence[ErrorRates]
    warnings: Sequence[str]


def propose(scores: Scores, *, current: dict[float, str] | None = None) -> Proposal | None:
    """Thresholds for the index of these scores; None without any positive query and any page.

    Args:
        scores: Cosine or dot product scores: higher is better.
        current: Thresholds in use, with their names, to be shown in the table.

    Returns:
        ``min_similarity`` minimises errors on both sides (Youden's J), in the middle of the optimal gap.
        ``relevance_similarity`` rejects 95 % of the negative queries and is not stricter than ``min_similarity``.
        Without negative queries both keep 95 % of what should pass.
    """
    answered = scores.answered
    if not answered:
        return None
    strict = _separating(answered, scores.negative) if scores.negative else _keeping(answered)
    loose = min(strict, _keeping_out(answered, scores.negative)) if scores.negative else strict
    marks = {**USUAL_THRESHOLDS, **(current or {}), loose: "proposed relevance_similarity"}
    marks[strict] = "proposed min_similarity" if strict != loose else "proposed for both"
    thresholds = sorted({*marks, *_evenly([*answered, *scores.negative, *scores.own])})
    return Proposal(
        min_similarity=strict,
        relevance_similarity=loose,
        separation=scores.separation,
        table=[error_rates(scores, threshold, marks.get(threshold, "")) for threshold in thresholds],
        warnings=list(_warnings(scores, strict)),
    )


def error_rates(scores: Scores, threshold: float, note: str = "") -> ErrorRates:
    """Error rates of a threshold."""
    return ErrorRates(
        threshold,
        lost=_below(scores.positive, threshold),
        let_through=None if not scores.negative else 1 - (_below(scores.negative, threshold) or 0.0),
        own_lost=_below(scores.own, threshold),
        note=note,
    )


def _below(ordered: Sequence[float], threshold: float) -> float | None:
    # A score equal to the threshold when printed counts as reaching it, as everywhere (tolerance 1e-6).
    return bisect_left(ordered, threshold - ROUNDING) / len(ordered) if ordered else None


def _separating(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The middle of the widest gap between neighbouring scores at which Youden's J is largest."""
    marks = sorted({*positive, *negative})
    edges = [(marks[0], marks[0]), *pairwise(marks)]

    def youden(edge: tuple[float, float]) -> float:
        # A threshold in a gap is equivalent to its upper edge.
        return bisect_left(negative, edge[1]) / len(negative) - bisect_left(positive, edge[1]) / len(positive)

    best = max(youden(edge) for edge in edges)
    widest = max((edge for edge in edges if youden(edge) >= best - TOLERANCE), key=lambda edge: edge[1] - edge[0])
    return _rounded_within(*widest)


def _rounded_within(low: float, high: float) -> float:
    """The middle of a gap with as few digits as possible, above ``low`` and not above ``high``."""
    middle = (low + high) / 2
    for digits in range(DIGITS, _MOST_DIGITS + 1):
        rounded = round(middle, digits)
        if low < rounded <= high:
            return rounded
    return math.floor(high * _FINEST) / _FINEST  # definition


def _keeping_out(answered: Sequence[float], negative: Sequence[float]) -> float:
    """The lowest threshold that at most ``FEW`` of the negative queries reach, in the middle of its gap."""
    allowed = math.floor(FEW * len(negative))
    highest = negative[len(negative) - 1 - allowed]
    above = min((score for score in (*answered, *negative) if score > highest), default=highest + 1 / _STEPS)
    return _rounded_within(highest, above)


def _keeping(answered: Sequence[float]) -> float:
    """The highest two-digit threshold that all but ``FEW`` of the scores reach."""
    lost = math.floor(FEW * len(answered) + TOLERANCE)
    return math.floor(answered[lost] * _STEPS) / _STEPS


def _evenly(scores: Iterable[float]) -> list[float]:
    """Thresholds at every 0.05 from below the lowest score to above the highest."""
    known = list(scores)
    first, last = math.floor(min(known) * _SHOWN), math.ceil(max(known) * _SHOWN)
    step = max((last - first) // _SHOWN, 1)  # dot product scores may have any range
    return [round(number / _SHOWN, 2) for number in range(first, last + 1, step)]


def _few(counted: str) -> str:
    return f"The thresholds rest on {counted}: a few more queries may change them a lot."


def _warnings(scores: Scores, strict: float) -> Iterable[str]:
    if scores.by_suite < scores.asked:
        yield (
            f"retrieval.min_similarity decides on {scores.by_suite:,} of the {scores.asked:,} queries: those without "
            "their own threshold that are negative or have no expectation, and, if retrieval.judge includes score, "
            "all without their own threshold. The others are judged by their expectations."
        )
    if not scores.positive:
        yield "There is no positive query with a hit: the pages' titles are used instead, and score higher."
    elif len(scores.positive) < fewest_pairs():
        yield _few(plural(len(scores.positive), "positive query"))
    if not scores.negative:
        yield (
            "There is no negative query: it is not known what a threshold has to reject. Add some with negative: true."
        )
    elif len(scores.negative) < fewest_pairs():
        yield _few(plural(len(scores.negative), "negative query"))
    # A threshold with few errors of either kind has at least this AUC.
    if scores.separation is not None and scores.separation < (1 - FEW) ** 2:
        yield (
            f"Scores hardly distinguish answerable from unanswerable queries (AUC {scores.separation:.2f}): "
            "no threshold works well."
        )
    usual = max(USUAL_THRESHOLDS)
    lost = error_rates(scores, usual).lost
    if lost is not None and lost > MOST and strict < usual:
        yield (
            f"{usual:.2f} would fail {percent(lost)} of the positive queries: it belongs to the score range of another "
            "embedder, and says nothing about this index."
        )


@dataclass(frozen=True)
class Scores:
    """Best scores of queries on one index, raw scores of the collection's distance, sorted.

    Attributes:
        positive: Of queries that the index should answer.
        negative: Of queries that it should not answer.
        own: Of pages found by their own title.
        asked: Queries of the run.
        by_suite: Those that ``retrieval.min_similarity`` decides on.
    """

    positive: Sequence[float]
    negative: Sequence[float]
    own: Sequence[float]
    asked: int = 0
    by_suite: int = 0

    @property
    def answered(self) -> list[float]:
        """Scores that should pass: the positive queries', or the pages' own if there are none."""
        return list(self.positive or self.own)

    @property
    def separation(self) -> float | None:
        """AUC: the probability that a positive query scores above a negative one, ties count half; or None."""
        if not self.answered or not self.negative:
            return None
        wins = sum((score > other) + (score == other) / 2 for score in self.answered for other in self.negative)
        return float(wins / (len(self.answered) * len(self.negative)))


def scores_of(queries: Iterable[QueryReport], own: Iterable[float]) -> Scores:
    """The scores of a run.

    Queries without hits are left out; ``own`` are the scores of pages found by their own title.
    """
    known = [(query, query.best_similarity) for query in queries]
    by_suite = [
        query
        for query, _ in known
        if query.held_to is not None
        and query.held_to.min_similarity is not None
        and query.query.get("min_similarity") is None
    ]
    return Scores(
        positive=sorted(score for query, score in known if score is not None and not _is_negative(query.query)),
        negative=sorted(score for query, score in known if score is not None and _is_negative(query.query)),
        own=sorted(own),
        asked=len(known),
        by_suite=len(by_suite),
    )


def _is_negative(query: Mapping[str, Any]) -> bool:
    return query.get("negative") is True
