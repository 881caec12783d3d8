"""Nearly the same text on another page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.numbers import show_percent


class Details(NamedTuple):
    """Points with nearly the text of this one.

    Attributes:
        others: Their ids.
        similarity: Of the most similar one, 0..1.
    """

    others: Sequence[str]
    similarity: float

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        return f"{show_percent(self.similarity)} like {names.value('others', self.others)}"


RULE = Rule(
    code="chunk.near_duplicate",
    severity="info",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="site",
    title="Nearly the same text on another page",
    means="has nearly the same text as a point of another page",
    many="have nearly the same text as a point of another page",
    measured=(
        "Texts of different pages are compared by the share of three-word sequences they have in common "
        "(Jaccard similarity). MinHash finds candidates; each pair is then compared exactly."
    ),
    cause="Pages repeat each other, or two versions of a page are indexed.",
    remedy="Keep one of the pages, or accept that they compete for the same ranks.",
    breaks={Aspect.COPIES},
    reads={Aspect.FIELD, Aspect.LISTED, Aspect.PLACE, Aspect.FRAME, Aspect.LETTERS},
    fields=("source_url", "text"),
    repair="copies",
    details=Details,
)
