"""What the pages say about suspicions that chunks alone raise.

What lives here: one pass over page copies that answers them. What does not: raising them (``stale_tail``,
``texts.boilerplate``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragval_pipeline.sources.page_copies.record import PageRecord
from ragval_pipeline.validation.chunks.stale_tail import Tail, needed_points
from ragval_pipeline.validation.texts.edges import Shared, Words
from ragval_pipeline.validation.texts.words import words_of


@dataclass
class PageEvidence:
    """Answers from the pages that were read.

    Args:
        needed: By page with an old tail, the points of the tail that it still needs.
        wordings: By page, the suspected wordings that its content has.
    """

    needed: dict[str, set[str]] = field(default_factory=dict)
    wordings: dict[str, set[Words]] = field(default_factory=dict)

    def in_content(self, page: str, words: Words) -> bool | None:
        """Whether the page's content has the words in this order; null when it was not read."""
        held = self.wordings.get(page)
        return None if held is None else words in held


def read_evidence(
    records: Iterable[PageRecord], tails: Iterable[Tail], texts: Mapping[str, str], suspected: Sequence[Shared]
) -> PageEvidence:
    """Look into every page that a suspicion is about.

    Args:
        records: The page copies.
        tails: Old ends of pages.
        texts: Text of the points of those pages, by point id.
        suspected: Wordings that may be furniture.
    """
    evidence = PageEvidence()
    tail_of = {tail.page: tail for tail in tails}
    asked = _by_page(suspected)
    for record in records:
        if not record.body:
            continue
        if record.page_key in tail_of:
            evidence.needed[record.page_key] = needed_points(tail_of[record.page_key], texts, record.body)
        if record.page_key in asked:
            content = f" {' '.join(words_of(record.main))} "
            evidence.wordings[record.page_key] = {
                words for words in asked[record.page_key] if f" {' '.join(words)} " in content
            }
    return evidence


def _by_page(suspected: Iterable[Shared]) -> dict[str, set[Words]]:
    asked: dict[str, set[Words]] = {}
    for shared in suspected:
        for page in shared.pages:
            asked.setdefault(page, set()).add(shared.words)
    return asked
