"""The beginning and the end of a chunk that its page does not have, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import runs_of
from ragval_pipeline.validation.facts.rows import Edge
from ragval_pipeline.validation.facts.spans import Alignment
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, LONGEST_GAP, WHOLE

#: Lines at either end that are looked at: title, section, source, date, keywords.
MOST_LINES = 6  # work
_DIGITS = re.compile(r"\d+")

#: Letters from the first to before the second.
Range = tuple[int, int]


def edges_of(match: Alignment) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """Openings and closings of a chunk that its page does not have, the outermost first: one a line.

    A chunk that has nothing of its page has none: all of it is another text.
    """
    if match.whole:
        return (), ()
    runs = runs_of(match.runs)
    longest = max((end - start for start, end in runs), default=0)
    long = [(start, end) for start, end in runs if end - start >= min(ANCHOR_LETTERS, longest)]
    lines = _lines(match.text)
    if not long:  # a chunk that has little of its own
        line = lines[0][1] if lines else 0
        long = [(line, line)]
    closing = list(_closing_lines(match, lines[1:][-MOST_LINES:], long))
    # Of a chunk of one line the next one may close it already.
    upto = min((start for start, _ in closing), default=match.letters)
    above = [line for line in lines[1:MOST_LINES] if line[0] < upto]
    opening = [(0, max(long[0][0], _label_line_end(match, lines, long[0][0]))), *_opening_lines(match, above, long)]
    after = max(end for _, end in opening)
    closing = [(start, end) for start, end in closing if start >= after]
    rest = (max(after, long[-1][1]), min((start for start, _ in closing), default=match.letters))
    ends = (*_edges(match, closing), *_edges(match, [rest], outermost=-1))
    return (_edges(match, opening), ends) if match.letters_found else ((), ())


def _lines(text: FoldedText) -> list[tuple[int, int]]:
    """The lines that hold letters, as ranges of letters."""
    import numpy as np

    breaks = [found.start() for found in re.finditer("\n", text.shown)]
    cuts = [0, *np.searchsorted(text.offsets, breaks).tolist(), len(text.letters)]
    return [(first, last) for first, last in pairwise(cuts) if last > first]


def _label_line_end(match: Alignment, lines: Sequence[Range], first: int) -> int:
    """Where the line of the first run ends, if it is short or a sentence, and begins with what the page does not have.

    A title in the middle of it, as in ``<document>Title</document>``, stands on the page and ends no opening. 0 without
    such a line.
    """
    for start, end in lines[: min(MOST_LINES, len(lines) - 1)]:
        if start <= first < end and not _has_word_at(match, start):
            missing = int((~match.found[start:end]).sum())
            is_sentence = missing >= (1 - WHOLE) * (end - start)
            return end if end - start <= LONGEST_GAP or is_sentence else 0
    return 0


def _opening_lines(match: Alignment, lines: Iterable[Range], long: Sequence[Range]) -> Iterator[Range]:
    """Further lines at the beginning of which the page has nothing, up to the first other one."""
    for first, last in lines:
        if first < long[0][0]:
            continue
        if _has_word_at(match, first):
            return
        yield first, next((start for start, _ in long if first <= start < last), last)


def _closing_lines(match: Alignment, lines: Sequence[Range], long: Sequence[Range]) -> Iterator[Range]:
    """Lines at the end, after all that the page has in one, at the beginning of which it has nothing."""
    for first, last in reversed(lines):
        # The page may happen to have some first letters of what follows its own.
        if _has_word_at(match, first) or _word_end(match, first) < long[-1][1]:
            return
        yield first, last


def _has_word_at(match: Alignment, start: int) -> bool:
    """Whether the page has the word that begins with a letter."""
    return bool(match.found[start : _word_end(match, start)].all())


def _word_end(match: Alignment, letter: int) -> int:
    """Where the word of a letter ends."""
    return match.text.whole_words(letter, letter + 1)[1]


def _edges(match: Alignment, ranges: Iterable[Range], *, outermost: int = 0) -> tuple[Edge, ...]:
    """The edges in some ranges of letters; none where the page has all of them."""
    edges = []
    for start, end in ranges:
        missing = int((~match.found[start:end]).sum())
        if missing:
            # At its inner end a word goes on where the page happens to have some letters of it.
            wide = match.text.whole_words(start, end)
            span = (start, wide[1]) if outermost == 0 else (wide[0], end)
            words = match.text.words_between(*span)
            strange = [(first, last) for first, last in words if not match.found[first:last].all()]
            own, other = (_DIGITS.sub("", match.text.letters[slice(*of[outermost])]) for of in (words, strange))
            changed = match.changed_words(start, end)
            edges.append(Edge(own, missing, changed, other if other != own else "", max(changed, len(strange))))
    return tuple(edges)
