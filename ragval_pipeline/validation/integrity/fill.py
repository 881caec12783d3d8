"""What runs of letters are too long to see: short lines that stand on the page as a whole, words between two runs.

What lives here: marking them as found. What does not: the runs (``grams``) and the match that is made of both
(``match``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from ragval_pipeline.validation.integrity.folding import FoldedText, fold, joined, word_text, words_of
from ragval_pipeline.validation.integrity.grams import SIZE, runs_of
from ragval_pipeline.validation.integrity.searched import SearchedText

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]

#: Letters before and after a difference that its place is found by.
CONTEXT = 32
#: A longer stretch of letters between two runs is another text, not one with some words changed.
LONGEST_GAP = 160
#: Words that a line, cell or label may have to be looked for as a whole.
LABEL_WORDS = 12
#: Letters from which on a difference that repeats a stored title or heading is no chance.
LABEL_LETTERS = 6
# Line breaks, cells, and what breadcrumbs and lists are parted with: guillemets, middle dot, bullet, dashes.
_LABELS = re.compile("[^\n\t|>\u00bb\u203a/\u00b7\u2022:\u2013\u2014]+")


def find_labels(
    text: FoldedText,
    found: Mask,
    there: SearchedText,
    labels: Iterable[str],
    address: Iterable[str] = (),
    *,
    least: int = 1,
) -> None:
    """Mark lines, cells and labels that stand there, or in ``labels`` or ``address``, as a whole.

    Tables read out column by column, breadcrumbs, titles and sources put before a chunk are made of such pieces. Those
    of less than ``least`` words count in ``labels`` and ``address`` only.
    """
    import numpy as np

    if found.all():
        return
    labels = list(labels)
    own = None
    for piece in _LABELS.finditer(text.shown):
        start, end = np.searchsorted(text.offsets, piece.span()).tolist()
        if found[start:end].all():
            continue
        words = words_of(piece[0])
        if words and len(words) <= LABEL_WORDS:
            own = own if own is not None else word_text("\n".join((*labels, *address)))
            sought = f" {' '.join(words)} "
            found[start:end] |= (len(words) >= least and sought in there.words) or sought in own
    _find_parted_words(text, found, there)
    stored = joined(fold(label) for label in labels)
    for start, end in runs_of(~found):
        # A title before the text without anything between.
        found[start:end] |= end - start >= LABEL_LETTERS and text.letters[start:end] in stored


def _find_parted_words(text: FoldedText, found: Mask, there: SearchedText) -> None:
    """Mark words that stand there in one with the word before or after them: ``hello 1`` for a page's ``hello1``."""
    for start, end in runs_of(~found):
        if end - start >= SIZE:
            continue
        first, last = _whole_words(text, start, end)
        with_next = _whole_words(text, first, min(last + 1, len(found)))
        both = (_whole_words(text, max(first - 1, 0), last), with_next)
        found[start:end] |= any(f" {text.letters[slice(*words)]} " in there.words for words in both)


def find_words(text: FoldedText, found: Mask, there: SearchedText) -> tuple[tuple[int, int], ...]:
    """Mark words between two runs that stand there between the same runs, in the same order.

    Returns:
        Stretches where there is nothing between the two runs: this text only adds to the other.
    """
    if not found.any():
        return ()
    added = []
    for start, end in runs_of(~found):
        window = window_of(text.letters, found, start, end, there) if end - start <= LONGEST_GAP else None
        if window is None:
            continue
        if window[0] == window[1]:
            added.append((start, end))
            continue
        same = _common_words(text, (start, end), there.folded, window)
        # Beside one run only, where it is not known how far to look, some small words are met by chance.
        if _is_between(found, start, end) or 2 * sum(last - first for first, last in same) >= end - start:
            for first, last in same:
                found[first:last] = True
    return tuple(added)


def _common_words(
    text: FoldedText, gap: tuple[int, int], other: FoldedText, window: tuple[int, int]
) -> list[tuple[int, int]]:
    """Words of the gap that stand in the window in the same order, as ranges of letters."""
    ours = text.words_between(*_whole_words(text, *gap))
    theirs = [other.letters[first:last] for first, last in other.words_between(*_whole_words(other, *window))]
    read = [text.letters[first:last] for first, last in ours]
    # The first and the last word of a chunk may be the end and the beginning of one.
    if ours[0][0] == 0:
        read[0] = next((word for word in theirs if word.endswith(read[0])), read[0])
    if ours[-1][1] == len(text.letters):
        read[-1] = next((word for word in theirs if word.startswith(read[-1])), read[-1])
    blocks = SequenceMatcher(None, read, theirs, autojunk=False).get_matching_blocks()
    # In a wide window some small word is met by chance.
    least = 1 if window[1] - window[0] <= 2 * (gap[1] - gap[0]) + SIZE else SIZE
    runs = (ours[block.a : block.a + block.size] for block in blocks)
    return [word for same in runs if sum(last - first for first, last in same) >= least for word in same]


def window_of(letters: str, found: Mask, start: int, end: int, there: SearchedText) -> tuple[int, int] | None:
    """The letters there between the places of what matches before ``start`` and after ``end``; null without a place."""
    before, after = _matching_beside(found, start, end)
    lefts = [place + before for place in there.places(letters[start - before : start])] if before >= SIZE else []
    rights = list(there.places(letters[end : end + after])) if after >= SIZE else []
    length, most = end - start, len(there.folded.letters)
    pairs = [(left, right) for left in lefts for right in rights if 0 <= right - left <= 2 * length + LONGEST_GAP]
    if pairs:
        return min(pairs, key=lambda pair: abs(pair[1] - pair[0] - length))
    if lefts and not rights:
        return lefts[0], min(most, lefts[0] + 2 * length + SIZE)
    if rights and not lefts:
        return max(0, rights[0] - 2 * length - SIZE), rights[0]
    return None


def _is_between(found: Mask, start: int, end: int) -> bool:
    """Whether long enough runs stand on both sides."""
    return min(_matching_beside(found, start, end)) >= SIZE


def _matching_beside(found: Mask, start: int, end: int) -> tuple[int, int]:
    """How many letters before ``start`` and after ``end`` match without a break, at most ``CONTEXT`` each."""
    sides = (found[max(0, start - CONTEXT) : start][::-1], found[end : end + CONTEXT])
    before, after = (len(side) if side.all() else int(side.argmin()) for side in sides)
    return before, after


def _whole_words(text: FoldedText, start: int, end: int) -> tuple[int, int]:
    """The range widened to whole words."""
    starts = text.word_starts
    while start > 0 and not starts[start]:
        start -= 1
    while end < len(starts) and not starts[end]:
        end += 1
    return start, end
