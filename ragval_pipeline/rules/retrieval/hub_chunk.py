"""Chunks that appear in too many results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import OF_TEXTS, OF_VECTORS, Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """How often a chunk is a result.

    Attributes:
        queries: Questions about other pages with it among their hits.
        of: Questions about other pages.
        expected: Number of the former expected by chance.
        unrelated: Effective number of unrelated ones among them.
        asked: Some of their texts.
    """

    queries: int
    of: int
    expected: float = 0.0
    unrelated: float = 0.0
    asked: Sequence[str] = ()

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        answered = f"answers {self.queries:,} of {self.of:,} questions"
        expected = f"about {self.expected:,.0f}" if self.expected >= 0.5 else "less than one"
        return f"{answered}, where {expected} would be expected"


RULE = Rule(
    code="retrieval.hub_chunk",
    severity="warning",
    level="corpus",
    group="queries",
    subject_kind="point",
    action="chunker",
    title="Chunks that appear in too many results",
    means="appears in the results of far too many unrelated queries",
    many="appear in the results of far too many unrelated queries",
    measured=(
        "Every page is searched for by its title, headings and words. A chunk is listed if it is among the "
        "hits of far more queries about other pages than expected by chance, and these queries have few words in "
        "common. This is information only if every vector of the index was compared with its text and fits."
    ),
    cause=(
        "The chunk is generic text, such as a licence or a table of contents, its vector belongs to another "
        "text, or the embedding model places it close to everything."
    ),
    remedy=(
        "Read the chunk. Leave generic text out of the index; re-embed the chunk if its vector belongs to another text."
    ),
    breaks={Aspect.PLACES},
    reads=OF_TEXTS | OF_VECTORS | {Aspect.VARIETY, Aspect.CURRENT, Aspect.COPIES, Aspect.DISTINCTION},
    fields=("title",),
    repair="delete",
    simulated_as="hubs",
    details=Details,
)
