"""What a chunk has that its page does not, read off its alignment: its beginning, its end, words that it joins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.text.grams import SIZE
from ragval_pipeline.text.markup import without_markup
from ragval_pipeline.validation.facts.page import Page, Searched
from ragval_pipeline.validation.facts.rows import Edge
from ragval_pipeline.validation.facts.spans import Alignment, Span
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, FEWEST, LONGEST_GAP, WHOLE

#: Lines at either end that are looked at: title, section, source, date, keywords.
MOST_LINES = 6  # work
_DIGITS = re.compile(r"\d+")

#: Letters from the first to before the second.
Range = tuple[int, int]


class Differences(NamedTuple):
    """What a chunk has between two pieces that its page has close together, in this order.

    Attributes:
        replaced: Letters that the page has others for, each with the letters of the page around its place.
        inserted: Letters for which it has nothing.
    """

    replaced: tuple[tuple[Range, Range], ...] = ()
    inserted: tuple[Range, ...] = ()


_NONE = Differences()


def differences(match: Alignment, page: Page) -> Differences:
    """What a chunk has in the place of other words, or between words, of the page's content.

    What stands beside the content may be another each time it is read: the day when the site was built.
    """
    if match.whole:
        return _NONE
    replaced, inserted = list[tuple[Range, Range]](), list[Range]()
    for before, after in pairwise(match.spans):
        if min(before.place, after.place) < 0 or "word" in (before.kind, after.kind):
            continue
        # What is put between two words may begin, or end, as the word beside it: both pieces go on into it.
        shared = max(0, before.beyond - after.place)
        own, other = after.start - before.end, max(0, after.place - before.beyond)
        if not own or shared > min(SIZE, after.length - 1, before.length - 1) or other > 2 * own + SIZE:
            continue
        if page.content_before[after.place + 1] == page.content_before[before.beyond - 1]:
            continue
        ways = ((before.end - step, after.start + shared - step) for step in range(shared + 1))
        # Letters within a word make another word of it.
        whole = next((way for way in ways if all(match.text.apart[letter] for letter in way)), None)
        if other or whole is None:
            # Where it has nothing, the word that its letters were put into.
            there = (before.beyond, after.place) if other else (before.beyond - 1, before.beyond)
            replaced.append(((before.end, after.start), there))
        else:
            inserted.append(whole)
    return Differences(tuple(replaced), tuple(inserted))


def edges_of(match: Alignment, found: Differences = _NONE) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """Openings and closings of a chunk that its page does not have, the outermost first: one a line.

    Args:
        match: The chunk on its page.
        found: What it has in the place of other words.
    """
    if match.whole:
        return (), ()
    runs = _runs(match)
    longest = max((end - start for start, end in runs), default=0)
    long = [(start, end) for start, end in runs if end - start >= min(ANCHOR_LETTERS, longest)]
    lines = _lines(match.text)
    if not long:  # a chunk that has little of its own
        line = lines[0][1] if lines else 0
        long = [(line, line)]
    closing = list(_closing_lines(match, lines[1:][-MOST_LINES:], long))
    # Of a chunk of one line the next one may close it already.
    upto = min((start for start, _ in closing), default=match.letters)
    lines = [line for line in lines if line[0] < upto]
    above = lines[1:MOST_LINES]
    first_end = max(long[0][0], _label_line_end(match, lines, long[0][0]))
    # Of some pages the first line has a long run and parts it from the next, of others none has.
    cuts = [0, *(start for start, _ in lines[1:MOST_LINES] if start < first_end), first_end]
    opening = [*pairwise(cuts), *_opening_lines(match, above, long)]
    after = max(end for _, end in opening)
    closing = [(start, end) for start, end in closing if start >= after]
    rest = (max(after, long[-1][1]), min((start for start, _ in closing), default=match.letters))
    ends = (*_edges(match, closing, found), *_edges(match, [rest], found, outermost=-1))
    edges = _edges(match, opening, found)
    first = _without_digits(match, (0, _word_end(match, 0)))
    if edges and edges[0].word != first:
        # What is put before a chunk may begin with a word that this page happens to have.
        edges = (Edge(first, 0), *edges)
    return edges, ends


def _runs(match: Alignment) -> list[Range]:
    """What the page has in one run, or in several that follow one another there as in the chunk.

    Words of a sentence about the page stand all over it.
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
    """The lines that hold letters, as ranges of letters."""
    import numpy as np

    breaks = [found.start() for found in re.finditer("\n", text.shown)]
    cuts = [0, *np.searchsorted(text.offsets, breaks).tolist(), len(text.letters)]
    return [(first, last) for first, last in pairwise(cuts) if last > first]


def _label_line_end(match: Alignment, lines: Sequence[Range], first: int) -> int:
    """Where the line of the first run ends, if the page has the run elsewhere, or not the first word of the line.

    Of such a line nothing is of the page when it is short or a sentence. A title in the middle of it, as in
    ``<document>Title</document>``, stands on the page and ends no opening. 0 without such a line.
    """
    for start, end in lines[:MOST_LINES]:
        if start <= first < end:
            if _is_quoted(match, first):
                return end
            if _has_word_at(match, start):
                return 0
            missing = int((~match.found[start:end]).sum())
            is_sentence = missing >= (1 - WHOLE) * (end - start)
            # The only line is the text itself, whatever its beginning; markup in further lines is none.
            is_only = end == match.letters and "\n" not in match.text.shown[int(match.text.offsets[end - 1]) :]
            return end if not is_only and (end - start <= LONGEST_GAP or is_sentence) else 0
    return 0


def _is_quoted(match: Alignment, first: int) -> bool:
    """Whether the page has the run at a letter elsewhere than what the chunk has before and behind it.

    A sentence about a chunk names title and section, which stand far apart; what is left of a changed text goes on.
    """
    runs = [span for span in match.spans if span.kind == "run"]
    own = next((number for number, span in enumerate(runs) if span.start <= first < span.end), None)
    if own is None:
        return False
    beside = [pair for pair in (runs[max(0, own - 1) : own + 1], runs[own : own + 2]) if len(pair) > 1]
    return bool(beside) and not any(_goes_on(*pair) for pair in beside)


def _goes_on(span: Span, after: Span) -> bool:
    """Whether the page has one run behind another, as far apart as the chunk or a little further."""
    return span.beyond <= after.place <= span.beyond + max(LONGEST_GAP, 2 * (after.start - span.end))


def _opening_lines(match: Alignment, lines: Iterable[Range], long: Sequence[Range]) -> Iterator[Range]:
    """Further lines at the beginning of which the page has nothing, or a label somewhere, up to the first other one."""
    for first, last in lines:
        if first < long[0][0]:
            continue
        if _has_word_at(match, first) and not any(span.start == first and span.kind in _LABELS for span in match.spans):
            return
        yield first, next((start for start, _ in long if first <= start < last), last)


def _closing_lines(match: Alignment, lines: Sequence[Range], long: Sequence[Range]) -> Iterator[Range]:
    """Lines at the end, after all that the page has in one, at the beginning of which it has nothing.

    What such a line quotes from elsewhere on the page, as a question about the chunk does, is not of the chunk itself.
    """
    longest = max(long, key=lambda run: run[1] - run[0])
    own = next(run for run in reversed(long) if run == longest or not _is_quoted(match, run[0]))
    for first, last in reversed(lines):
        # The page may happen to have some first letters of what follows its own.
        if (_has_word_at(match, first) and not _is_quoted(match, first)) or _word_end(match, first) < own[1]:
            return
        yield first, last


def _has_word_at(match: Alignment, start: int) -> bool:
    """Whether the page has the word that begins with a letter."""
    return bool(match.found[start : _word_end(match, start)].all())


def _without_digits(match: Alignment, word: Range) -> str:
    """The letters of a word, by which chunks begin or end alike: numbers differ from chunk to chunk."""
    return _DIGITS.sub("", match.text.letters[slice(*word)])


def _word_end(match: Alignment, letter: int) -> int:
    """Where the word of a letter ends."""
    return match.text.whole_words(letter, letter + 1)[1]


def _edges(match: Alignment, ranges: Iterable[Range], found: Differences, *, outermost: int = 0) -> tuple[Edge, ...]:
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
            own = _without_digits(match, words[outermost])
            others = [_without_digits(match, word) for word in strange[:: 1 if outermost == 0 else -1]]
            other = next(filter(None, others), "")
            replaced = sum(start <= first < end for (first, _), _ in found.replaced)
            edges.append(Edge(own, missing, replaced, other if other != own else ""))
    return tuple(edges)


_LABELS = frozenset({"stored", "line", "word"})
#: Joins of one chunk that are looked at: so many are named no better by more.
MOST_JOINS = 2000  # work
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
        start, end = _blanks_around(text, at)
        word = text.shown[start:end]
        if not _stands_there(chunk, at, *text.offsets.searchsorted([start, end]).tolist()):
            continue
        if page.source is not None and page.source.has(word):
            continue
        if _is_markup(text, start, end):
            continue
        if text.apart[at]:
            between = text.shown[int(text.offsets[at - 1]) + 1 : int(text.offsets[at])]
            punctuated += [word] if _CLOSING.fullmatch(between) else []
        elif all(page.whole(letters, one_word=True) is None for letters in (fold(word), _word_at(text, at))):
            bare.append(word)
    if bare or len(punctuated) >= FEWEST:
        return list(dict.fromkeys([*bare, *punctuated]))
    return []


def _is_markup(text: FoldedText, start: int, end: int) -> bool:
    """Whether a word is markup in its line: a page shows the kind of an admonition as its title, ``.. seealso::``."""
    line = text.shown.rfind("\n", 0, start) + 1
    return not fold(without_markup(text.shown[line:end])[start - line :])


def _stands_there(chunk: Alignment, at: int, first: int, last: int) -> bool:
    """Whether the page has all letters of some words in its text, but for a label that ends where the join is.

    An address or the name of a file has the words of a title, too, beside others that are no text of the page.
    """
    beside = [span for span in chunk.spans if span.start < last and first < span.end]
    is_text = all(span.kind == "run" or span.end == at for span in beside)
    return is_text and bool(chunk.found[first:last].all())


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


def _word_at(text: FoldedText, at: int) -> str:
    """The letters of the word around a letter: of an address or an identifier the part that marks set apart."""
    return text.letters[slice(*text.whole_words(at, at + 1))]


def _blanks_around(text: FoldedText, at: int) -> Range:
    """Where what stands between blanks around a letter begins and ends, as it is shown."""
    offset = int(text.offsets[at])
    before, after = text.shown[max(0, offset - 40) : offset], text.shown[offset : offset + 40]  # work
    return offset - len(re.split(r"\s", before)[-1]), offset + len(re.split(r"\s", after)[0])
