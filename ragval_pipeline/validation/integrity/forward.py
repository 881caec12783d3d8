"""A chunk in its page: how many of its letters stand there.

What lives here: the match of one chunk. What does not: what a match means for the index (``classes``) and the way back
from page to chunks (``backward``).

The chunk is looked for in the whole page. Most chunks stand there letter for letter; for the others the letters in
common runs count (``grams``), then what such runs are too long to see: short lines, cells and labels that stand on the
page as they are, and words between two matching stretches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from ragval_pipeline.validation.integrity.folding import FoldedText, without_markup, word_text, words_of
from ragval_pipeline.validation.integrity.grams import SIZE, runs_of
from ragval_pipeline.validation.integrity.page_side import PageSide

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Letters before and after a difference that its place on the page is found by.
CONTEXT = 32
#: A stretch of more letters than this between two matching ones is another text, not one with some words changed.
LONGEST_GAP = 160
#: Words that a line, cell or label may have to be looked for as a whole.
LABEL_WORDS = 12
_LABELS = re.compile(r"[^\n\t|>»›/·•:–—]+")


@dataclass(frozen=True)
class Match:
    """How a chunk stands on its page.

    Args:
        chunk: The chunk, Markdown's markup taken out where that helps.
        found: Which of its letters stand on the page; null: all of them.
        added: Stretches of letters that the page does not have, at places where it goes on without a gap.
    """

    chunk: FoldedText
    found: npt.NDArray[np.bool_] | None = None
    added: tuple[tuple[int, int], ...] = ()

    @property
    def letters(self) -> int:
        """Letters and digits of the chunk."""
        return len(self.chunk.letters)

    @property
    def letters_found(self) -> int:
        """Those that stand on the page."""
        return self.letters if self.found is None else int(self.found.sum())

    @property
    def share(self) -> float:
        """Fraction of letters that stand on the page; 1 for a chunk without letters."""
        return self.letters_found / self.letters if self.letters else 1.0

    def changed_words(self) -> int:
        """Words, as blanks part them, of which some letter does not stand on the page.

        Words that were only added do not count: numbers of list items, footnotes and the like, which a page shows
        without having them in its text.
        """
        if self.found is None:
            return 0
        missing = ~self.found
        whole = missing.copy()
        for start, end in self.added:
            missing[start:end] = False
        return sum(
            bool(missing[start:end].any() or (whole[start:end].any() and not whole[start:end].all()))
            for start, end in self.chunk.tokens
        )


def match_chunk(text: str, page: PageSide, *, labels: Iterable[str] = ()) -> Match:
    """Look for a chunk in its page.

    Args:
        text: The chunk as stored.
        page: Its page.
        labels: Title and headings stored with the chunk: a line of the chunk that repeats them is no difference.
    """
    raw = FoldedText.of(text)
    if raw.letters in page.whole.letters:
        return Match(raw)
    plain = without_markup(text)
    if plain == text:
        return _differing(raw, page, labels)
    stripped = FoldedText.of(plain)
    if stripped.letters and stripped.letters in page.whole.letters:
        return Match(stripped)
    return max((_differing(chunk, page, labels) for chunk in (raw, stripped)), key=lambda match: match.share)


def _differing(chunk: FoldedText, page: PageSide, labels: Iterable[str]) -> Match:
    found = page.grams.covers(chunk.letters)
    if not found.all():
        _find_labels(chunk, found, page, labels)
    added = []
    for start, end in runs_of(~found):
        if end - start <= LONGEST_GAP and found.any() and _find_words(chunk, found, start, end, page):
            added.append((start, end))
    return Match(chunk, None if found.all() else found, tuple(added))


def _find_labels(chunk: FoldedText, found: npt.NDArray[np.bool_], page: PageSide, labels: Iterable[str]) -> None:
    """Mark lines, cells and labels that stand on the page, or in the chunk's own title and headings, as a whole."""
    import numpy as np

    own = None
    for piece in _LABELS.finditer(chunk.shown):
        start, end = np.searchsorted(chunk.offsets, piece.span()).tolist()
        if found[start:end].all():
            continue
        words = words_of(piece[0])
        if len(words) > LABEL_WORDS:
            continue
        own = own if own is not None else word_text("\n".join(labels))
        sought = f" {' '.join(words)} "
        if sought in page.words or sought in own:
            found[start:end] = True


def _find_words(chunk: FoldedText, found: npt.NDArray[np.bool_], start: int, end: int, page: PageSide) -> bool:
    """Mark words between two matching stretches that the page has there too, in the same order.

    Returns:
        Whether the page has nothing there: the chunk only adds.
    """
    window = _window(chunk.letters, found, start, end, page)
    if window is None:
        return False
    if window[0] == window[1]:
        return True
    words = chunk.words_between(*_whole_words(chunk, start, end))
    there = page.whole.words_between(*_whole_words(page.whole, *window))
    here_texts = [chunk.letters[first:last] for first, last in words]
    there_texts = [page.whole.letters[first:last] for first, last in there]
    blocks = SequenceMatcher(None, here_texts, there_texts, autojunk=False).get_matching_blocks()
    # In a wide window some small word is met by chance.
    least = 1 if window[1] - window[0] <= 2 * (end - start) + SIZE else SIZE
    for block in blocks:
        same = words[block.a : block.a + block.size]
        if sum(last - first for first, last in same) >= least:
            for first, last in same:
                found[first:last] = True
    return False


def _window(
    letters: str, found: npt.NDArray[np.bool_], start: int, end: int, page: PageSide
) -> tuple[int, int] | None:
    """The letters of the page between the places of what matches before and after ``start`` to ``end``."""
    before, after = _context(found, start, -1), _context(found, end, 1)
    lefts = [place + before for place in page.places(letters[start - before : start])] if before >= SIZE else []
    rights = list(page.places(letters[end : end + after])) if after >= SIZE else []
    length = end - start
    pairs = [(left, right) for left in lefts for right in rights if 0 <= right - left <= 2 * length + LONGEST_GAP]
    if pairs:
        return min(pairs, key=lambda pair: abs(pair[1] - pair[0] - length))
    if lefts and not rights:
        return lefts[0], min(len(page.whole.letters), lefts[0] + 2 * length + SIZE)
    if rights and not lefts:
        return max(0, rights[0] - 2 * length - SIZE), rights[0]
    return None


def _context(found: npt.NDArray[np.bool_], edge: int, step: int) -> int:
    """How many letters beside ``edge`` match without a break, at most ``CONTEXT``."""
    beside = found[max(0, edge - CONTEXT) : edge][::-1] if step < 0 else found[edge : edge + CONTEXT]
    misses = (~beside).nonzero()[0]
    return int(misses[0]) if len(misses) else len(beside)


def _whole_words(text: FoldedText, start: int, end: int) -> tuple[int, int]:
    """The range widened to whole words."""
    starts = text.word_starts
    while start > 0 and not starts[start]:
        start -= 1
    while end < len(starts) and not starts[end]:
        end += 1
    return start, end
