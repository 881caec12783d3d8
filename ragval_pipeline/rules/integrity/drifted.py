"""Texts that differ from their page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import PASSAGE, Names
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.text.display import shorten
from ragval_pipeline.text.numbers import show_percent
from ragval_pipeline.text.printing import plural


class Details(NamedTuple):
    """How the text of a chunk differs from its page.

    Attributes:
        coverage: Share of it that is on the page, 0..1.
        words: Number of its words.
        changed_words: Number of its words that differ.
        replaced: Words that the page has otherwise, if it drifted.
        inserted: Words that the page has not, if it drifted.
        stands_on: The page of the site that has the text, if it is gone.
        missing_there: Whether the page that has the text lacks it in its chunks.
        page_is_whole: Whether the other chunks of its page have all of it, if it is gone.
    """

    coverage: float
    words: int
    changed_words: int
    replaced: Sequence[dict[str, str]] | None = None
    inserted: Sequence[str] | None = None
    stands_on: str | None = None
    missing_there: bool | None = None
    page_is_whole: bool | None = None

    def note(self, names: Names) -> str:
        """As a sentence without full stop."""
        sentence = f"{show_percent(self.coverage)} of it is on the page"
        if self.stands_on:
            return f"{sentence}; its text is from {names.page(self.stands_on)}"
        count = self.changed_words
        if self.words:
            sentence = f"{sentence}, {count:,} of {plural(self.words, 'word')} {'differs' if count == 1 else 'differ'}"
        such_as = ", such as" if count and count > 1 else ":"
        if self.replaced:
            words, page = (shorten(self.replaced[0][name], PASSAGE) for name in ("words", "page"))
            return (
                f"{sentence}{such_as} “{words}”, where it has “{page}”"
                if words
                else f"{sentence}, but “{page}” is missing in a line"
            )
        return (
            f"{sentence}{such_as} “{shorten(self.inserted[0], PASSAGE)}”, which it does not have"
            if self.inserted
            else sentence
        )


SQL = """
select point_id as name, page_key as page, url as page_url, round_even(found / letters, 4) as coverage, words,
  changed as changed_words, replaced[:$SHOWN] as replaced, inserted[:$SHOWN] as inserted,
  1 - found / letters as _extent, case when words > 0 then changed end as _words, "current" as _current,
  case when not is_whole then ['COPIES'] end as _without
from judged_chunks join chunks using (point_id, page_key) join judged_pages using (page_key)
where class = 'drifted'
"""

RULE = Rule(
    code="integrity.drifted",
    severity="error",
    level="subject",
    group="integrity",
    subject_kind="point",
    action="reingest",
    title="Texts that differ from their page",
    means="differs from its page",
    many="differ from their pages",
    measured=(
        "Each chunk is aligned with its page. It differs if the page has another word or number somewhere "
        "between two of its pieces, if it lacks words within a line of the page or letters within a word, or if too "
        "many of its letters are not on the page. What it leaves out between lines is no difference."
    ),
    cause="The page was edited after ingestion, or the extraction changes text.",
    remedy=(
        "Re-ingest the pages that have changed. If a page has not changed, correct the extraction first, "
        "because re-ingesting alone stores the same text again."
    ),
    breaks={Aspect.TEXT},
    reads={
        Aspect.VARIETY,
        Aspect.CURRENT,
        Aspect.LATEST,
        Aspect.VERSION,
        Aspect.LETTERS,
        Aspect.FRAME,
        Aspect.TEXT,
    },
    fields=("source_url",),
    lowers=("content_integrity",),
    repair="rewrite",
    details=Details,
    sql=SQL,
)
