"""Words that a chunk joins where its page has a break.

What lives here: finding the joins, by laying the chunk over the place on the page that it came from. What does not:
the finding (``findings``).

The break is the page's own, so that compounds, identifiers and scripts without blanks are not taken for joins. On 180
real pages (mdBook, Sphinx, MkDocs) in chunks of 800 characters, extractions that keep breaks show joins in at most
0.3 % of their chunks, all of them real; one that does not (every text node stripped and put together) in 95 %, ten in
a chunk. So one join of two words is enough. Joins behind punctuation (``end.Next``) count from three on: code is
reformatted that way, and they are split again by every tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragval_pipeline.validation.integrity.folding import FoldedText, fold
from ragval_pipeline.validation.integrity.grams import SIZE, runs_of
from ragval_pipeline.validation.integrity.markup import without_markup
from ragval_pipeline.validation.integrity.match import Match
from ragval_pipeline.validation.integrity.searched import SearchedText

#: Joins behind punctuation that a chunk must have before they say anything.
PUNCTUATED_JOINS = 3
_CLOSING = re.compile("[.!?:;,)]+[\"'\u201d\u2019\u00bb]*")


def glued_words(match: Match, page: SearchedText) -> list[str]:
    """The places where words are joined, each as the two words around it stand in the chunk; empty when there are none.

    Args:
        match: The match of the chunk.
        page: Its page.
    """
    text = match.text
    bare, punctuated = [], []
    for at in _joins(match, page):
        word = _around(text, at)
        if _in_markup(text, at):
            continue
        if text.apart[at]:
            between = text.shown[int(text.offsets[at - 1]) + 1 : int(text.offsets[at])]
            punctuated += [word] if _CLOSING.fullmatch(between) else []
        elif not any(f" {letters} " in page.words for letters in (fold(word), _word_at(text, at))):
            bare.append(word)
    if bare or len(punctuated) >= PUNCTUATED_JOINS:
        return list(dict.fromkeys([*bare, *punctuated]))
    return []


def _joins(match: Match, page: SearchedText) -> Iterator[int]:
    """Letters before which the page has a blank and the chunk has none, between whole words of the page."""
    before: tuple[int, int] | None = None
    for start, end in [(0, match.letters)] if match.found is None else runs_of(match.found):
        for first, last, place in _pieces(match.text.letters, start, end, page):
            if before is not None and before[0] == first:
                yield from _joins_between(match.text, page.folded, first, before[1], place)
            yield from _joins_within(match.text, page.folded, first, last, place)
            before = (last, place + last - first)


def _joins_between(text: FoldedText, page: FoldedText, at: int, left: int, right: int) -> Iterator[int]:
    """Where two pieces that stand apart on the page meet, if both are at the edge of a word there.

    The first piece may have gone a few letters too far, into a word that begins as the next one does.
    """
    for back in range(min(SIZE, at, left, right)):
        if back and page.letters[right - back] != text.letters[at - back]:
            return
        parted = left - back >= len(page.letters) or page.spaced[left - back]
        if parted and page.spaced[right - back] and not text.apart[at - back] and not text.alone[at - back]:
            yield at - back
            return


def _joins_within(text: FoldedText, page: FoldedText, first: int, last: int, place: int) -> list[int]:
    theirs = page.spaced[place + 1 : place + last - first]
    ours = text.spaced[first + 1 : last] | text.alone[first + 1 : last] | text.alone[first : last - 1]
    joins = (first + 1 + (theirs & ~ours).nonzero()[0]).tolist()
    return [at for at in joins if _whole_words(text, page, at, first, last, place)]


def _whole_words(text: FoldedText, page: FoldedText, at: int, first: int, last: int, place: int) -> bool:
    """Whether the joined words begin and end where words of the page do: else it is another word that looks alike."""
    start = end = at
    while start > first and not text.word_starts[start]:
        start -= 1
    while end < last and (end == at or not text.word_starts[end]):
        end += 1
    begins = start > first or bool(page.word_starts[place])
    after = place + end - first
    ends = after >= len(page.letters) or bool(page.word_starts[after])
    return begins and bool(page.word_starts[place + start - first]) and ends


def _pieces(letters: str, start: int, end: int, page: SearchedText) -> Iterator[tuple[int, int, int]]:
    """The longest pieces of a run that stand on the page in one, each with its place there."""
    while end - start >= SIZE:
        place = page.place(letters[start : start + SIZE])
        if place is None:  # found by its words, not by its letters
            start += 1
            continue
        length = _longest(letters, start, end, page)
        yield start, start + length, page.place(letters[start : start + length]) or 0
        start += length


def _longest(letters: str, start: int, end: int, page: SearchedText) -> int:
    """Letters from ``start`` on that stand on the page in one, at least ``SIZE``."""
    low, high = SIZE, end - start
    if page.place(letters[start:end]) is not None:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if page.place(letters[start : start + middle]) is None:
            high = middle
        else:
            low = middle
    return low


def _in_markup(text: FoldedText, at: int) -> bool:
    """Whether a letter is part of an address or the like, whose pieces may stand on the page by chance."""
    offset = int(text.offsets[at])
    start = max(0, text.shown.rfind("\n", 0, offset))
    line = text.shown[start : offset + 200]
    return without_markup(line)[offset - start] != line[offset - start]


def _word_at(text: FoldedText, at: int) -> str:
    """The letters of the word around a letter: of an address or an identifier the part that marks set apart."""
    start = next(place for place in range(at, -1, -1) if text.word_starts[place] or place == 0)
    ends = text.word_starts[at + 1 :].nonzero()[0]
    return text.letters[start : at + 1 + int(ends[0]) if len(ends) else len(text.letters)]


def _around(text: FoldedText, at: int) -> str:
    """What stands between blanks around a letter."""
    offset = int(text.offsets[at])
    before, after = text.shown[max(0, offset - 40) : offset], text.shown[offset : offset + 40]
    return (re.split(r"\s", before)[-1] + re.split(r"\s", after)[0]).strip()
