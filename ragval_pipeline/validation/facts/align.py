"""The one alignment of a chunk with its page: common runs, longest first (Wise 1993), and what fills the gaps."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from functools import lru_cache

from ragval_pipeline.text.components import without_components
from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.text.grams import width_for
from ragval_pipeline.text.markup import without_escaped, without_markup, without_statements
from ragval_pipeline.validation.facts.gaps import (
    add_carried_words,
    add_cut_lines,
    add_labels,
    add_words,
    add_written_lines,
)
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.spans import (
    Alignment,
    Span,
    add,
    covered,
    free,
    gaps,
    in_one,
    in_turn,
    without_strays,
)
from ragval_pipeline.validation.facts.writing import without_writing
from ragval_pipeline.validation.thresholds import MOST

#: Maximum lines that an ingestion adds before a chunk.
_ADDED = 6  # work


def common_runs(text: FoldedText, page: Searched) -> list[Span]:
    """Common runs, longest first, cut where they overlap in the chunk; of equal ones the one that continues best."""
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
        places = [place for place in places if place < page.told] or places
        at = same
        for first, last in free(chosen, start, start + length):
            if last - first >= width:
                place = places[0] if len(places) == 1 else _nearest(chosen, start, places)
                insort(chosen, Span(first, place + first - start, last - first, "run"))
    return _closed_up(text, chosen, page)


def _nearest(chosen: Sequence[Span], start: int, places: Sequence[int]) -> int:
    """The position that continues the nearest chosen span best; the first one without any."""
    if not chosen:
        return places[0]
    at = bisect_left(chosen, (start,))
    beside = [*chosen[max(0, at - 1) : at], *chosen[at : at + 1]]
    return min(places, key=lambda place: min(abs((place - start) - (span.place - span.start)) for span in beside))


def _closed_up(text: FoldedText, chosen: Sequence[Span], page: Searched) -> list[Span]:
    """Runs extended on both sides as far as letters match, where a longer run had been cut off.

    Repeated text of a page is found at one of its positions: an adjacent longer run may include it.
    """
    ours, theirs = text.letters, page.letters
    ahead: list[Span] = []
    for span in reversed(chosen):
        grown = span
        while True:
            upto = ahead[-1].start if ahead else len(ours)
            while grown.end < upto and theirs[grown.beyond : grown.beyond + 1] == ours[grown.end]:
                grown = grown._replace(length=grown.length + 1)
            if not ahead or grown.end < upto or ahead[-1].length > span.length:
                break
            if theirs[grown.beyond : grown.beyond + ahead[-1].length] != ours[upto : ahead[-1].end]:
                break
            grown = grown._replace(length=grown.length + ahead.pop().length)
        ahead.append(grown)
    closed: list[Span] = []
    for span in reversed(ahead):
        start, place = span.start, span.place
        while True:
            after = closed[-1].end if closed else 0
            while start > after and place > 0 and theirs[place - 1] == ours[start - 1]:
                start, place = start - 1, place - 1
            if not closed or start > after or closed[-1].length > span.length or place < closed[-1].length:
                break
            if theirs[place - closed[-1].length : place] != ours[closed[-1].start : after]:
                break
            start, place = closed[-1].start, place - closed.pop().length
        closed.append(Span(start, place, span.end - start, "run"))
    return closed


def align(
    text: str,
    page: Searched,
    *,
    folded: FoldedText | None = None,
    labels: Sequence[str] = (),
    address: Sequence[str] = (),
    seen: dict[str, int] | None = None,
) -> Alignment:
    """Align a chunk with its page.

    Args:
        text: The chunk as stored.
        page: The page to search.
        folded: The folded chunk, if known.
        labels: Title and headings stored with the chunk: a line that repeats them is not a difference.
        address: The chunk's stored address: likewise, if separate from other words.
        seen: Positions of texts already aligned with the page: equal texts get the positions of a repetitive page in
            turn.

    Returns:
        The alignment of the text, or of the text without markup and other markers that the page does not show. Missing
        parts may be in the Markdown that the page was rendered from.
    """
    raw = folded or FoldedText.of(text)
    found = _aligned(raw, page, labels, address, {} if seen is None else seen)
    if found.whole or page.source is None:
        return found
    spans = list(found.spans)
    if _exact(raw, page.source, labels, {}) is not None:
        for start, end in gaps(found.spans, found.letters):
            add(spans, start, end, None, "source")
    return Alignment(found.text, tuple(spans))


def _aligned(
    raw: FoldedText, page: Searched, labels: Sequence[str], address: Sequence[str], seen: dict[str, int]
) -> Alignment:
    exact = _exact(raw, page, labels, seen)
    if exact is not None:
        return exact
    runs = common_runs(raw, page)
    if (plainer := _without_strange_statements(raw, runs, page)) != raw.shown:
        return _aligned(FoldedText.of(plainer), page, labels, address, seen)
    added = _strange_lines(raw, runs)
    reading = raw
    if (bare := without_markup(without_escaped(raw.shown), added=added)) != raw.shown:
        reading = FoldedText.of(_without_strange_markup(raw, runs, added))
        # In a list of files that link to themselves, the letters of an address are often those of the next two files.
        for read in (reading,) if reading.shown == bare else (reading, FoldedText.of(bare)):
            if (exact := _exact(read, page, labels, seen)) is not None:
                return exact
        runs = common_runs(reading, page)
    told = without_writing(reading, runs, page)
    if told is not reading:
        if (exact := _exact(told, page, labels, seen)) is not None:
            return exact
        runs = common_runs(told, page)
    return _differing(told, runs, page, labels, address)


def _exact(text: FoldedText, page: Searched, labels: Sequence[str], seen: dict[str, int]) -> Alignment | None:
    """The alignment of a text that is its own title and headings, if any, followed by a part of the page; else None."""
    spans, at = list[Span](), 0
    known: list[str] | None = None
    while rest := text.letters[at:]:
        before = seen.get(rest, -1)
        place = page.place(rest, after=before)
        # If there are more texts than positions, the others get the first one.
        place = page.place(rest) if place is None and before >= 0 else place
        if place is not None:
            seen[rest] = place if place > before else len(page.letters)
            spans.append(Span(at, place, len(rest), "run"))
            return Alignment(text, tuple(spans), verbatim=_is_verbatim(text, at, page, place))
        known = list(_folded(tuple(labels))) if known is None else known
        label = next((entry for entry in known if rest.startswith(entry)), None)
        if label is None:
            break
        spans.append(Span(at, -1, len(label), "stored"))
        at += len(label)
        known.remove(label)
    return None


@lru_cache(maxsize=1024)  # work
def _folded(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The distinct folded labels, longest first."""
    return tuple(sorted(dict.fromkeys(folded for label in labels if (folded := fold(label))), key=len, reverse=True))


def _is_verbatim(text: FoldedText, labels: int, page: Searched, place: int) -> bool:
    """Whether a text is lines of so many letters followed by the page's text at a position, with equal whitespace."""
    shown, begin, left = text.shown, 0, labels
    while left > 0:
        end = shown.find("\n", begin) + 1
        if not end:
            return False
        left, begin = left - len(fold(shown[begin:end])), end
    if left:
        return False
    there = page.flat.between(place, place + len(text.letters) - labels)
    return there in (" ".join(shown[begin:].split()) if begin else text.flat)


def _without_strange_statements(raw: FoldedText, runs: Sequence[Span], page: Searched) -> str:
    """The text without imports, exports, diagrams and code of components, except what the page shows of them.

    A statement may contain the name of an import that the page mentions in another sense.
    """

    def stands_there(start: int, end: int) -> bool:
        first, last = raw.letters_between(start, end)
        return last > first and in_turn(runs, first, last) >= MOST * (last - first)

    def shows(piece: str) -> bool:
        letters = fold(piece)
        return not letters or page.place(letters) is not None

    return without_components(without_statements(raw.shown, keep=stands_there), shows=shows)


def _strange_lines(raw: FoldedText, runs: Sequence[Span]) -> int:
    """How many of the first lines of a text are not, or not completely, on its page: they may have been added."""
    at = count = 0
    for line in raw.shown.split("\n", _ADDED)[:_ADDED]:
        first, last = raw.letters_between(at, at + len(line))
        if last > first and covered(runs, first, last) == last - first:
            break
        at, count = at + len(line) + 1, count + 1
    return count


def _without_strange_markup(raw: FoldedText, runs: Sequence[Span], added: int) -> str:
    """The text without the markup of which the page lacks a letter."""

    def stands_there(start: int, end: int) -> bool:
        return in_one(runs, *raw.letters_between(start, end))

    return without_markup(without_escaped(raw.shown, keep=stands_there), added=added, keep=stands_there)


def _differing(
    text: FoldedText, runs: Sequence[Span], page: Searched, labels: Sequence[str], address: Sequence[str]
) -> Alignment:
    spans = without_strays(runs)
    add_labels(text, spans, page, labels, address)
    add_words(text, spans, page)
    add_cut_lines(text, spans, page)
    add_carried_words(text, spans, page)
    if page.source is not None and covered(spans, 0, len(text.letters)) < len(text.letters):
        for start, _, length, _ in common_runs(text, page.source):
            add(spans, start, start + length, None, "source")
        add_written_lines(text, spans, page.source)
    return Alignment(text, tuple(spans))
