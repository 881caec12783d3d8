"""The one alignment of a chunk with its page: which letters of the chunk stand where on the page.

Coverage, changed and joined words, openings and closings, the order of chunks, what of the page no chunk holds, and
copies are all read off its spans. A chunk that stands on its page letter for letter is one span. Of others the longest
common runs of letters are taken first (greedy string tiling, Wise 1993), then words between two runs that the page has
between the same places, then lines and cells that stand on the page as a whole, wherever they are: tables may be read
column by column. Letters instead of words are aligned because extractors differ in blanks and marks, and some scripts
have no blanks at all.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.text.grams import SHORT_SIZE, SIZE, width_for
from ragval_pipeline.text.markup import without_markup, without_statements
from ragval_pipeline.validation.facts.page import Searched, searched_labels
from ragval_pipeline.validation.thresholds import LABEL_WORDS, LONGEST_GAP

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]

# Line breaks, cells, and what breadcrumbs and lists are parted with: guillemets, middle dot, bullet, dashes.
_PIECES = re.compile("[^\n\t|>\u00bb\u203a/\u00b7\u2022:\u2013\u2014]+")

#: ``run``: a common run. ``words``: words between two runs. ``line``: a line or cell of words, ``word`` of one.
#: ``stored``: what stands in the chunk's own title, headings or address.
Kind = Literal["run", "words", "line", "word", "stored"]


class Span(NamedTuple):
    """Letters of a chunk that stand on the page in one.

    Attributes:
        start: First letter in the chunk.
        place: First letter on the page; -1 for what is ``stored`` with the chunk.
        length: Letters, at least 1.
        kind: How it was found.
    """

    start: int
    place: int
    length: int
    kind: Kind

    @property
    def end(self) -> int:
        """The letter of the chunk behind the span."""
        return self.start + self.length

    @property
    def beyond(self) -> int:
        """The letter of the page behind the span."""
        return self.place + self.length


@dataclass(frozen=True)
class Alignment:
    """A chunk on a page.

    Attributes:
        text: The chunk, without the markup that its page does not show.
        spans: By their start in the chunk; they do not overlap there.
        added: Stretches of the chunk's letters that its page does not have, where the page goes on without a gap.
    """

    text: FoldedText
    spans: tuple[Span, ...]
    added: tuple[tuple[int, int], ...] = ()

    @property
    def letters(self) -> int:
        """Letters and digits of the chunk."""
        return len(self.text.letters)

    @cached_property
    def letters_found(self) -> int:
        """Those that stand on the page."""
        return sum(span.length for span in self.spans)

    @property
    def share(self) -> float:
        """Fraction of letters that stand on the page; 1 for a text without letters."""
        return self.letters_found / self.letters if self.letters else 1.0

    @property
    def whole(self) -> bool:
        """Whether every letter stands on the page."""
        return self.letters_found == self.letters

    @cached_property
    def found(self) -> Mask:
        """Which letters stand on the page; shape ``(letters,)``."""
        return self.mask_of("run", "words", "line", "word", "stored")

    @cached_property
    def runs(self) -> Mask:
        """Which letters lie in common runs."""
        return self.mask_of("run")

    @property
    def surely(self) -> int:
        """Letters found without words that stand alone in their line.

        Of code with a line for each of its words most stand on any other page about the same library.
        """
        return sum(span.length for span in self.spans if span.kind != "word")

    def mask_of(self, *kinds: Kind) -> Mask:
        """Which letters lie in spans of these kinds."""
        import numpy as np

        mask = np.zeros(self.letters, dtype=np.bool_)
        for span in self.spans:
            if span.kind in kinds:
                mask[span.start : span.end] = True
        return mask

    @property
    def place(self) -> int | None:
        """Where on the page the chunk begins: its first common run; None when it has none."""
        return next((span.place for span in self.spans if span.kind == "run"), None)

    def window(self, start: int, end: int) -> tuple[int, int] | None:
        """The letters of the page between what it has in front of and behind a stretch of the chunk; None without."""
        before = next((span for span in reversed(self.spans) if span.start < start and span.place >= 0), None)
        after = next((span for span in self.spans if span.end > end and span.place >= 0), None)
        if before is None or after is None:
            return None
        first, last = (
            min(before.beyond, before.place + start - before.start),
            max(after.place, after.place + end - after.start),
        )
        return (first, last) if 0 <= last - first <= 2 * (end - start) + LONGEST_GAP else None

    def changed_words(self, start: int = 0, end: int | None = None) -> int:
        """Words that reach between two letters, as blanks part them, of which some letter does not stand on the page.

        Words that were only added do not count: numbers of list items, footnotes and the like, which a page shows
        without having them in its text.
        """
        if self.whole:
            return 0
        import numpy as np

        missing = ~self.found
        replaced = missing.copy()
        for first, last in self.added:
            replaced[first:last] = False
        words = self.text.tokens
        gone, lengths = np.add.reduceat(missing, words[:, 0], dtype=np.int64), words[:, 1] - words[:, 0]
        # A word of which a part was added was changed as well.
        changed = np.logical_or.reduceat(replaced, words[:, 0]) | ((gone > 0) & (gone < lengths))
        within = (words[:, 0] < (self.letters if end is None else end)) & (words[:, 1] > start)
        return int((changed & within).sum())


def align(text: str, page: Searched, *, labels: Sequence[str] = (), address: Sequence[str] = ()) -> Alignment:
    """Align a chunk with its page.

    Args:
        text: The chunk as stored.
        page: What it is looked for in.
        labels: Title and headings stored with the chunk: a line that repeats them is no difference.
        address: Where the chunk is from, as stored with it: the same, where it stands apart from other words.

    Returns:
        The alignment of the text as it is, without Markdown's markup, or without the markup that the page does not
        show: the one that stands on the page to the larger part.
    """
    raw = FoldedText.of(text)
    place = page.place(raw.letters)
    if place is not None:
        return _whole(raw, place)
    framed = _behind_labels(raw, page, labels)
    if framed is not None:
        return framed
    runs = _runs(raw, page)
    if (seen := _without_strange_statements(raw, runs)) != raw.shown:
        return align(seen, page, labels=labels, address=address)
    plain = without_markup(text)
    if plain == text:
        return _differing(raw, runs, page, labels, address)
    bare = FoldedText.of(plain)
    place = page.place(bare.letters) if bare.letters else None
    if place is not None:
        return _whole(bare, place)
    readings = [(raw, runs), (bare, _runs(bare, page))]
    strange = without_markup(raw.shown, keep=_is_shown(raw, runs))
    if strange not in (raw.shown, plain):
        reading = FoldedText.of(strange)
        readings.append((reading, _runs(reading, page)))
    alignments = (_differing(reading, own, page, labels, address) for reading, own in readings)
    return max(alignments, key=lambda alignment: alignment.share)


def pieces_of(text: FoldedText) -> set[str]:
    """The letters of each line, cell and label of a text."""
    import numpy as np

    spans = np.array([piece.span() for piece in _PIECES.finditer(text.shown)], dtype=np.int64).reshape(-1, 2)
    cuts = np.searchsorted(text.offsets, spans)
    return {text.letters[first:last] for first, last in cuts.tolist() if last > first}


def _behind_labels(text: FoldedText, page: Searched, labels: Sequence[str]) -> Alignment | None:
    """The alignment of a text that is its own title and headings and then a piece of the page; None of another one."""
    letters, spans, at = text.letters, [], 0
    known = sorted({folded for label in labels if (folded := fold(label))}, key=len, reverse=True)
    while label := next((entry for entry in known if letters.startswith(entry, at)), None):
        spans.append(Span(at, -1, len(label), "stored"))
        at += len(label)
        known.remove(label)
        place = page.place(letters[at:]) if at < len(letters) else None
        if place is not None:
            return Alignment(text, (*spans, Span(at, place, len(letters) - at, "run")))
    return None


def _whole(text: FoldedText, place: int) -> Alignment:
    return Alignment(text, (Span(0, place, len(text.letters), "run"),) if text.letters else ())


def _without_strange_statements(raw: FoldedText, runs: Sequence[Span]) -> str:
    """The text without imports, exports and diagrams of which the page has less than half."""

    def stands_there(start: int, end: int) -> bool:
        first, last = _letters_between(raw, start, end)
        return last > first and 2 * _covered(runs, first, last) >= last - first

    return without_statements(raw.shown, keep=stands_there)


def _is_shown(raw: FoldedText, runs: Sequence[Span]) -> Callable[[int, int], bool]:
    """Whether the page has all letters between two characters of the text."""

    def stands_there(start: int, end: int) -> bool:
        first, last = _letters_between(raw, start, end)
        return _covered(runs, first, last) == last - first

    return stands_there


def _letters_between(text: FoldedText, start: int, end: int) -> tuple[int, int]:
    """The letters that the characters from ``start`` to before ``end`` hold."""
    import numpy as np

    first, last = np.searchsorted(text.offsets, (start, end)).tolist()
    return first, last


def _covered(spans: Iterable[Span], first: int, last: int) -> int:
    return sum(max(0, min(last, span.end) - max(first, span.start)) for span in spans)


def _differing(
    text: FoldedText, runs: Sequence[Span], page: Searched, labels: Sequence[str], address: Sequence[str]
) -> Alignment:
    spans = list(runs)
    _add_labels(text, spans, page, labels, address)
    added = tuple(_add_words(text, spans, page))
    return Alignment(text, tuple(spans), added)


def _runs(text: FoldedText, page: Searched) -> list[Span]:
    """Common runs, the longest first, cut where they overlap in the chunk; of equal ones the one that goes on best."""
    width = width_for(text.letters)
    candidates = page.index(width).common_runs(text.letters)
    candidates.sort(key=lambda run: (-run[2], run[0], run[1]))
    chosen: list[Span] = []
    at = 0
    while at < len(candidates):
        start, _, length = candidates[at]
        same = at
        while same < len(candidates) and candidates[same][0] == start and candidates[same][2] == length:
            same += 1
        places = [place for _, place, _ in candidates[at:same]]
        at = same
        for first, last in _free(chosen, start, start + length):
            if last - first >= width:
                place = places[0] if len(places) == 1 else _nearest(chosen, start, places)
                insort(chosen, Span(first, place + first - start, last - first, "run"))
    return _closed_up(text, chosen, page)


def _free(chosen: Sequence[Span], start: int, end: int) -> list[tuple[int, int]]:
    """The stretches between two letters that no chosen span holds."""
    free, at = [], start
    for number in range(max(0, bisect_left(chosen, (start,)) - 1), len(chosen)):
        span = chosen[number]
        if span.start >= end:
            break
        if span.end > at:
            if span.start > at:
                free.append((at, span.start))
            at = span.end
    if at < end:
        free.append((at, end))
    return free


def _nearest(chosen: Sequence[Span], start: int, places: Sequence[int]) -> int:
    """The place that continues the nearest chosen span best; the first one without any."""
    if not chosen:
        return places[0]
    at = bisect_left(chosen, (start,))
    beside = [*chosen[max(0, at - 1) : at], *chosen[at : at + 1]]
    return min(places, key=lambda place: min(abs((place - start) - (span.place - span.start)) for span in beside))


def _closed_up(text: FoldedText, chosen: list[Span], page: Searched) -> list[Span]:
    """Runs that go on at either side as far as the letters are the same, where a longer run had been cut off."""
    ours, theirs = text.letters, page.letters
    for number, span in enumerate(chosen):
        upto = chosen[number + 1].start if number + 1 < len(chosen) else len(ours)
        length = span.length
        while (
            span.start + length < upto
            and theirs[span.place + length : span.place + length + 1] == ours[span.start + length]
        ):
            length += 1
        chosen[number] = span._replace(length=length)
    for number, span in enumerate(chosen):
        after = chosen[number - 1].end if number else 0
        back = 0
        while (
            span.start - back > after
            and span.place - back > 0
            and theirs[span.place - back - 1] == ours[span.start - back - 1]
        ):
            back += 1
        chosen[number] = Span(span.start - back, span.place - back, span.length + back, "run")
    return chosen


def _gaps(spans: Sequence[Span], letters: int) -> Iterator[tuple[int, int]]:
    """Stretches of letters that no span holds."""
    at = 0
    for span in spans:
        if span.start > at:
            yield at, span.start
        at = max(at, span.end)
    if at < letters:
        yield at, letters


def _add_labels(
    text: FoldedText, spans: list[Span], page: Searched, labels: Sequence[str], address: Sequence[str]
) -> None:
    """Add lines, cells and labels that stand on the page, or in what is stored with the chunk, as a whole.

    Tables read out column by column, breadcrumbs, titles and sources put before a chunk are made of such pieces.
    """
    if _covered(spans, 0, len(text.letters)) == len(text.letters):
        return
    stored = searched_labels(labels)
    own = searched_labels((*labels, *address))
    for piece in _PIECES.finditer(text.shown):
        start, end = _letters_between(text, *piece.span())
        if end <= start or _covered(spans, start, end) == end - start:
            continue
        words = _word_count(text, start, end)
        if words > LABEL_WORDS:
            continue
        sought = text.letters[start:end]
        place = page.whole(sought, near=_expected(spans, start))
        if place is not None:
            _add(spans, start, end, place, "line" if words > 1 else "word")
        elif own.letters and own.whole(sought) is not None:
            _add(spans, start, end, None, "stored")
    _add_parted_words(text, spans, page)
    if stored.letters:
        for start, end in list(_gaps(spans, len(text.letters))):
            # A title before the text without anything between.
            if end - start >= SHORT_SIZE and stored.place(text.letters[start:end]) is not None:
                _add(spans, start, end, None, "stored")


def _word_count(text: FoldedText, start: int, end: int) -> int:
    return 1 + int(text.word_starts[start + 1 : end].sum())


def _expected(spans: Sequence[Span], start: int) -> int | None:
    """Where on the page a letter would stand if the text went on from the last span in front of it."""
    at = bisect_left(spans, (start,))
    before = next((span for span in reversed(spans[:at]) if span.place >= 0), None)
    return None if before is None else before.place + start - before.start


def _add(spans: list[Span], start: int, end: int, place: int | None, kind: Kind) -> None:
    """Add what no other span holds of a stretch."""
    for first, last in _free(spans, start, end):
        insort(spans, Span(first, -1 if place is None else place + first - start, last - first, kind))


def _add_parted_words(text: FoldedText, spans: list[Span], page: Searched) -> None:
    """Add words that stand on the page in one with the word before or after them: ``hello 1`` for ``hello1``."""
    size = width_for(text.letters)
    for start, end in list(_gaps(spans, len(text.letters))):
        if end - start >= size:
            continue
        first, last = _whole_words(text, start, end)
        before, after = (
            _whole_words(text, max(first - 1, 0), last),
            _whole_words(text, first, min(last + 1, len(text.letters))),
        )
        for from_, to in (before, after):
            place = page.whole(text.letters[from_:to], near=_expected(spans, from_), one_word=True)
            if place is not None:
                _add(spans, start, end, place + start - from_, "line")
                break


def _add_words(text: FoldedText, spans: list[Span], page: Searched) -> Iterator[tuple[int, int]]:
    """Add words between two runs that the page has between the same runs, in the same order.

    Yields:
        Stretches where the page has nothing between the two runs: the chunk only adds to it.
    """
    size = width_for(text.letters)
    for start, end in list(_gaps(spans, len(text.letters))):
        if end - start > LONGEST_GAP:
            continue
        at = bisect_left(spans, (start,))
        before, after = _long_before(spans, at, size), _long_after(spans, at, size)
        window = _window(before, after, start, end, len(page.letters))
        if window is None:
            continue
        if window[0] == window[1]:
            yield start, end
            continue
        same = list(_common_words(text, (start, end), page.folded, window))
        # Beside one run only, where it is not known how far to look, some small words are met by chance.
        if (before and after) or 2 * sum(last - first for first, last, _ in same) >= end - start:
            for first, last, place in same:
                _add(spans, max(first, start), min(last, end), place + max(first, start) - first, "words")


def _long_before(spans: Sequence[Span], at: int, size: int) -> Span | None:
    """The span that ends at a gap, if enough letters stand on the page in one before it."""
    span = spans[at - 1] if at else None
    return span if span is not None and span.place >= 0 and span.length >= size else None


def _long_after(spans: Sequence[Span], at: int, size: int) -> Span | None:
    span = spans[at] if at < len(spans) else None
    return span if span is not None and span.place >= 0 and span.length >= size else None


def _window(before: Span | None, after: Span | None, start: int, end: int, letters: int) -> tuple[int, int] | None:
    """The letters of the page between the places before and after a gap; None without a place."""
    length = end - start
    if before is not None and after is not None:
        between = after.place - before.beyond
        return (before.beyond, after.place) if 0 <= between <= 2 * length + LONGEST_GAP else None
    if before is not None:
        return before.beyond, min(letters, before.beyond + 2 * length + SIZE)
    if after is not None:
        return max(0, after.place - 2 * length - SIZE), after.place
    return None


def _common_words(
    text: FoldedText, gap: tuple[int, int], other: FoldedText, window: tuple[int, int]
) -> Iterator[tuple[int, int, int]]:
    """Words of the gap that stand in the window in the same order: first letter, letter behind, place."""
    from rapidfuzz.distance import LCSseq

    ours = text.words_between(*_whole_words(text, *gap))
    theirs = other.words_between(*_whole_words(other, *window))
    read = [text.letters[first:last] for first, last in ours]
    shown = [other.letters[first:last] for first, last in theirs]
    # The first and the last word of a chunk may be the end and the beginning of one.
    cut_first = ours[0][0] == 0 and next((word for word in shown if word.endswith(read[0])), None)
    cut_last = ours[-1][1] == len(text.letters) and next((word for word in shown if word.startswith(read[-1])), None)
    if cut_first:
        read[0] = cut_first
    if cut_last:
        read[-1] = cut_last
    # In a wide window some small word is met by chance.
    least = 1 if window[1] - window[0] <= 2 * (gap[1] - gap[0]) + SIZE else SIZE
    for block in LCSseq.opcodes(read, shown):
        if block.tag != "equal":
            continue
        same = range(block.src_end - block.src_start)
        run = [(ours[block.src_start + step], theirs[block.dest_start + step]) for step in same]
        if sum(last - first for (first, last), _ in run) < least:
            continue
        for (first, last), (place, beyond) in run:
            # Of a word that the chunk cut, the end that it kept.
            yield first, last, beyond - (last - first) if first == 0 else place


def _whole_words(text: FoldedText, start: int, end: int) -> tuple[int, int]:
    """The range widened to whole words."""
    starts = text.word_starts
    while start > 0 and not starts[start]:
        start -= 1
    while end < len(starts) and not starts[end]:
        end += 1
    return start, end
