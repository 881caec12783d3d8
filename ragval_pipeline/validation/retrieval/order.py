"""Are hits in the order of their scores, and are the scores such as the distance gives?

What lives here: ``retrieval.invalid_order``. What does not: asking again (``repeats``) and judging hits (``judge``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from ragval_pipeline.findings.model import Subject
from ragval_pipeline.sources.qdrant.facts import Distance
from ragval_pipeline.sources.qdrant.reader import Hit
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.retrieval.outcome import Outcome
from ragval_pipeline.validation.thresholds import ROUNDING

#: Lowest and highest score of a distance; a cosine of 1.00000006 is rounding. A dot product has no bounds, and yet
#: infinity and NaN are no score of any distance.
RANGES: dict[Distance, tuple[float, float]] = {
    "Cosine": (-1.0, 1.0),
    "Dot": (-math.inf, math.inf),
    "Euclid": (0.0, math.inf),
    "Manhattan": (0.0, math.inf),
}


@detector("retrieval.invalid_order", needs=Outcome)
def _disordered(outcome: Outcome) -> Iterator[Subject]:
    """Queries whose hits are not best first, or have impossible scores (seed 004)."""
    for answer in outcome.answers.values():
        problem = invalid_order(answer.hits, outcome.settings.distance)
        if problem is not None:
            yield Subject(name=answer.query_id, details=problem)


def invalid_order(hits: Sequence[Hit], distance: Distance) -> dict[str, Any] | None:
    """What is wrong with the scores of some hits; null when nothing is.

    Args:
        hits: As the server gave them, in its order.
        distance: Of the collection: by Euclid and Manhattan the lowest score is the best.
    """
    outside = [hit for hit in hits if not _is_possible(hit.score, distance)]
    if outside:
        return {"problem": "range", "rank": outside[0].rank, "score": _shown(outside[0].score), "distance": distance}
    sign = 1 if distance in {"Cosine", "Dot"} else -1
    for better, worse in pairwise(hits):
        if sign * worse.score > sign * better.score + ROUNDING:
            return {"problem": "order", "rank": worse.rank, "scores": [better.score, worse.score]}
    return None


def _is_possible(score: float, distance: Distance) -> bool:
    low, high = RANGES[distance]
    return math.isfinite(score) and low - ROUNDING <= score <= high + ROUNDING


def _shown(score: float) -> float | str:
    return score if math.isfinite(score) else str(score)
