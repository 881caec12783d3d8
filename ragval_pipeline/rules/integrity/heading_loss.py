"""Headings missing from the chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Headings of a page that none of its chunks has.

    Attributes:
        lost: How many there are.
        headings: The first of them.
        cut_chunks: Ids of chunks that are cut where content is lost; None: none.
    """

    lost: int
    headings: Sequence[str]
    cut_chunks: Sequence[str] | None = None

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        return f"lost: {names.value('headings', self.headings)}"


RULE = Rule(
    code="integrity.heading_loss",
    severity="warning",
    level="subject",
    group="integrity",
    subject_kind="page",
    action="chunker",
    title="Headings missing from the chunks",
    means="has headings that are in none of its chunks",
    many="have headings that are in none of their chunks",
    measured=(
        "Each heading of the page is searched for in the texts of its chunks, in their heading paths, and in "
        "other short texts of their payload."
    ),
    cause="The page was edited after ingestion, or the extraction removes headings.",
    remedy=(
        "Re-ingest the pages that have changed. If a page has not changed, keep its headings in the text or in "
        "the heading path first."
    ),
    breaks={Aspect.HEADINGS},
    reads={
        Aspect.FIELD,
        Aspect.PRESENCE,
        Aspect.PLACE,
        Aspect.VERSION,
        Aspect.TEXT,
        Aspect.CUT,
        Aspect.LETTERS,
    },
    fields=("source_url", "text", "headings", "title"),
    repair="complete",
    details=Details,
)
