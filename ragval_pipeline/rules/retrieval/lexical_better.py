"""Keyword search answers more questions."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Ranks of a query's page.

    Attributes:
        rank: By the suite's search; None: not among its hits.
        rank_by_words: By BM25.
        looked_at: Hits of the suite's search.
    """

    rank: int | None
    rank_by_words: int | None
    looked_at: int

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        own = f"your search at rank {self.rank}" if self.rank else f"not in {self.looked_at} hits of your search"
        return f"BM25 answers it at rank {self.rank_by_words}, {own}"


RULE = Rule(
    code="retrieval.lexical_better",
    severity="warning",
    level="corpus",
    group="queries",
    subject_kind="query",
    action="setting",
    title="Keyword search answers more questions",
    means="is answered by plain BM25 and not by your search",
    many="are answered by plain BM25 and not by your search",
    measured=(
        "BM25 is computed in memory over the stored texts and asked the same questions. A question is "
        "answered if every condition holds that it states, but for its score. The finding is reported if BM25 answers "
        "significantly more of them (paired permutation test), or at least three that the judged search does not."
    ),
    cause="The questions contain names, codes or identifiers that the embedding model does not tell apart.",
    remedy="Add a sparse vector and search both ways (hybrid), or choose a model that knows these words.",
    reads={Aspect.ANSWER},
    details=Details,
)
