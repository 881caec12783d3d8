"""What an ingestion puts before or after its chunks: a title, a source line, a summary of the document.

What lives here: a chunk's edges that its page does not have, and which of them are the ingestion's habit. What does
not: the class of a chunk (``classes``), which leaves habits out: they say nothing of the page.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ragval_pipeline.validation.integrity.folding import fold
from ragval_pipeline.validation.integrity.grams import runs_of
from ragval_pipeline.validation.integrity.match import Match
from ragval_pipeline.validation.integrity.results import ChunkResult, Edge, PageResult

#: Letters in one run that end an opening and begin a closing.
ANCHOR = 24
#: An edge is a habit when so many of all chunks have one that begins (ends) with the same word,
SAME_WORD = 0.2
#: or so many of the pages have a chunk with one: a line at the start of each page,
SAME_WORD_PAGES = 0.5
#: or so many chunks have one at all: a summary, each in other words.
ANY_WORD = 0.8
#: Fewer chunks, and pages, have no habits.
FEWEST = 4
_DIGITS = re.compile(r"\d+")


def edges_of(match: Match) -> tuple[Edge | None, Edge | None]:
    """Opening and closing of a chunk, null where the page has them."""
    if match.found is None or match.common is None:
        return None, None
    runs = runs_of(match.common)
    longest = max((end - start for start, end in runs), default=0)
    long = [(start, end) for start, end in runs if end - start >= min(ANCHOR, longest)]
    if not long:  # a chunk that has little of its own
        line = len(fold(match.text.shown.split("\n", 1)[0]))
        long = [(line, line)]
    return _edge(match, 0, long[0][0], outermost=0), _edge(match, long[-1][1], match.letters, outermost=-1)


def _edge(match: Match, start: int, end: int, *, outermost: int) -> Edge | None:
    assert match.found is not None
    missing = int((~match.found[start:end]).sum())
    if not missing:
        return None
    words = match.text.words_between(start, end)
    first, last = words[outermost]
    return Edge(_DIGITS.sub("", match.text.letters[first:last]), missing, match.changed_words(start, end))


@dataclass(frozen=True)
class Habits:
    """The edges that an ingestion adds to its chunks.

    Args:
        openings: Outermost words; null: whatever they are.
        closings: The same at the end.
    """

    openings: frozenset[str] | None = frozenset()
    closings: frozenset[str] | None = frozenset()

    @classmethod
    def of(cls, pages: Iterable[PageResult]) -> Habits:
        """The habits that the chunks of these pages show."""
        held = list(pages)
        chunks = sum(page.chunks for page in held)
        return cls(
            _habitual([(page.key, chunk.opening) for page in held for chunk in page.differing], chunks, len(held)),
            _habitual([(page.key, chunk.closing) for page in held for chunk in page.differing], chunks, len(held)),
        )

    def in_chunk(self, chunk: ChunkResult) -> list[Edge]:
        """The edges of a chunk that are habits."""
        pairs = ((chunk.opening, self.openings), (chunk.closing, self.closings))
        return [edge for edge, words in pairs if edge is not None and (words is None or edge.word in words)]


def _habitual(edges: list[tuple[str, Edge | None]], chunks: int, pages: int) -> frozenset[str] | None:
    counts: Counter[str] = Counter()
    on_pages: defaultdict[str, set[str]] = defaultdict(set)
    for key, edge in edges:
        if edge is not None:
            counts[edge.word] += 1
            on_pages[edge.word].add(key)
    if chunks >= FEWEST and counts.total() >= ANY_WORD * chunks:
        return None
    return frozenset(
        word
        for word, count in counts.items()
        if (count >= max(FEWEST, SAME_WORD * chunks)) or len(on_pages[word]) >= max(FEWEST, SAME_WORD_PAGES * pages)
    )
