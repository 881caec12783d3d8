"""Spans: contiguous letters of a chunk on its page, and measures derived from them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragval_pipeline.lazy import np
from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import SIZE
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, LONGEST_GAP, MOST

if TYPE_CHECKING:
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]

#: ``run``: a common run. ``words``: words between two runs. ``line``: a line or cell of words, ``word`` of one.
#: ``stored``: text of the chunk's own title, headings or address. ``source``: text of the page's Markdown.
Kind = Literal["run", "words", "line", "word", "stored", "source"]
#: Kinds of titles, headings and other labels, which the page may have apart from its text.
LABELS: frozenset[Kind] = frozenset({"stored", "line", "word"})


class Span(NamedTuple):
    """Contiguous letters of a chunk on the page.

    Attributes:
        start: First letter in the chunk.
        place: First letter on the page; -1 for ``stored`` and ``source``.
        length: Letters, at least 1.
        kind: How it was found.
    """

    start: int
    place: int
    length: int
    kind: Kind

    @property
    def end(self) -> int:
        """The letter of the chunk after the span."""
        return self.start + self.length

    @property
    def beyond(self) -> int:
        """The letter of the page after the span."""
        return self.place + self.length


@dataclass(frozen=True)
class Alignment:
    """A chunk on a page.

    Attributes:
        text: The chunk, without the markup that its page does not show.
        spans: Sorted by their start in the chunk, without overlaps.
        verbatim: Whether it is lines of its own labels, if any, followed by exactly the page's text, so that no words
            are joined.
    """

    text: FoldedText
    spans: tuple[Span, ...]
    verbatim: bool = False

    @property
    def letters(self) -> int:
        """Letters and digits of the chunk."""
        return len(self.text.letters)

    @cached_property
    def letters_found(self) -> int:
        """Letters found on the page."""
        return sum(span.length for span in self.spans)

    @property
    def share(self) -> float:
        """Fraction of letters found on the page; 1 for a text without letters."""
        return self.letters_found / self.letters if self.letters else 1.0

    @property
    def whole(self) -> bool:
        """Whether every letter is found on the page."""
        return self.letters_found == self.letters

    @cached_property
    def found(self) -> Mask:
        """Which letters are found on the page; shape ``(letters,)``."""
        mask = np.zeros(self.letters, dtype=np.bool_)
        for span in self.spans:
            mask[span.start : span.end] = True
        return mask

    @property
    def surely(self) -> int:
        """Letters found, without words that are alone on their line.

        Most words of code with one word per line are on any other page about the same library.
        """
        return sum(span.length for span in self.spans if span.kind != "word")

    def window(self, start: int, end: int) -> tuple[int, int] | None:
        """The letters of the page between the text before and after a part of the chunk; None without."""
        before = next((span for span in reversed(self.spans) if span.start < start and span.place >= 0), None)
        after = next((span for span in self.spans if span.end > end and span.place >= 0), None)
        if before is None or after is None:
            return None
        first, last = (
            min(before.beyond, before.place + start - before.start),
            max(after.place, after.place + end - after.start),
        )
        return (first, last) if 0 <= last - first <= 2 * (end - start) + LONGEST_GAP else None

    @property
    def changed_words(self) -> int:
        """Whitespace-separated words with a letter that is not on the page."""
        if self.whole:
            return 0
        return int(np.logical_or.reduceat(~self.found, self.text.tokens[:, 0]).sum())


def covered(spans: Sequence[Span], first: int, last: int) -> int:
    """How many letters of a range are in spans."""
    return sum(stop - start for start, stop, _ in _within(spans, first, last))


def in_turn(spans: Sequence[Span], first: int, last: int) -> int:
    """How many letters of a range the page has in order, with short gaps."""
    most = count = beyond = 0
    for start, stop, place in _within(spans, first, last):
        count = (count if 0 <= place - beyond <= LONGEST_GAP else 0) + stop - start
        beyond = place + stop - start
        most = max(most, count)
    return most


def _within(spans: Sequence[Span], first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Parts of spans between two letters: start, end, position of the start."""
    for number in range(max(0, bisect_left(spans, (first,)) - 1), len(spans)):
        span = spans[number]
        if span.start >= last:
            break
        start, stop = max(first, span.start), min(last, span.end)
        if stop > start:
            yield start, stop, span.place + start - span.start


def in_one(spans: Sequence[Span], first: int, last: int) -> bool:
    """Whether the page has the letters of a range contiguously."""
    number = bisect_right(spans, first, key=itemgetter(0)) - 1
    while first < last:
        if not 0 <= number < len(spans) or not spans[number].start <= first < spans[number].end:
            return False
        span = spans[number]
        number += 1
        if span.end < last and (number == len(spans) or spans[number].place != span.beyond):
            return False
        first = span.end
    return True


def free(chosen: Sequence[Span], start: int, end: int) -> list[tuple[int, int]]:
    """The ranges between two letters without spans."""
    found, at = [], start
    for number in range(max(0, bisect_left(chosen, (start,)) - 1), len(chosen)):
        span = chosen[number]
        if span.start >= end:
            break
        if span.end > at:
            if span.start > at:
                found.append((at, span.start))
            at = span.end
    if at < end:
        found.append((at, end))
    return found


def gaps(spans: Sequence[Span], letters: int) -> Iterator[tuple[int, int]]:
    """Ranges of letters without spans."""
    at = 0
    for span in spans:
        if span.start > at:
            yield at, span.start
        at = max(at, span.end)
    if at < letters:
        yield at, letters


def add(spans: list[Span], start: int, end: int, place: int | None, kind: Kind) -> None:
    """Add the parts of a range that are not in other spans."""
    for first, last in free(spans, start, end):
        insort(spans, Span(first, -1 if place is None else place + first - start, last - first, kind))


def without_strays(runs: Sequence[Span]) -> list[Span]:
    """Runs without those that are by chance elsewhere on the page, within other text.

    Two long runs that are close together, in the chunk as on the page, have other text between them if most of it is
    not on the page. A page with many words has some of its letters, too, in a different sentence.
    """
    strays = set[Span]()
    for before, after in pairwise(number for number, run in enumerate(runs) if run.length >= ANCHOR_LETTERS):
        first, last = runs[before].beyond, runs[after].place
        own, between = runs[after].start - runs[before].end, runs[before + 1 : after]
        missing = own - sum(run.length for run in between)
        if own <= LONGEST_GAP and abs(last - first) <= LONGEST_GAP and missing >= MOST * own:
            strays.update(run for run in between if not first <= run.place <= run.beyond <= last)
    return [run for run in runs if run not in strays]


def same_letters(text: FoldedText, page: FoldedText, at: int, place: int, step: int) -> int:
    """How many letters are equal from two positions, at most an n-gram."""
    count = 0
    while (
        count < SIZE
        and 0 <= place < len(page.letters)
        and 0 < at < len(text.letters)
        and text.letters[at] == page.letters[place]
    ):
        count, at, place = count + 1, at + step, place + step
    return count
