"""The scores that thresholds are proposed from, by what they are scores of.

What lives here: the scores and what tells them apart. What does not: asking for them (``orchestration``) and proposing
thresholds (``propose``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.validation.report import QueryReport


@dataclass(frozen=True)
class Scores:
    """Best scores of queries on one index, raw as the collection's distance gives them, sorted.

    Args:
        positive: Of queries that the index ought to answer.
        negative: Of queries that it ought not to answer.
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
        """What ought to pass: the positive queries' scores, or the pages' own where there are no positive ones."""
        return list(self.positive or self.own)

    @property
    def separation(self) -> float | None:
        """AUC: the chance that a positive query scores above a negative one, ties as halves; null without both."""
        if not self.answered or not self.negative:
            return None
        wins = sum((score > other) + (score == other) / 2 for score in self.answered for other in self.negative)
        return float(wins / (len(self.answered) * len(self.negative)))


def scores_of(queries: Iterable[QueryReport], own: Iterable[float]) -> Scores:
    """The scores of a run.

    Args:
        queries: Its query results; one without hits has no score and is left out.
        own: Scores of pages found by their own title.
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
