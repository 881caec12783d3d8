"""Where a chunk differs from its page, by its alignment: other, added and missing words, its beginning and end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import SIZE
from ragval_pipeline.validation.facts.page import Page, Range
from ragval_pipeline.validation.facts.rows import Edge
from ragval_pipeline.validation.facts.spans import LABELS, Alignment, Span, same_letters
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, LONGEST_GAP, WHOLE

#: Maximum lines examined at either end: title, section, source, date, keywords.
MOST_LINES = 6  # work
_DIGITS = re.compile(r"\d+")


class Differences(NamedTuple):
    """What a chunk has between two pieces that its page has close together, in this order.

    Attributes:
        replaced: Letters for which the page has others, each with the letters of the page around its position; for
            those that a word lacks, a letter of it, and for whole words that are left out, none.
        inserted: Letters for which it has nothing.
    """

    replaced: tuple[tuple[Range, Range], ...] = ()
    inserted: tuple[Range, ...] = ()


_NONE = Differences()


def differences(match: Alignment, page: Page) -> Differences:
    """What a chunk has instead of, or between, words of the page's content.

    Text outside the content may change with each read, such as the build date.
    """
    if len(match.spans) < 2:
        return _NONE
    replaced, inserted = list[tuple[Range, Range]](), list[Range]()
    for before, after in pairwise(match.spans):
        if min(before.place, after.place) < 0 or "word" in (before.kind, after.kind):
            continue
        # Inserted text may begin, or end, like its neighbour, as entries of a list do: both pieces then extend into it.
        shared, other = max(0, before.beyond - after.place), max(0, after.place - before.beyond)
        own = after.start + shared - before.end
        most_shared = min(2 * (after.start - before.end) + SIZE, after.length - 1, before.length - 1)
        if shared > most_shared or other > (2 * own + SIZE if own else LONGEST_GAP):
            continue
        if page.content_before[after.place + 1] == page.content_before[before.beyond - 1]:
            continue
        if not own:
            # What only screen readers are told is no content, although it may be joined to a word that is.
            if other and page.content_before[after.place] > page.content_before[before.beyond]:
                replaced += _left_out(match.text, page.folded, before, after)
            continue
        ways = ((before.end - step, after.start + shared - step) for step in range(shared + 1))
        # Letters inserted within a word change the word.
        whole = next((way for way in ways if all(match.text.apart[letter] for letter in way)), None)
        if other or whole is None:
            # Where it has nothing, the word that its letters were put into.
            there = (before.beyond, after.place) if other else (before.beyond - 1, before.beyond)
            replaced.append(((before.end, after.start + shared), there))
        elif before.end < after.start:
            # Without letters of its own it repeats words, as a heading and the address of its anchor do.
            inserted.append(whole)
    return Differences(tuple(replaced), tuple(inserted))


def _left_out(text: FoldedText, page: FoldedText, before: Span, after: Span) -> Iterator[tuple[Range, Range]]:
    """Letters of the page left out between two pieces of a chunk, if they change a word or the line that they are in.

    Extractors leave out pictures, buttons and the numbers of footnotes, and markup may stand for words of the page:
    words count as left out if nothing but blanks is around and between them, on the page and in the chunk. Equal
    letters may be taken from either end.
    """
    at, start, end = before.end, before.beyond, after.place
    back = min(same_letters(page, page, start - 1, end - 1, -1), before.length - 1)
    ways = range(-back, min(same_letters(page, page, start, end, 1), after.length - 1) + 1)
    if all(_is_in_a_word(page, start + way, end + way) for way in ways):
        own = at if page.word_starts[start] else at - 1
        (first, last), (begin, beyond) = text.whole_words(own, own + 1), page.whole_words(start, end)
        if (at - first, last - at) == (start - begin, beyond - end):
            yield (own, own + 1), (start, end)
        return
    for way in ways:
        around = page.between(start + way - 1, end + way + 1), text.between(at + way - 1, at + way + 1)
        is_number = page.letters[start + way : end + way].isdigit()
        if all(map(re.fullmatch, (_IN_LINE, _SIDE_BY_SIDE), around)) and not is_number:
            yield (at + way, at + way), (start + way, end + way)
            return


#: Punctuation before and after a word; words in one line of a page, code among them ("with `worker.listen = true` it
#: waits"); neighbours in a chunk, where punctuation may be left alone ("a random part of . The pause"). See
#: https://github.com/unclecode/crawl4ai/issues/582 and https://github.com/adbar/trafilatura/issues/553
_BEFORE, _AFTER = "['\"(\u201c\u2018]?", "[.,;:!?)'\"\u201d\u2019]*"
_IN_LINE = re.compile(rf"\w{_AFTER}(?: \S+)+ {_BEFORE}\w")
_SIDE_BY_SIDE = re.compile(rf"\w{_AFTER}\s{{1,2}}(?:[.,;:!?)]{{1,2}}\s{{1,2}})?{_BEFORE}\w")


def _is_in_a_word(text: FoldedText, start: int, end: int) -> bool:
    """Whether letters are a part of one word or number; the number of a footnote is not one of the word before it."""
    edges = [at for at in range(start, end + 1) if _begins(text, at)]
    return not edges or (len(edges) == 1 and edges[0] in (start, end))


def _begins(text: FoldedText, at: int) -> bool:
    """Whether a word or number begins at a letter, or the text has ended."""
    if at >= len(text.letters) or bool(text.word_starts[at]):
        return True
    return text.letters[at].isdigit() != text.letters[at - 1].isdigit()


def edges_of(match: Alignment, found: Differences = _NONE) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """Openings and closings of a chunk that its page does not have, outermost first: one per line."""
    if match.whole:
        return (), ()
    runs = _runs(match)
    longest = max((end - start for start, end in runs), default=0)
    long = [(start, end) for start, end in runs if end - start >= min(ANCHOR_LETTERS, longest)]
    lines = _lines(match.text)
    if not long:  # a chunk with little on its page
        line = lines[0][1] if lines else 0
        long = [(line, line)]
    closing = list(_closing_lines(match, lines[1:][-MOST_LINES:], long))
    # Of a chunk of one line the next one may close it already.
    upto = min((start for start, _ in closing), default=match.letters)
    lines = [line for line in lines if line[0] < upto]
    above = lines[1:MOST_LINES]
    first_end = max(long[0][0], _label_line_end(match, lines, long[0][0]))
    # On some pages the first line has a long run separate from the next, on others none has.
    cuts = [0, *(start for start, _ in lines[1:MOST_LINES] if start < first_end), first_end]
    opening = [*pairwise(cuts), *_opening_lines(match, above, long)]
    after = max(end for _, end in opening)
    closing = [(start, end) for start, end in closing if start >= after]
    rest = (max(after, long[-1][1]), min((start for start, _ in closing), default=match.letters))
    ends = (*_edges(match, closing, found), *_edges(match, [rest], found, outermost=-1))
    edges = _edges(match, opening, found)
    first = _without_digits(match, (0, _word_end(match, 0)))
    if edges and edges[0].word != first:
        # Added text may begin with a word that happens to be on this page.
        edges = (Edge(first, 0), *edges)
    return edges, ends


def _runs(match: Alignment) -> list[Range]:
    """The parts that the page has in one run, or in several consecutive ones as in the chunk.

    Words of a sentence about the page are scattered over it.
    """
    found: list[Range] = []
    before: Span | None = None
    for span in (span for span in match.spans if span.kind == "run"):
        if before is not None and before.end == span.start and _goes_on(before, span):
            found[-1] = found[-1][0], span.end
        else:
            found.append((span.start, span.end))
        before = span
    return found


def _lines(text: FoldedText) -> list[tuple[int, int]]:
    """The lines with letters, as ranges of letters."""
    import numpy as np

    breaks = [found.start() for found in re.finditer("\n", text.shown)]
    cuts = [0, *np.searchsorted(text.offsets, breaks).tolist(), len(text.letters)]
    return [(first, last) for first, last in pairwise(cuts) if last > first]


def _label_line_end(match: Alignment, lines: Sequence[Range], first: int) -> int:
    """End of the first run's line, if the page has the run elsewhere, or not the first word of the line.

    Such a line is not from the page if it is short or a sentence. A title in the middle of it, as in
    ``<document>Title</document>``, is on the page and does not end an opening. 0 without such a line.
    """
    for start, end in lines[:MOST_LINES]:
        if start <= first < end:
            if _is_quoted(match, first):
                return end
            if _has_word_at(match, start):
                return 0
            missing = int((~match.found[start:end]).sum())
            is_sentence = missing >= (1 - WHOLE) * (end - start)
            # A single line is the text itself, whatever its beginning; further lines of markup do not count.
            is_only = end == match.letters and "\n" not in match.text.shown[int(match.text.offsets[end - 1]) :]
            return end if not is_only and (end - start <= LONGEST_GAP or is_sentence) else 0
    return 0


def _is_quoted(match: Alignment, first: int) -> bool:
    """Whether the page has a run elsewhere than the chunk's text before and after it.

    A sentence about a chunk quotes title and section, which are far apart; the rest of a changed text is continuous.
    """
    runs = [span for span in match.spans if span.kind == "run"]
    own = next((number for number, span in enumerate(runs) if span.start <= first < span.end), None)
    if own is None:
        return False
    beside = [pair for pair in (runs[max(0, own - 1) : own + 1], runs[own : own + 2]) if len(pair) > 1]
    return bool(beside) and not any(_goes_on(*pair) for pair in beside)


def _goes_on(span: Span, after: Span) -> bool:
    """Whether one run follows another on the page, at about the same distance as in the chunk."""
    return span.beyond <= after.place <= span.beyond + max(LONGEST_GAP, 2 * (after.start - span.end))


def _opening_lines(match: Alignment, lines: Iterable[Range], long: Sequence[Range]) -> Iterator[Range]:
    """Further lines at the beginning that are not on the page, or only as a label, up to the first other one."""
    for first, last in lines:
        if first < long[0][0]:
            continue
        if _has_word_at(match, first) and not any(span.start == first and span.kind in LABELS for span in match.spans):
            return
        yield first, next((start for start, _ in long if first <= start < last), last)


def _closing_lines(match: Alignment, lines: Sequence[Range], long: Sequence[Range]) -> Iterator[Range]:
    """Lines at the end, after everything contiguous on the page, whose beginning is not on it.

    A quote from elsewhere on the page, as in a question about the chunk, does not belong to the chunk itself.
    """
    longest = max(long, key=lambda run: run[1] - run[0])
    own = next(run for run in reversed(long) if run == longest or not _is_quoted(match, run[0]))
    for first, last in reversed(lines):
        # The page may happen to have the first letters of added text.
        if (_has_word_at(match, first) and not _is_quoted(match, first)) or _word_end(match, first) < own[1]:
            return
        yield first, last


def _has_word_at(match: Alignment, start: int) -> bool:
    """Whether the page has the word that begins with a letter."""
    return bool(match.found[start : _word_end(match, start)].all())


def _without_digits(match: Alignment, word: Range) -> str:
    """A word without digits, for comparing edges: numbers differ between chunks."""
    return _DIGITS.sub("", match.text.letters[slice(*word)])


def _word_end(match: Alignment, letter: int) -> int:
    """Where the word of a letter ends."""
    return match.text.whole_words(letter, letter + 1)[1]


def _edges(match: Alignment, ranges: Iterable[Range], found: Differences, *, outermost: int = 0) -> tuple[Edge, ...]:
    """The edges in some ranges of letters; none if the page has all of them."""
    edges = []
    for start, end in ranges:
        missing = int((~match.found[start:end]).sum())
        if missing:
            # At its inner end a word may continue into letters that happen to be on the page.
            wide = match.text.whole_words(start, end)
            span = (start, wide[1]) if outermost == 0 else (wide[0], end)
            words = match.text.words_between(*span)
            strange = [(first, last) for first, last in words if not match.found[first:last].all()]
            own = _without_digits(match, words[outermost])
            others = [_without_digits(match, word) for word in strange[:: 1 if outermost == 0 else -1]]
            other = next(filter(None, others), "")
            replaced = sum(start <= first < end for (first, _), _ in found.replaced)
            edges.append(Edge(own, missing, replaced, other if other != own else ""))
    return tuple(edges)
