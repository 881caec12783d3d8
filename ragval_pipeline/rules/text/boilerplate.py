"""Navigation or footer in the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """Text of a chunk from around the page's content.

    Attributes:
        phrases: The phrases.
        outside_content: Share of the chunk that is not of the page's content, 0..1.
    """

    phrases: Sequence[str] = ()
    outside_content: float = 0.0

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        return f"holds “{names.value('phrases', self.phrases)}”"


RULE = Rule(
    code="text.boilerplate",
    severity="warning",
    level="corpus",
    group="chunks",
    subject_kind="point",
    action="chunker",
    title="Navigation or footer in the texts",
    means="contains navigation, footer or other text around the page's content",
    many="contain navigation, footer or other text around the page's content",
    measured=(
        "Three kinds of evidence count: phrases typical of documentation themes, such as “Edit this page”, "
        "on several pages, or on any page with other words that its content does not have; phrases that begin or end "
        "the chunks of many pages but are not in the content of these pages; and chunks of several pages that begin or "
        "end alike and come mostly from outside the content of their page. Headings, and source lines that the "
        "ingestion adds to each chunk, never count."
    ),
    cause="Navigation, cookie or footer text was embedded with the content.",
    remedy="Extract the main content element only and re-ingest.",
    breaks={Aspect.FRAME, Aspect.DISTINCTION},
    lowers=("content_integrity",),
    error_share=0.5,
    repair="rewrite",
    keeps_words=True,
    details=Details,
)
