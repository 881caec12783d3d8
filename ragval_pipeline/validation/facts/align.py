"""The one alignment of a chunk with its page: common runs, longest first (Wise 1993), and what fills the gaps."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.text.grams import SIZE, width_for
from ragval_pipeline.text.markup import without_escaped, without_markup, without_statements
from ragval_pipeline.validation.facts.gaps import add_carried_words, add_labels, add_words, add_written_lines
from ragval_pipeline.validation.facts.inserted import without_inserted
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.spans import Alignment, Span, add, covered, free, gaps

#: What may be the mark of a list's item, where an ingestion put blanks for line breaks, its end cut off; the number of
#: a line of code, an item's circle. And what converters put beside a link or around code: the number of its address,
#: the address itself, ``[code]``.
_ITEM = r"(?<!\S)\d{1,4}(?:[.)](?=\s|\Z)|\Z)|(?m:^)[ \t]*(?:\d{1,4}(?=[ \t]{2})|o(?=[ \t]))"
_LINK = r"[\[\u27e8]\d{1,4}[\]\u27e9]|\[[^\s\[\]./#:]*[./#:][^\s\[\]]*\]|\[code\]|\(BUTTON\)"
_MARKS = re.compile(rf"(?:(?:{_ITEM}|(?P<link>{_LINK}))(?:[ \t]*\n)*[ \t]*?)+")
#: Lines that an ingestion may put before a chunk.
_ADDED = 6  # work
#: Places of the letters around a mark that are looked at.
_PLACES = 64  # work


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
        places = [place for place in places if place < page.told] or places
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
        page: What it is looked for in.
        folded: The chunk by its letters, where they are known.
        labels: Title and headings stored with the chunk: a line that repeats them is no difference.
        address: Where the chunk is from, as stored with it: the same, where it stands apart from other words.
        seen: Where each text that was aligned with the page already stands: the same texts take the places of a page
            that repeats them in turn.

    Returns:
        The alignment of the text as it is, or without the numbers of list items that the page has in no text, and
        without Markdown's markup, or that which the page does not show: the one of which it lacks the fewest letters.
        What it lacks may stand in the Markdown that the page was rendered from.
    """
    raw = folded or FoldedText.of(text)
    found = _aligned(text, raw, page, labels, address, {} if seen is None else seen)
    if not found.whole:
        bare = without_inserted(found, page)
        if bare is not found.text:
            exact = _exact(bare, page, labels, {} if seen is None else seen)
            other = exact or _differing(bare, common_runs(bare, page), page, labels, address)
            if other.letters - other.letters_found < found.letters - found.letters_found:
                found = other
    if found.whole or page.source is None:
        return found
    spans = list(found.spans)
    if _exact(raw, page.source, labels, {}) is not None:
        for start, end in gaps(found.spans, found.letters):
            add(spans, start, end, None, "source")
    return Alignment(found.text, tuple(spans))


def _aligned(
    text: str, raw: FoldedText, page: Searched, labels: Sequence[str], address: Sequence[str], seen: dict[str, int]
) -> Alignment:
    exact = _exact(raw, page, labels, seen)
    if exact is not None:
        return exact
    runs = common_runs(raw, page)
    if (plainer := _without_strange_statements(raw, runs)) != raw.shown:
        return _aligned(plainer, FoldedText.of(plainer), page, labels, address, seen)
    added = _strange_lines(raw, runs)
    # Brackets behind one in brackets would be taken for what that leads to.
    marked = _without_marks(raw, page, beside_markup=True)
    plain = without_markup(without_escaped(marked.shown), added=added)
    bare = _without_marks(marked if plain == marked.shown else FoldedText.of(plain), page)
    if bare is raw:
        return _differing(raw, runs, page, labels, address)
    strange, shows_some = _without_strange_markup(raw, runs, added)
    exact = _exact(bare, page, (), seen) if bare.letters and not shows_some else None
    if exact is not None:
        return exact
    readings = [(raw, runs), (bare, common_runs(bare, page))]
    if shows_some and strange != raw.shown:
        reading = _without_marks(FoldedText.of(strange), page)
        readings.append((reading, common_runs(reading, page)))
    alignments = (_differing(reading, own, page, labels, address) for reading, own in readings)
    # Code that shows tags stands on the page to the last letter, with them and without.
    return max(alignments, key=lambda alignment: (alignment.letters_found - alignment.letters, alignment.letters_found))


def _exact(text: FoldedText, page: Searched, labels: Sequence[str], seen: dict[str, int]) -> Alignment | None:
    """The alignment of a text that is its own title and headings, if any, and then a piece of the page; else None."""
    letters, spans, at = text.letters, list[Span](), 0
    known: list[str] | None = None
    while True:
        rest = letters[at:]
        before = seen.get(rest, -1)
        # Of more texts than places the others stand in the first one.
        place = (page.place(rest, after=before) if before >= 0 else None) if rest or not at else None
        place = page.place(rest) if place is None and (rest or not at) else place
        if place is not None:
            break
        if known is None:
            known = list(_folded(tuple(labels)))
        label = next((entry for entry in known if rest.startswith(entry)), None)
        if label is None:
            return None
        spans.append(Span(at, -1, len(label), "stored"))
        at += len(label)
        known.remove(label)
    if rest:
        seen[rest] = place if place > before else len(page.letters)
    if rest:
        spans.append(Span(at, place, len(rest), "run"))
    return Alignment(text, tuple(spans), verbatim=bool(rest) and _is_verbatim(text, at, page, place))


@lru_cache(maxsize=1024)  # work
def _folded(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The letters of labels, each once, the longest first."""
    return tuple(sorted(dict.fromkeys(folded for label in labels if (folded := fold(label))), key=len, reverse=True))


def _is_verbatim(text: FoldedText, labels: int, page: Searched, place: int) -> bool:
    """Whether a text is lines of so many letters and then what the page has at a place, with the same blanks."""
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


def _without_strange_statements(raw: FoldedText, runs: Sequence[Span]) -> str:
    """The text without imports, exports and diagrams of which the page has less than half."""

    def stands_there(start: int, end: int) -> bool:
        first, last = raw.letters_between(start, end)
        return last > first and 2 * covered(runs, first, last) >= last - first

    return without_statements(raw.shown, keep=stands_there)


def _strange_lines(raw: FoldedText, runs: Sequence[Span]) -> int:
    """How many of the first lines of a text its page has not, or not all of: so many may have been put before it."""
    at = count = 0
    for line in raw.shown.split("\n", _ADDED)[:_ADDED]:
        first, last = raw.letters_between(at, at + len(line))
        if last > first and covered(runs, first, last) == last - first:
            break
        at, count = at + len(line) + 1, count + 1
    return count


def _without_strange_markup(raw: FoldedText, runs: Sequence[Span], added: int) -> tuple[str, bool]:
    """The text without the markup of which the page lacks a letter, and whether it has all letters of some."""
    shown = False

    def stands_there(start: int, end: int) -> bool:
        nonlocal shown
        first, last = raw.letters_between(start, end)
        stands = covered(runs, first, last) == last - first
        shown |= stands and last > first
        return stands

    return without_markup(without_escaped(raw.shown, keep=stands_there), added=added, keep=stands_there), shown


def _without_marks(text: FoldedText, page: Searched, *, beside_markup: bool = False) -> FoldedText:
    """The text without marks of list items and links that its page shows without having them in its text.

    There the page has the two words around it one after the other; at the chunk's end the word before it ends a line.
    Of cells of a table that were read in another order, the word behind a link's mark is enough. Beside markup only
    marks of links are sure, and only where the page has both words: a number may be part of that.
    """
    marks = [mark for mark in _marks_of(text) if mark.is_link or not beside_markup]
    pieces, shown_from, place = list[str](), 0, -1
    for number, mark in enumerate(marks):
        # Others are no letters of the page, unless nothing stands between.
        begin = next((other.last for other in reversed(marks[:number]) if other.last < mark.first), 0)
        upto = next((other.first for other in marks[number + 1 :] if other.first > mark.last), len(text.letters))
        left = text.letters[max(begin, mark.first - SIZE) : mark.first]
        right = text.letters[mark.last : min(upto, mark.last + SIZE)]
        found = _joint(page, left, right, after=place, within=bool(mark.is_link and left))
        if found is None and right and mark.is_link and not beside_markup:
            shown = _is_shown(page, left, text.letters[mark.first : mark.last], right)
            found = None if shown else _joint(page, "", right, after=place)
        if found is not None:
            pieces += text.shown[shown_from : mark.start], " " * (mark.end - mark.start)
            shown_from, place = mark.end, found
    return FoldedText.of("".join((*pieces, text.shown[shown_from:]))) if pieces else text


class _Mark(NamedTuple):
    """What may be a mark, from one character to before another, and its letters."""

    start: int
    end: int
    first: int
    last: int
    is_link: bool


def _marks_of(text: FoldedText) -> list[_Mark]:
    """The marks of a text; those of links without a letter between count as one."""
    marks = list[_Mark]()
    for found in _MARKS.finditer(text.shown):
        own = _Mark(*found.span(), *text.letters_between(*found.span()), found["link"] is not None)
        if marks and own.is_link and marks[-1].is_link and marks[-1].last == own.first:
            before = marks.pop()
            own = own._replace(start=before.start, first=before.first)
        marks.append(own)
    return marks


def _is_shown(page: Searched, left: str, mark: str, right: str) -> bool:
    """Whether the page has a mark itself, behind or in front of the word that the chunk has there."""
    return any(page.place(letters) is not None for letters in (left + mark, mark + right))


def _joint(page: Searched, left: str, right: str, *, after: int, within: bool = False) -> int | None:
    """Where some letters of the page end a word, and others begin the next; without others, where they end a line.

    Behind a place, if there is one: the items of a list follow one another. ``within`` a word or a line is where a link
    may be.
    """
    starts = page.folded.word_starts if right else None
    for behind in dict.fromkeys((after, -1)) if left or right else ():
        for place in islice(_places(page, left + right, behind), _PLACES):
            at = place + len(left)
            if within or at == len(page.letters) or (page.begins_line(at) if starts is None else starts[at]):
                return place
    return None


def _places(page: Searched, letters: str, after: int) -> Iterator[int]:
    place = page.place(letters, after=after)
    while place is not None:
        yield place
        place = page.place(letters, after=place)


def _differing(
    text: FoldedText, runs: Sequence[Span], page: Searched, labels: Sequence[str], address: Sequence[str]
) -> Alignment:
    spans = list(runs)
    add_labels(text, spans, page, labels, address)
    add_words(text, spans, page)
    add_carried_words(text, spans, page)
    if page.source is not None and covered(spans, 0, len(text.letters)) < len(text.letters):
        for start, _, length, _ in common_runs(text, page.source):
            add(spans, start, start + length, None, "source")
        add_written_lines(text, spans, page.source)
    return Alignment(text, tuple(spans))
