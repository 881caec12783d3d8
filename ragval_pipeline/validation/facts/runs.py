"""Common runs of letters of a chunk and its page, the longest first: greedy string tiling (Wise 1993)."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from ragval_pipeline.text.folding import FoldedText
from ragval_pipeline.text.grams import width_for
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.spans import Span, free


def common_runs(text: FoldedText, page: Searched) -> list[Span]:
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
        for first, last in free(chosen, start, start + length):
            if last - first >= width:
                place = places[0] if len(places) == 1 else _nearest(chosen, start, places)
                insort(chosen, Span(first, place + first - start, last - first, "run"))
    return _closed_up(text, chosen, page)


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
