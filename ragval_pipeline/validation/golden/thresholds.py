"""A threshold that was taken from another model: ``query.threshold_unfit``.

What lives here: holding the suite's ``min_similarity`` against the scores of right hits. What does not: proposing a
better one (``calibrate``).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.aspects import Aspect
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.regression.paired import fewest_pairs
from ragval_pipeline.validation.thresholds import MOST, ROUNDING


@dataclass(frozen=True)
class Scores:
    """Best scores of answers that are right by page, module or words, and of answers to negative queries."""

    right: Sequence[float]
    negative: Sequence[float]
    higher_is_better: bool = True

    def rejected(self, threshold: float) -> float:
        """Share of right answers below the threshold; 0 without any."""
        return _share([not self._reaches(score, threshold) for score in self.right])

    def admitted(self, threshold: float) -> float:
        """Share of negative answers that reach the threshold; 0 without any."""
        return _share([self._reaches(score, threshold) for score in self.negative])

    def _reaches(self, score: float, threshold: float) -> bool:
        return score >= threshold - ROUNDING if self.higher_is_better else score <= threshold + ROUNDING


def unfit_threshold(threshold: float, scores: Scores, used: Iterable[float] = ()) -> list[Finding]:
    """The finding when ``threshold`` turns down most right hits, or lets in most answers to negative queries.

    Args:
        threshold: What is judged.
        scores: What it is judged by.
        used: The thresholds of all queries: those that do the same are as unfit.
    """
    # Of fewer, even all of them may be on one side by chance.
    rejected = scores.rejected(threshold) if len(scores.right) >= fewest_pairs() else 0.0
    admitted = scores.admitted(threshold) if len(scores.negative) >= fewest_pairs() else 0.0
    if rejected <= MOST and admitted <= MOST:
        return []
    details = {
        "rejected": rejected,
        "admitted": admitted,
        "right": _quantiles(scores.right),
        "negative": _quantiles(scores.negative),
    }
    done = [
        f"would turn down {rejected:.0%} of {len(scores.right)} answers on the right page" if scores.right else "",
        f"would let in {admitted:.0%} of {len(scores.negative)} answers to negative queries" if scores.negative else "",
    ]
    message = f"The threshold {threshold:g} {' and '.join(filter(None, done))}."
    held = {Aspect.REACH: rejected <= MOST, Aspect.SELECTION: admitted <= MOST}
    without = frozenset(aspect for aspect, holds in held.items() if holds)
    measures = {Aspect.REACH: scores.rejected, Aspect.SELECTION: scores.admitted}
    broken = [measure for aspect, measure in measures.items() if aspect not in without]
    alike = tuple(sorted(value for value in set(used) if any(measure(value) > MOST for measure in broken)))
    subject = Subject(name=f"{threshold:g}", details=details, thresholds=alike, without=without)
    return [make_finding("query.threshold_unfit", [subject], message=message)]


def _quantiles(scores: Sequence[float]) -> dict[str, float] | None:
    if not scores:
        return None
    ordered = sorted(scores)
    return {
        "n": len(ordered),
        "min": ordered[0],
        "p10": ordered[int(0.10 * (len(ordered) - 1))],  # definition
        "median": statistics.median(ordered),
        "p90": ordered[int(0.90 * (len(ordered) - 1))],  # definition
        "max": ordered[-1],
    }


def _share(holds: Sequence[bool]) -> float:
    return sum(holds) / len(holds) if holds else 0.0
