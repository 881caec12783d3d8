"""Leftovers of older page versions."""

from __future__ import annotations

from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import Names
from ragval_pipeline.rules.rule import Rule


class Details(NamedTuple):
    """When a chunk was embedded.

    Attributes:
        chunk_index: Its number on the page.
        checked_on_page: Whether the page was read, and does not have its text.
        embedded_at: None: not stored.
        page_embedded_at: The rest of its page.
    """

    chunk_index: int
    checked_on_page: bool
    embedded_at: str | None = None
    page_embedded_at: str | None = None

    def note(self, _: Names) -> str:
        """As a sentence without full stop."""
        return f"embedded {self.embedded_at}, the rest of its page {self.page_embedded_at}" if self.embedded_at else ""


RULE = Rule(
    code="chunk.stale_tail",
    severity="warning",
    level="subject",
    group="chunks",
    subject_kind="point",
    action="delete",
    title="Leftovers of older page versions",
    means="is left from a longer, older version of its page",
    many="are left from longer, older versions of their pages",
    measured=(
        "The last chunks of a page are reported if they were embedded before all chunks in front of them "
        "and their text is no longer on the page. Without embedding times the page alone decides: the chunks before "
        "them include its end, and they are gone from it or go back on it. Texts from other pages are reported as "
        "integrity.gone instead."
    ),
    cause="The page became shorter, or was split into fewer chunks, and the last old points were not deleted.",
    remedy="Delete these points. In future, delete a page's points before re-ingesting it.",
    breaks={Aspect.CURRENT},
    reads={Aspect.ONCE, Aspect.LETTERS},
    repair="delete",
    details=Details,
)
