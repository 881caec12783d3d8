"""Filling the gaps between common runs: lines, cells and labels found as a whole, and words in order.

Tables may be read column by column, titles and sources added before a chunk, and single words changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import SHORT_SIZE, SIZE, width_for
from ragval_pipeline.validation.facts.page import ALIKE, LONGEST_WORD, Searched
from ragval_pipeline.validation.facts.spans import Span, add, covered, gaps
from ragval_pipeline.validation.thresholds import LABEL_WORDS, LONGEST_GAP

#: Spans before a line among which one on the page is searched for.
_BEFORE = 64  # work
# Line breaks, cells, and separators of headings, breadcrumbs, lists and rows: number signs, guillemets, middle dot,
# bullet, dashes, box drawing; slashes, except within an address or a path. Rows of tables are written out as well:
# ``Name: a. Type: b``.
_COLUMN = r"\s+[^\s:.,;][^\n:.,;]{0,40}:"
# Atomic: backtracking would need a hundred bytes per letter of a long line. Not possessive, ``(?:...)++``, which Python
# before 3.11.5 gets wrong: https://github.com/python/cpython/issues/106052
_PIECES = re.compile(
    rf"(?>(?:[^\n\t|;#>\u2500-\u257f\u00bb\u203a/\u00b7\u2022:\u2013\u2014.,]++|(?<=\w)/(?=\w)|[.,](?!{_COLUMN}))+)"
)

# Pictures in Markdown and plain text: ``![a camera](camera.png)``, ``[a camera]``.
_BRACKETED = re.compile(r"[^\[\]]+")


def pieces_of(text: FoldedText) -> set[str]:
    """The letters of each line, cell and label of a text."""
    return {text.letters[first:last] for first, last in _pieces(text)}


def _pieces(
    text: FoldedText, pattern: re.Pattern[str] = _PIECES, letters: tuple[int, int] | None = None
) -> Iterator[tuple[int, int]]:
    """Lines, cells and labels with letters, or other pieces, as ranges of letters: of everything, or of a part."""
    import numpy as np

    within = (0, len(text.shown))
    if letters is not None:
        within = int(text.offsets[letters[0]]), int(text.offsets[letters[1] - 1]) + 1
    spans = np.array([piece.span() for piece in pattern.finditer(text.shown, *within)], dtype=np.int64).reshape(-1, 2)
    cuts = np.searchsorted(text.offsets, spans)
    return ((first, last) for first, last in cuts.tolist() if last > first)


def add_labels(
    text: FoldedText, spans: list[Span], page: Searched, labels: Sequence[str], address: Sequence[str]
) -> None:
    """Add lines, cells and labels that are on the page, or in values stored with the chunk, as a whole.

    Tables read column by column, breadcrumbs, titles and sources added before a chunk consist of such pieces.
    """
    if covered(spans, 0, len(text.letters)) == len(text.letters):
        return
    stored, own = Searched(*dict.fromkeys(labels)), Searched(*dict.fromkeys((*labels, *address)))
    for start, end in _pieces(text):
        if covered(spans, start, end) == end - start:
            continue
        words = _word_count(text, start, end)
        if words > LABEL_WORDS:
            continue
        sought = text.letters[start:end]
        place = page.whole(sought, near=_expected(spans, start))
        if place is not None:
            add(spans, start, end, place, "line" if words > 1 else "word")
        elif own.whole(sought) is not None:
            add(spans, start, end, None, "stored")
    _add_parted_words(text, spans, page)
    for start, end in list(gaps(spans, len(text.letters))):
        # A title directly before the text.
        if end - start >= SHORT_SIZE and stored.place(text.letters[start:end]) is not None:
            add(spans, start, end, None, "stored")


def add_written_lines(text: FoldedText, spans: list[Span], source: Searched) -> None:
    """Add lines and labels that are as a whole in the page's source."""
    for start, end in _pieces(text):
        words = _word_count(text, start, end)
        is_sought = words <= LABEL_WORDS and covered(spans, start, end) < end - start
        if is_sought and source.whole(text.letters[start:end]) is not None:
            add(spans, start, end, None, "source" if words > 1 else "word")


def _word_count(text: FoldedText, start: int, end: int) -> float:
    """Number of words between two letters; a character of a script without spaces counts about half a word."""
    return 1 + int(text.word_starts[start + 1 : end].sum()) - int(text.alone[start:end].sum()) / 2


def _expected(spans: Sequence[Span], start: int) -> int | None:
    """Expected position of a letter on the page, continuing the last span before it, else leading to the next."""
    at = bisect_left(spans, (start,))
    beside = (*reversed(spans[max(0, at - _BEFORE) : at]), *spans[at : at + 1])
    return next((span.place + start - span.start for span in beside if span.place >= 0), None)


def _add_parted_words(text: FoldedText, spans: list[Span], page: Searched) -> None:
    """Add words that are joined on the page with the word before or after them: ``hello 1`` for ``hello1``."""
    size = width_for(text.letters)
    for start, end in list(gaps(spans, len(text.letters))):
        if end - start >= size:
            continue
        first, last = text.whole_words(start, end)
        before, after = (max(first - 1, 0), last), (first, min(last + 1, len(text.letters)))
        for from_, to in (text.whole_words(*before), text.whole_words(*after)):
            if to - from_ > LONGEST_WORD:
                continue
            place = page.whole(text.letters[from_:to], near=_expected(spans, from_), one_word=True)
            if place is not None:
                add(spans, start, end, place + start - from_, "line")
                break


def add_words(text: FoldedText, spans: list[Span], page: Searched) -> None:
    """Add words between two runs that the page has between the same runs, in the same order."""
    size = width_for(text.letters)
    for start, end in list(gaps(spans, len(text.letters))):
        if end - start > LONGEST_GAP:
            continue
        at = bisect_left(spans, (start,))
        before, after = _long(spans, at - 1, size), _long(spans, at, size)
        window = _window(before, after, start, end, len(page.letters))
        if window is None or window[0] == window[1]:
            continue
        same = list(_common_words(text, (start, end), page.folded, window, backwards=before is None))
        # Next to a single run, without a limit of the window, some small words match by chance.
        if (before and after) or 2 * sum(last - first for first, last, _ in same) >= end - start:
            for first, last, place in same:
                add(spans, max(first, start), min(last, end), place + max(first, start) - first, "words")


def add_cut_lines(text: FoldedText, spans: list[Span], page: Searched) -> None:
    """Add the rest of a line that the beginning, or end, of the chunk cuts, at that end of a line of the page.

    The page may have the line elsewhere, if the extraction leaves out or moves what is between.
    """
    letters = len(text.letters)
    for start, end in _pieces(text) if covered(spans, 0, letters) < letters else ():
        if (start and end < letters) or covered(spans, start, end) == end - start:
            continue
        edge = 0 if start else end
        places = page.first_places(text.letters[start:end], ALIKE)
        place = next((place for place in places if page.begins_line(place + edge)), None)
        if place is not None:
            add(spans, start, end, place, "word")


def add_carried_words(text: FoldedText, spans: list[Span], page: Searched) -> None:
    """Add words that the page has but does not show: text of a picture within a sentence."""
    if page.told >= len(page.letters):
        return
    for start, end in list(gaps(spans, len(text.letters))):
        # The words next to a picture may begin or end like its text.
        wide = text.whole_words(start, end)
        if wide[1] - wide[0] > LONGEST_GAP:
            continue
        for first, last in _pieces(text, _BRACKETED, wide):
            place = page.whole(text.letters[first:last], near=len(page.letters))
            if place is not None and place >= page.told:
                add(spans, first, last, place, "line")


def _long(spans: Sequence[Span], at: int, size: int) -> Span | None:
    """The span next to a gap, if enough letters are contiguous on the page there."""
    span = spans[at] if 0 <= at < len(spans) else None
    return span if span is not None and span.place >= 0 and span.length >= size else None


def _window(before: Span | None, after: Span | None, start: int, end: int, letters: int) -> tuple[int, int] | None:
    """The letters of the page between the positions before and after a gap; None without a position."""
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
    text: FoldedText, gap: tuple[int, int], other: FoldedText, window: tuple[int, int], *, backwards: bool
) -> Iterator[tuple[int, int, int]]:
    """Words of the gap that are in the window in the same order: start, end, position.

    For repeated words the first occurrence, or the last if ``backwards``.
    """
    from rapidfuzz.distance import LCSseq

    whole, beyond = text.whole_words(*gap), other.whole_words(*window)
    if max(whole[1] - whole[0] - gap[1] + gap[0], beyond[1] - beyond[0] - window[1] + window[0]) > 2 * LONGEST_WORD:
        return
    ours, theirs = text.words_between(*whole), other.words_between(*beyond)
    read = [text.letters[first:last] for first, last in ours]
    shown = [other.letters[first:last] for first, last in theirs]
    # The first and the last word of a chunk may be cut.
    nearest = shown[::-1] if backwards else shown
    cut_first = ours[0][0] == 0 and next((word for word in nearest if word.endswith(read[0])), None)
    cut_last = ours[-1][1] == len(text.letters) and next((word for word in shown if word.startswith(read[-1])), None)
    if cut_first:
        read[0] = cut_first
    if cut_last:
        read[-1] = cut_last
    if backwards:
        # A common ending would be matched first; different trailing words prevent that.
        ours, theirs, read, shown = ours[::-1], theirs[::-1], [*read[::-1], "<"], [*shown[::-1], ">"]
    # In a wide window some small words match by chance.
    least = 1 if window[1] - window[0] <= 2 * (gap[1] - gap[0]) + SIZE else SIZE
    for block in LCSseq.opcodes(read, shown):
        if block.tag != "equal":
            continue
        same = range(block.src_end - block.src_start)
        run = [(ours[block.src_start + step], theirs[block.dest_start + step]) for step in same]
        if sum(last - first for (first, last), _ in run) < least:
            continue
        for (first, last), (place, upto) in run:
            # The remaining end of a word cut by the chunk.
            yield first, last, upto - (last - first) if first == 0 else place
