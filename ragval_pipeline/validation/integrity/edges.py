"""The beginning and the end of a chunk that its page does not have.

What lives here: finding them, line by line. What does not: which of them are the ingestion's habit (``habits``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ragval_pipeline.validation.integrity.folding import FoldedText
from ragval_pipeline.validation.integrity.grams import runs_of
from ragval_pipeline.validation.integrity.match import Match
from ragval_pipeline.validation.integrity.results import Edge

#: Letters in one run that end an opening and begin a closing.
ANCHOR = 24
#: Lines at either end that an ingestion may add: title, section, source, date, keywords.
MOST_LINES = 6
#: Letters of a line that may be a label as a whole.
LABEL_LINE = 120
_DIGITS = re.compile(r"\d+")

#: Letters from the first to before the second.
Range = tuple[int, int]


def edges_of(match: Match) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """Openings and closings of a chunk that its page does not have, the outermost first: one a line.

    A chunk that has nothing of its page has none: all of it is another text.
    """
    if match.found is None or match.common is None:
        return (), ()
    runs = runs_of(match.common)
    longest = max((end - start for start, end in runs), default=0)
    long = [(start, end) for start, end in runs if end - start >= min(ANCHOR, longest)]
    lines = _lines(match.text)
    if not long:  # a chunk that has little of its own
        line = lines[0][1] if lines else 0
        long = [(line, line)]
    opening = [(0, max(long[0][0], _label_line_end(match, lines))), *_opening_lines(match, lines[1:MOST_LINES], long)]
    after = max(end for _, end in opening)
    closing = [(start, end) for start, end in _closing_lines(match, lines[-MOST_LINES:], long) if start >= after]
    ends = _edges(match, closing) or _edges(match, [(max(after, long[-1][1]), match.letters)], outermost=-1)
    return (_edges(match, opening), ends) if match.letters_found else ((), ())


def _lines(text: FoldedText) -> list[tuple[int, int]]:
    """The lines that hold letters, as ranges of letters."""
    import numpy as np

    breaks = [found.start() for found in re.finditer("\n", text.shown)]
    cuts = [0, *np.searchsorted(text.offsets, breaks).tolist(), len(text.letters)]
    return [(first, last) for first, last in pairwise(cuts) if last > first]


def _label_line_end(match: Match, lines: Sequence[Range]) -> int:
    """Where a first line ends that is short and begins with what the page does not have; 0 without one.

    A title in the middle of it, as in ``<document>Title</document>``, stands on the page and ends no opening.
    """
    if len(lines) < 2 or lines[0][1] > LABEL_LINE or _has_word_at(match, 0):
        return 0
    return lines[0][1]


def _opening_lines(match: Match, lines: Iterable[Range], long: Sequence[Range]) -> Iterator[Range]:
    """Further lines at the beginning of which the page has nothing, up to the first other one."""
    assert match.found is not None
    for first, last in lines:
        if first < long[0][0]:
            continue
        if _has_word_at(match, first):
            return
        yield first, next((start for start, _ in long if first <= start < last), last)


def _closing_lines(match: Match, lines: Sequence[Range], long: Sequence[Range]) -> Iterator[Range]:
    """Lines at the end, after all that the page has in one, at the beginning of which it has nothing."""
    assert match.found is not None
    for first, last in reversed(lines):
        if _has_word_at(match, first) or first < long[-1][1]:
            return
        yield first, last


def _has_word_at(match: Match, start: int) -> bool:
    """Whether the page has the word that begins with a letter."""
    assert match.found is not None
    return bool(match.found[start : _word_end(match.text, start)].all())


def _word_end(text: FoldedText, letter: int) -> int:
    """Where the word of a letter ends."""
    after = text.word_starts[letter + 1 :].nonzero()[0]
    return letter + 1 + int(after[0]) if len(after) else len(text.letters)


def _edges(match: Match, ranges: Iterable[Range], *, outermost: int = 0) -> tuple[Edge, ...]:
    """The edges in some ranges of letters; none where the page has all of them."""
    assert match.found is not None
    edges = []
    for start, end in ranges:
        missing = int((~match.found[start:end]).sum())
        if missing:
            # A word runs on where the page happens to have its last letters.
            whole = _word_end(match.text, end - 1) if outermost == 0 else end
            first, last = match.text.words_between(start, whole)[outermost]
            word = _DIGITS.sub("", match.text.letters[first:last])
            edges.append(Edge(word, missing, match.changed_words(start, end)))
    return tuple(edges)
