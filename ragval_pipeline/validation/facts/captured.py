"""How much of a page's content is in its chunks, from their alignments."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from ragval_pipeline.findings.factory import PASSAGE
from ragval_pipeline.lazy import np
from ragval_pipeline.text.folding import FoldedText, amount_of, fold, words_of
from ragval_pipeline.text.grams import SIZE, GramIndex, gram_hashes
from ragval_pipeline.text.markup import without_markup
from ragval_pipeline.validation.facts.cuts import Cuts
from ragval_pipeline.validation.facts.gaps import pieces_of
from ragval_pipeline.validation.facts.hashes import hash_of
from ragval_pipeline.validation.facts.page import Page, Range
from ragval_pipeline.validation.facts.rows import BlockFacts
from ragval_pipeline.validation.facts.spans import Alignment
from ragval_pipeline.validation.thresholds import ANCHOR_LETTERS, LABEL_WORDS, LONGEST_GAP, MOST, PASSAGE_LETTERS

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragval_pipeline.sources.site.html.page_text import Block

    Mask = npt.NDArray[np.bool_]
    Hashes = npt.NDArray[np.uint64]

#: Arguments of a component or template in a stored source, which may be a heading: the title of a figure.
_ATTRIBUTE = re.compile(r"\w=[\"']([^\"'\n]{1,200})[\"']")
#: Separators of a page's name and its site's in a title: marks with spaces around them.
_PARTED = re.compile(r"\s+[^\w\s]+\s+")
_WORDS = re.compile(r"[^\W_]+")
#: A block that is only an address.
_ONLY_ADDRESS = re.compile(r"\W*(?:https?://|mailto:)\S+\s*")
#: Kinds of blocks that come several at a time: each of them may be short, and says a lot with the others.
LISTED = frozenset({"row", "item", "code"})
#: A piece of a block on its page: position there, first letter in the block, letters, those in chunks.
Run: TypeAlias = tuple[int, int, int, int]


def held_blocks(
    page: Page, chunks: Sequence[Alignment], labels: Iterable[str], stored: Iterable[FoldedText]
) -> list[BlockFacts]:
    """How much of each block of a page's content is in its chunks, in page order.

    ``labels``, titles and headings stored with the chunks, are not lost. ``stored`` are the texts with all markup,
    which may contain a passage too: the caption of a picture.
    """
    held = np.zeros(len(page.letters), dtype=np.bool_)
    for span in (span for chunk in chunks for span in chunk.spans if span.place >= 0):
        held[span.place : span.beyond] = True
    upto = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(held)])
    elsewhere, texts = _Elsewhere(page, held, upto), _Texts(page, chunks, tuple(labels), tuple(stored))
    cuts = Cuts(page, chunks, held, texts.held)
    blocks = list[BlockFacts]()
    ranges = np.array([place for places in page.places for place in places], dtype=np.int64).reshape(-1, 2)
    counts = iter((upto[ranges[:, 1]] - upto[ranges[:, 0]]).tolist())
    for block, places in zip(page.blocks, page.places, strict=True):
        folded = "".join([page.letters[start:end] for start, end in places])
        letters, count = len(folded), sum(islice(counts, len(places)))
        if not letters or _ONLY_ADDRESS.fullmatch(block.text):
            continue
        # The beginning of a section, and other sections, often have the words of a heading that no chunk has.
        if count < letters and block.kind != "heading":
            count = max(count, elsewhere.held(folded, places))
        if count < letters and texts.have(block, folded):
            count = letters
        if count < letters and block.kind != "heading":
            is_listed = bool(blocks) and block.kind in LISTED and block.kind == blocks[-1].kind
            cuts.add(len(blocks), block, folded, places, is_listed=is_listed, missing=letters - count)
        text = _shortened(block.text) if count < letters else ""
        start, count = page.position(places[0][0]), min(count, letters)
        weight = amount_of(folded) / letters
        blocks.append(BlockFacts(block.kind, letters, count, start, hash_of(folded), text, weight=weight))
    for number, cut in cuts.longest().items():
        facts = blocks[number]
        is_held = facts.held >= MOST * facts.letters
        text = _shortened(f"…{_behind(cut.text, cut.first)}") if is_held else facts.text
        blocks[number] = facts._replace(cut=int(cut.lacking), text=text)
    return blocks


def _shortened(text: str) -> str:
    return text if len(text) <= PASSAGE else f"{text[: PASSAGE - 1]}…"


def _behind(text: str, letter: int) -> str:
    """A text from one of its letters on."""
    shown = FoldedText.of(text)
    return shown.shown[int(shown.offsets[letter]) :]


@dataclass(frozen=True)
class _Texts:
    """The texts of a page's chunks, in which a block is looked up whole if they are not aligned with it."""

    page: Page
    chunks: Sequence[Alignment]
    labels: Sequence[str]
    stored: Sequence[FoldedText]

    def have(self, block: Block, letters: str) -> bool:
        """Whether chunks have a block."""
        # On a repetitive page pieces of a chunk may be taken for those of other passages.
        if amount_of(letters) >= PASSAGE_LETTERS and any(letters in text for text in self._letters):
            return True
        if block.kind == "heading":
            pieces = self._pieces
            # With or without its number.
            is_told = letters in pieces or (letters.lstrip("0123456789") or letters) in pieces
            return is_told or _is_most_of(block.text, pieces) or _is_within(letters, pieces, self.page)
        if len(letters) >= PASSAGE_LETTERS:
            return _consists_of(self._grams, letters)
        return block.kind == "row" and _is_told(words_of(block.text), self._words)

    def held(self, letters: str) -> Mask:
        """Which letters of a text lie in an n-gram by which a text is located, of any chunk."""
        held = np.zeros(len(letters), dtype=np.bool_)
        for at in _known(self._grams, letters).tolist():
            held[at : at + ANCHOR_LETTERS] = True
        return held

    @cached_property
    def _letters(self) -> set[str]:
        return {text.letters for text in chain((chunk.text for chunk in self.chunks), self.stored)}

    @cached_property
    def _grams(self) -> Hashes:
        """The hashes of the n-grams of the texts by which a text is located, sorted, each once."""
        hashes = (gram_hashes(text, ANCHOR_LETTERS) for text in self._letters)
        return np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *hashes]))

    @cached_property
    def _words(self) -> list[list[str]]:
        return [words_of(text.shown) for text in self.stored]

    @cached_property
    def _pieces(self) -> set[str]:
        """What may be a heading: labels and their parts, titles in markup, and lines."""
        known = {fold(name) for label in self.labels for form in _forms(label) for name in _names(form)}
        titles = (fold(value) for text in self.stored for value in _ATTRIBUTE.findall(text.shown))
        return known.union(titles, *(pieces_of(chunk.text) for chunk in self.chunks))


def _consists_of(grams: Hashes, letters: str) -> bool:
    """Whether every letter of a text lies in one of these n-grams: then chunks have it, cut anywhere."""
    at = _known(grams, letters)
    return bool((np.diff(at, prepend=-ANCHOR_LETTERS, append=len(letters)) <= ANCHOR_LETTERS).all())


def _known(grams: Hashes, letters: str) -> npt.NDArray[np.int64]:
    """Positions in a text of its n-grams that are among these."""
    if not len(grams):
        return np.empty(0, dtype=np.int64)
    hashes = gram_hashes(letters, ANCHOR_LETTERS)
    return np.flatnonzero(grams[grams.searchsorted(hashes) % len(grams)] == hashes)


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


def _is_within(heading: str, pieces: set[str], page: Page) -> bool:
    """Whether a line is a heading plus the page's text for a picture or button in it."""

    def is_told(letters: str) -> bool:
        return not letters or page.place(letters, after=int(page.told) - 1) is not None

    parts = (piece.partition(heading) for piece in pieces if len(piece) > len(heading))
    return any(heading == found and is_told(before) and is_told(after) for before, found, after in parts)


def _is_most_of(heading: str, pieces: set[str]) -> bool:
    """Whether a line has more than half of a heading's words, with at most one gap.

    A title may omit what all pages of its kind are called, and splitters move code out of a heading. Words are counted,
    since the same gap is most of the letters of one heading and few of another.
    """
    words = list(filter(None, map(fold, _WORDS.findall(heading))))
    count = len(words)
    # The line is a label, and the heading is less than twice as long.
    return count < 2 * LABEL_WORDS and any(
        "".join((*words[:first], *words[last:])) in pieces
        for first in range(count)
        for last in range(first + 1, first + (count + 1) // 2)
    )


def _is_told(row: Sequence[str], texts: Iterable[Sequence[str]]) -> bool:
    """Whether some text has the words of a short row in order, with anything between: e.g. the names of columns."""

    def is_in(text: Iterable[str]) -> bool:
        words = iter(text)
        return all(word in words for word in row)

    return any(map(is_in, texts))


class _Elsewhere:
    """How much of blocks is in chunks at another position of a repetitive page, in one piece.

    Reference pages repeat the same text for every entry: half of a lost paragraph may be in pieces in the others. At
    any single position there is less of it.
    """

    def __init__(self, page: Page, held: Mask, upto: npt.NDArray[np.int64]) -> None:
        self._page, self._held, self._upto = page, held, upto
        # By the letters of a block, for pages that repeat the same text thousands of times.
        self._runs: dict[str, list[Run]] = {}
        self._most: dict[str, int] = {}

    def held(self, letters: str, places: Sequence[Range]) -> int:
        """How much of a block is held, given its positions."""
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
        """Whether any n-gram between two positions occurs where chunks hold some of it."""
        upto = self._held_somewhere
        return end - begin >= SIZE and bool(upto[end - SIZE + 1] - upto[begin])

    @cached_property
    def _held_grams(self) -> npt.NDArray[np.int64]:
        """Positions on the page of n-grams that are partly in chunks."""
        return np.flatnonzero(self._upto[SIZE:] > self._upto[:-SIZE])

    @cached_property
    def _held_somewhere(self) -> npt.NDArray[np.int64]:
        """Cumulative count of the page's n-grams that also occur at such positions."""
        hashes = gram_hashes(self._page.letters, SIZE)
        somewhere = np.isin(hashes, hashes[self._held_grams])
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(somewhere)])

    @cached_property
    def _index(self) -> GramIndex:
        return GramIndex(self._page.letters, SIZE, at=self._held_grams)

    def _held_runs(self, letters: str) -> list[Run]:
        """Pieces of a block that are partly in chunks, in page order."""
        if len(letters) < SIZE:
            return []
        return sorted(
            (place, start, length, held)
            for start, place, length in self._index.common_runs(letters)
            if (held := int(self._upto[place + length] - self._upto[place]))
        )

    def _most_held(self, runs: Sequence[Run], letters: int) -> int:
        """How much of a block is in chunks in the best window of the page as long as the block.

        Repetitions in a window count once: a list of names that begin alike has no more of a name than one of them. A
        window of nothing but short pieces, and long names, is another text with the same names.
        """
        times = np.zeros(letters, dtype=np.int64)
        most = total = first = anchored = 0
        for place, start, length, _ in runs:
            part, added = times[start : start + length], self._held[place : place + length]
            total += int(np.count_nonzero(added & (part == 0)))
            part += added
            anchored += self._is_anchor(place, length, letters)
            while runs[first][0] < place - letters - LONGEST_GAP:
                place_then, start_then, length_then, _ = runs[first]
                part, removed = times[start_then : start_then + length_then], self._held[place_then:][:length_then]
                part -= removed
                total -= int(np.count_nonzero(removed & (part == 0)))
                anchored -= self._is_anchor(place_then, length_then, letters)
                first += 1
            most = max(most, total) if anchored else most
        return most

    def _is_anchor(self, place: int, length: int, letters: int) -> bool:
        """Whether a piece is a whole block of so many letters, or long and not for the most part a single word."""
        if length < min(ANCHOR_LETTERS, letters):
            return False
        first, last = np.searchsorted(self._words, (place + 1, place + length))
        words = np.diff(self._words[first:last], prepend=place, append=place + length)
        return length == letters or int(words.max()) < MOST * length

    @cached_property
    def _words(self) -> npt.NDArray[np.int64]:
        """Where words of the page begin, as blanks part them."""
        return self._page.folded.tokens[:, 0]
