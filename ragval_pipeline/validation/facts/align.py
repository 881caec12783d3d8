"""The one alignment of a chunk with its page: which letters of the chunk stand where on the page.

Coverage, changed and joined words, openings and closings, the order of chunks, what of the page no chunk holds, and
copies are all read off its spans (``spans``). A chunk that stands on its page letter for letter is one span. Of others
the longest common runs of letters are taken first (``runs``), then words between two runs that the page has between
the same places, then lines and cells that stand on the page as a whole, wherever they are (``gaps``). Letters instead
of words are aligned because extractors differ in blanks and marks, and some scripts have no blanks at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.text.markup import without_markup, without_statements
from ragval_pipeline.validation.facts.gaps import add_labels, add_words
from ragval_pipeline.validation.facts.page import Searched
from ragval_pipeline.validation.facts.runs import common_runs
from ragval_pipeline.validation.facts.spans import Alignment, Span, covered


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
        The alignment of the text as it is, without Markdown's markup, or without the markup that the page does not
        show: the one that stands on the page to the larger part.
    """
    seen = {} if seen is None else seen
    raw = folded or FoldedText.of(text)
    exact = _exact(raw, page, labels, seen)
    if exact is not None:
        return exact
    runs = common_runs(raw, page)
    if (plainer := _without_strange_statements(raw, runs)) != raw.shown:
        return align(plainer, page, labels=labels, address=address, seen=seen)
    plain = without_markup(text)
    if plain == text:
        return _differing(raw, runs, page, labels, address)
    bare = FoldedText.of(plain)
    exact = _exact(bare, page, (), seen) if bare.letters else None
    if exact is not None:
        return exact
    readings = [(raw, runs), (bare, common_runs(bare, page))]
    strange = without_markup(raw.shown, keep=_is_shown(raw, runs))
    if strange not in (raw.shown, plain):
        reading = FoldedText.of(strange)
        readings.append((reading, common_runs(reading, page)))
    alignments = (_differing(reading, own, page, labels, address) for reading, own in readings)
    return max(alignments, key=lambda alignment: alignment.share)


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


def _is_shown(raw: FoldedText, runs: Sequence[Span]) -> Callable[[int, int], bool]:
    """Whether the page has all letters between two characters of the text."""

    def stands_there(start: int, end: int) -> bool:
        first, last = raw.letters_between(start, end)
        return covered(runs, first, last) == last - first

    return stands_there


def _differing(
    text: FoldedText, runs: Sequence[Span], page: Searched, labels: Sequence[str], address: Sequence[str]
) -> Alignment:
    spans = list(runs)
    add_labels(text, spans, page, labels, address)
    added = tuple(add_words(text, spans, page))
    return Alignment(text, tuple(spans), added)
