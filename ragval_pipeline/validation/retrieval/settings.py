"""Retrieval settings of the suite, and the resulting queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragval_pipeline.sources.search.answers import Question
from ragval_pipeline.sources.stores.qdrant.facts import Distance
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.retrieval.conditions import Rules
from ragval_pipeline.validation.retrieval.hits import has_ground_truth


@dataclass(frozen=True)
class RetrievalSettings:
    """Retrieval settings of the suite.

    Attributes:
        rules: How hits are read and matched.
        judge: Conditions that decide, or None.
        ranks: The k of the page metrics.
        top_k: Hits per query, unless the query has its own.
        relevance_similarity: Score from which a hit counts as relevant.
        distance: Of the collection.
    """

    rules: Rules
    judge: tuple[str, ...] | None
    ranks: tuple[int, ...]
    top_k: int
    relevance_similarity: float
    distance: Distance = "Cosine"

    @property
    def depth(self) -> int:
        """Pages in a ranking: the maximum of all ranks and top_k."""
        return max((*self.ranks, self.top_k))


def questions_of(queries: Sequence[TestQuery], settings: RetrievalSettings) -> list[Question]:
    """The queries to run: page rankings are only needed with ground truth."""
    return [
        Question(
            query.id,
            query.query_text,
            query.top_k or settings.top_k,
            pages=settings.depth if has_ground_truth(query) else 0,
        )
        for query in queries
    ]
