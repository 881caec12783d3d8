"""Page content missing from the chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import PASSAGE, Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.numbers import show_percent
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """What of a page is in none of its chunks.

    Attributes:
        captured: Share of its letters that is, 0..1.
        lost: Number of passages that are not.
        lost_letters: Number of their letters.
        ends_early: Whether only the end of the page is lost.
        passages: The first of them.
        cut_chunks: Ids of chunks that are cut where content is lost; None: none.
    """

    captured: float
    lost: int
    lost_letters: int
    ends_early: bool
    passages: Sequence[dict[str, Any]]
    cut_chunks: Sequence[str] | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        passages = [shorten(passage["text"], PASSAGE) for passage in self.passages[:1]]
        quoted = f": “{passages[0]}”" if passages else ""
        return f"{show_percent(self.captured)} captured, {plural(self.lost, 'passage')} lost{quoted}"


RULE = Rule(
    code="integrity.not_captured",
    severity="error",
    level="subject",
    group="integrity",
    subject_kind="page",
    action="reingest",
    title="Page content missing from the chunks",
    means="has passages that are in none of its chunks",
    many="have passages that are in none of their chunks",
    measured=(
        "Each passage of the page's content is searched for in the chunks of that page. Menus, footers and "
        "very short blocks do not count as content, but consecutive short rows, items and pieces of code are counted "
        "together. What follows the end of a chunk within a passage counts as a passage of its own. A page is also "
        "reported if less than two thirds of its text is in its chunks."
    ),
    cause="The page was edited after ingestion, or the extraction or the chunker drops parts of it.",
    remedy=(
        "Re-ingest the pages that have changed. If a page has not changed, correct the extraction or the "
        "chunker first, because re-ingesting alone loses the same passages again. If the content is left out on "
        "purpose, change the severity of integrity.not_captured."
    ),
    breaks={Aspect.KEPT},
    reads={
        Aspect.FIELD,
        Aspect.PRESENCE,
        Aspect.PLACE,
        Aspect.VERSION,
        Aspect.HEADINGS,
        Aspect.TEXT,
        Aspect.CUT,
        Aspect.LETTERS,
    },
    fields=("source_url", "text"),
    lowers=("source_captured",),
    repair="complete",
    details=Details,
)
