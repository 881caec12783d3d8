"""What of a page's content its chunks hold, read off their alignments."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from ragval_pipeline.text.folding import FoldedText, fold, words_of
from ragval_pipeline.text.grams import SIZE, GramIndex, gram_hashes
from ragval_pipeline.text.markup import without_markup
from ragval_pipeline.validation.facts.gaps import pieces_of
from ragval_pipeline.validation.facts.hashes import hash_of
from ragval_pipeline.validation.facts.page import Page, Range
from ragval_pipeline.validation.facts.rows import BlockFacts
from ragval_pipeline.validation.facts.spans import Alignment
from ragval_pipeline.validation.thresholds import LABEL_WORDS, LONGEST_GAP, PASSAGE_LETTERS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]

#: Characters of a block that are kept where chunks lack some of it.
PASSAGE_CHARACTERS = 400  # shown
#: What a component or a template of a stored source is given, which may be a heading: the title of a figure.
_ATTRIBUTE = re.compile(r"\w=[\"']([^\"'\n]{1,200})[\"']")
#: What parts a page's name from that of its site in a title: marks with blanks around them.
_PARTED = re.compile(r"\s+[^\w\s]+\s+")
_WORDS = re.compile(r"[^\W_]+")
#: A block that is an address and says nothing else.
_ONLY_ADDRESS = re.compile(r"\W*(?:https?://|mailto:)\S+\s*")
#: A piece of a block that its page has: place there, first letter in the block, letters, those that chunks hold.
Run: TypeAlias = tuple[int, int, int, int]


def held_blocks(
    page: Page, chunks: Sequence[Alignment], labels: Iterable[str], stored: Iterable[FoldedText]
) -> list[BlockFacts]:
    """How much of each block of a page's content stands in its chunks, in the order of the page.

    Args:
        page: The page.
        chunks: Its chunks, aligned with it.
        labels: Titles and headings stored with them: an ingestion that keeps them there did not lose them.
        stored: Their texts with all markup, which may hold a passage too: the caption of a picture.
    """
    import numpy as np

    held = np.zeros(len(page.letters), dtype=np.bool_)
    for span in (span for chunk in chunks for span in chunk.spans if span.place >= 0):
        held[span.place : span.beyond] = True
    upto = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(held)])
    pieces: set[str] | None = None
    told: list[list[str]] | None = None
    raw = tuple(stored)
    texts = {text.letters for text in chain((chunk.text for chunk in chunks), raw)}
    elsewhere = _Elsewhere(page, held, upto)
    blocks = []
    ranges = np.array([place for places in page.places for place in places], dtype=np.int64).reshape(-1, 2)
    counts = iter((upto[ranges[:, 1]] - upto[ranges[:, 0]]).tolist())
    for block, places in zip(page.blocks, page.places, strict=True):
        folded = "".join([page.letters[start:end] for start, end in places])
        letters, count = len(folded), sum(islice(counts, len(places)))
        if not letters or _ONLY_ADDRESS.fullmatch(block.text):
            continue
        if count < letters:
            # What a section begins with, and what others say, often has the words of a heading that no chunk has.
            count = count if block.kind == "heading" else max(count, elsewhere.held(folded, places))
            # Of a page that repeats itself pieces of a chunk may be taken for those of other passages.
            if letters >= PASSAGE_LETTERS and any(folded in text for text in texts):
                count = letters
            if block.kind == "row" and count < letters < PASSAGE_LETTERS:
                if told is None:
                    told = [words_of(text.shown) for text in raw]
                count = letters if _is_told(words_of(block.text), told) else count
            if block.kind == "heading" and count < letters:
                if pieces is None:
                    known = {fold(name) for label in labels for form in _forms(label) for name in _names(form)}
                    titles = (fold(value) for text in raw for value in _ATTRIBUTE.findall(text.shown))
                    pieces = known.union(titles, *(pieces_of(chunk.text) for chunk in chunks))
                is_told = _is_piece(folded, pieces) or _is_most_of(block.text, pieces)
                count = letters if is_told or _is_within(folded, pieces, page) else count
        text = block.text if count < letters else ""
        text = text if len(text) <= PASSAGE_CHARACTERS else f"{text[: PASSAGE_CHARACTERS - 1]}…"
        start = page.position(places[0][0])
        blocks.append(BlockFacts(block.kind, letters, min(count, letters), start, hash_of(folded), text))
    return blocks


def _names(label: str) -> Iterator[str]:
    """A label, and what it names where marks part that from the site or sections: "Arms - Handbook | Robots"."""
    yield label
    begin = 0
    for mark in _PARTED.finditer(label):
        yield from (label[: mark.start()], label[mark.end() :], label[begin : mark.start()])
        begin = mark.end()


def _forms(label: str) -> tuple[str, ...]:
    """A label as it is, without its markup, and without all but what may be the parameter of a type: ``Into<U>``."""
    return label, without_markup(label), without_markup(label, keep=lambda start, _: label[start] == "<")


def _is_piece(heading: str, pieces: set[str]) -> bool:
    """Whether a chunk has a heading in a line of its own, with or without its number."""
    return heading in pieces or (heading.lstrip("0123456789") or heading) in pieces


def _is_within(heading: str, pieces: set[str], page: Page) -> bool:
    """Whether a line of its own is a heading and what the page says of a picture in it, or of a button."""

    def is_told(letters: str) -> bool:
        return not letters or page.place(letters, after=int(page.told) - 1) is not None

    parts = (piece.partition(heading) for piece in pieces if len(piece) > len(heading))
    return any(heading == found and is_told(before) and is_told(after) for before, found, after in parts)


def _is_most_of(heading: str, pieces: set[str]) -> bool:
    """Whether a line of its own is more than half of a heading's words, with one stretch of them left out at most.

    A title names a page without what all pages of its kind are called, and splitters move code out of a heading. Words
    are counted, since the same stretch is most of the letters of one heading and few of those of another.
    """
    words = list(filter(None, map(fold, _WORDS.findall(heading))))
    count = len(words)
    # The line is a label, of which this is less than twice as long.
    return count < 2 * LABEL_WORDS and any(
        "".join((*words[:first], *words[last:])) in pieces
        for first in range(count)
        for last in range(first + 1, first + (count + 1) // 2)
    )


def _is_told(row: Sequence[str], texts: Iterable[Sequence[str]]) -> bool:
    """Whether some text has the words of a short row in their order, whatever stands between: the names of columns."""

    def is_in(text: Iterable[str]) -> bool:
        words = iter(text)
        return all(word in words for word in row)

    return any(map(is_in, texts))


class _Elsewhere:
    """What of blocks chunks hold at another place of a page that repeats itself, in one piece.

    Reference pages say the same of everything they list: half of a paragraph that was lost may stand in pieces of some
    words in the others. In one place there is less of it.
    """

    def __init__(self, page: Page, held: Mask, upto: npt.NDArray[np.int64]) -> None:
        self._page, self._held, self._upto = page, held, upto
        # By the letters of a block, for pages that say the same thousands of times.
        self._runs: dict[str, list[Run]] = {}
        self._most: dict[str, int] = {}

    def held(self, letters: str, places: Sequence[Range]) -> int:
        """How much of a block that stands at some places."""
        begin, end = places[0][0], places[-1][1]
        if end - begin == len(letters) and not self._may_be_held(begin, end):
            return 0
        if letters not in self._runs:
            self._runs[letters] = self._held_runs(letters)
            self._most[letters] = self._most_held(self._runs[letters], len(letters))
        runs = self._runs[letters]
        others = [*runs[: bisect_left(runs, (begin,))], *runs[bisect_left(runs, (end,)) :]]
        return self._most[letters] if len(others) == len(runs) else self._most_held(others, len(letters))

    def _may_be_held(self, begin: int, end: int) -> bool:
        """Whether any run of letters between two places stands where chunks hold some of it."""
        upto = self._held_somewhere
        return end - begin >= SIZE and bool(upto[end - SIZE + 1] - upto[begin])

    @cached_property
    def _held_grams(self) -> npt.NDArray[np.int64]:
        """Where on the page the runs of letters stand that chunks hold some of."""
        import numpy as np

        return np.flatnonzero(self._upto[SIZE:] > self._upto[:-SIZE])

    @cached_property
    def _held_somewhere(self) -> npt.NDArray[np.int64]:
        """How many of the page's runs of letters up to each stand in such places, too."""
        import numpy as np

        hashes = gram_hashes(self._page.letters, SIZE)
        somewhere = np.isin(hashes, hashes[self._held_grams])
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(somewhere)])

    @cached_property
    def _index(self) -> GramIndex:
        return GramIndex(self._page.letters, SIZE, at=self._held_grams)

    def _held_runs(self, letters: str) -> list[Run]:
        """Where pieces of a block stand and chunks hold some of them, in the order of the page."""
        if len(letters) < SIZE:
            return []
        return sorted(
            (place, start, length, held)
            for start, place, length in self._index.common_runs(letters)
            if (held := int(self._upto[place + length] - self._upto[place]))
        )

    def _most_held(self, runs: Sequence[Run], letters: int) -> int:
        """How much of a block chunks hold in the window of the page, as long as the block, where they hold most.

        What a window repeats counts once: a list of names that begin alike holds no more of a name than one of them.
        """
        import numpy as np

        times = np.zeros(letters, dtype=np.int64)
        most = total = first = 0
        for place, start, length, _ in runs:
            part, added = times[start : start + length], self._held[place : place + length]
            total += int(np.count_nonzero(added & (part == 0)))
            part += added
            while runs[first][0] < place - letters - LONGEST_GAP:
                place_then, start_then, length_then, _ = runs[first]
                part, removed = times[start_then : start_then + length_then], self._held[place_then:][:length_then]
                part -= removed
                total -= int(np.count_nonzero(removed & (part == 0)))
                first += 1
            most = max(most, total)
        return most
