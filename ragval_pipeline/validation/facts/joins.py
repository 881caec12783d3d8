"""Words that a chunk joins where its page has a break, read off its alignment.

The break is the page's own, so that compounds, identifiers and scripts without blanks are not taken for joins. On 180
real pages (mdBook, Sphinx, MkDocs) in chunks of 800 characters, extractions that keep breaks show joins in at most
0.3 % of their chunks, all of them real; one that does not (every text node stripped and put together) in 95 %, ten in
a chunk. So one join of two words is enough. Joins behind punctuation (``end.Next``) count from three on: code is
reformatted that way, and they are split again by every tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.text.grams import SIZE
from ragval_pipeline.text.markup import without_markup
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.spans import Alignment, Span
from ragval_pipeline.validation.thresholds import FEWEST

_LABELS = frozenset({"stored", "line", "word"})
#: Joins of one chunk that are looked at: so many are named no better by more.
MOST_JOINS = 2000  # work
#: Characters of a line that are looked at in front of a join.
_LONGEST_LINE = 4000  # work
_CLOSING = re.compile("[.!?:;,)]+[\"'\u201d\u2019\u00bb]*")


def joined_words(chunk: Alignment, page: Searched) -> list[str]:
    """The places where words are joined, each as the two words around it stand in the chunk; empty when there are none.

    Args:
        chunk: The chunk on its page.
        page: Its page.
    """
    text = chunk.text
    bare, punctuated = [], []
    for at in islice(_joins(chunk, page.folded), MOST_JOINS):
        word = _around(text, at)
        if _in_markup(text, at):
            continue
        if text.apart[at]:
            between = text.shown[int(text.offsets[at - 1]) + 1 : int(text.offsets[at])]
            punctuated += [word] if _CLOSING.fullmatch(between) else []
        elif all(page.whole(letters, one_word=True) is None for letters in (fold(word), _word_at(text, at))):
            bare.append(word)
    if bare or len(punctuated) >= FEWEST:
        return list(dict.fromkeys([*bare, *punctuated]))
    return []


def _joins(chunk: Alignment, page: FoldedText) -> Iterator[int]:
    """Letters before which the page has a blank and the chunk has none, between whole words of the page."""
    before: Span | None = None
    for span in chunk.spans:
        if before is not None and before.end == span.start:
            if before.kind == span.kind == "run":
                yield from _joins_between(chunk.text, page, span.start, before.beyond, span.place)
            elif span.kind == "run" and before.kind in _LABELS and page.spaced[span.place]:
                # A stored title or heading runs into the text.
                yield from [] if chunk.text.apart[span.start] or chunk.text.alone[span.start] else [span.start]
        if span.kind == "run":
            yield from _joins_within(chunk.text, page, span)
        before = span


def _joins_between(text: FoldedText, page: FoldedText, at: int, left: int, right: int) -> Iterator[int]:
    """Where two pieces that stand apart on the page meet, if both are at the edge of a word there.

    Either piece may go a few letters too far, into a word that ends or begins as the other one does.
    """
    for step in (
        *range(_same(text, page, at, left, 1) + 1),
        *range(-1, -_same(text, page, at - 1, right - 1, -1) - 1, -1),
    ):
        parted = left + step >= len(page.letters) or page.spaced[left + step]
        place = at + step
        if not 0 < place < len(text.letters) or right + step >= len(page.letters):
            continue
        if parted and page.spaced[right + step] and not text.apart[place] and not text.alone[place]:
            yield place
            return


def _same(text: FoldedText, page: FoldedText, at: int, place: int, step: int) -> int:
    """How many letters are the same from two places on, at most a run."""
    count = 0
    while (
        count < SIZE
        and 0 <= place < len(page.letters)
        and 0 < at < len(text.letters)
        and text.letters[at] == page.letters[place]
    ):
        count, at, place = count + 1, at + step, place + step
    return count


def _joins_within(text: FoldedText, page: FoldedText, span: Span) -> list[int]:
    first, last, place = span.start, span.end, span.place
    theirs = page.spaced[place + 1 : span.beyond]
    ours = text.spaced[first + 1 : last] | text.alone[first + 1 : last] | text.alone[first : last - 1]
    joins = (first + 1 + (theirs & ~ours).nonzero()[0]).tolist()
    return [at for at in joins if _whole_words(text, page, at, span)]


def _whole_words(text: FoldedText, page: FoldedText, at: int, span: Span) -> bool:
    """Whether the joined words begin and end where words of the page do: else it is another word that looks alike."""
    first, last = text.whole_words(at, at + 1)
    start, end = max(first, span.start), min(last, span.end)
    begins = start > span.start or bool(page.word_starts[span.place])
    after = span.place + end - span.start
    ends = after >= len(page.letters) or bool(page.word_starts[after])
    return begins and bool(page.word_starts[span.place + start - span.start]) and ends


def _in_markup(text: FoldedText, at: int) -> bool:
    """Whether a letter is part of an address or the like, whose pieces may stand on the page by chance."""
    offset = int(text.offsets[at])
    nearest = max(0, offset - _LONGEST_LINE)
    start = max(nearest, text.shown.rfind("\n", nearest, offset))
    line = text.shown[start : offset + 200]  # work
    return without_markup(line)[offset - start] != line[offset - start]


def _word_at(text: FoldedText, at: int) -> str:
    """The letters of the word around a letter: of an address or an identifier the part that marks set apart."""
    return text.letters[slice(*text.whole_words(at, at + 1))]


def _around(text: FoldedText, at: int) -> str:
    """What stands between blanks around a letter."""
    offset = int(text.offsets[at])
    before, after = text.shown[max(0, offset - 40) : offset], text.shown[offset : offset + 40]  # work
    return (re.split(r"\s", before)[-1] + re.split(r"\s", after)[0]).strip()
