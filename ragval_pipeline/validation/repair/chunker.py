"""The chunker of an ingestion, inferred from chunks on their pages: where it cuts, and what it adds before each."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np
from ragval_pipeline.text.folding import FoldedText, fold
from ragval_pipeline.validation.repair.passages import Span
from ragval_pipeline.validation.thresholds import FEWEST, MOST

if TYPE_CHECKING:
    from ragval_pipeline.sources.site.html.page_text import Block


#: Tolerance in letters between edges of chunks and blocks: a number or a mark added by the extraction.
_BESIDE = 3  # work
#: Characters too few for a chunk if chunks are about equal: cuts between words vary by as many.
_WORD = 20  # work


@dataclass(frozen=True)
class Layout:
    """Positions of a page's blocks.

    Attributes:
        page: The page's text.
        blocks: The letters of each block, with the level of a heading, else 0.
    """

    page: FoldedText
    blocks: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, page: FoldedText, blocks: Iterable[Block]) -> Layout:
        """Find the blocks, given in page order; those not found are left out."""
        found, at = [], 0
        for block in blocks:
            letters = fold(block.text)
            start = page.letters.find(letters, at) if letters else -1
            if start >= 0:
                at = start + len(letters)
                found.append((start, at, block.level))
        return cls(page, tuple(found))

    def text(self, start: int, end: int) -> str:
        """The text from one letter to before another, with the characters in between."""
        offsets, shown = self.page.offsets, self.page.shown
        return shown[int(offsets[start]) : int(offsets[end]) if end < len(offsets) else len(shown)].strip()

    def path(self, at: int) -> list[str]:
        """The headings above a letter, highest level first."""
        path: list[tuple[int, str]] = []
        for first, last, level in self.blocks:
            if first > at:
                break
            if level:
                path = [(above, text) for above, text in path if above < level]
                path.append((level, " ".join(self.page.between(first, last).split())))
        return [text for _, text in path]

    def below_headings(self, at: int) -> int:
        """The letter after the headings that begin at a letter."""
        for first, last, level in self.blocks:
            if level and first == at:
                at = last
        return at

    def characters(self, start: int, end: int) -> int:
        """Characters from one letter to before another."""
        return int(self.page.offsets[end - 1] - self.page.offsets[start]) + 1 if end > start else 0


@dataclass(frozen=True)
class Chunker:
    """How an ingestion chunks pages.

    Attributes:
        levels: Levels of headings at which chunks begin.
        at_blocks: Whether longer text is cut between blocks, else between words.
        whole: Whether a block longer than a chunk is kept whole.
        limit: Maximum characters of a chunk.
        overlap: Characters that a chunk repeats of the previous one, unless there is a heading between.
        even: Whether the chunks of a text are about equal in length, as a default.
    """

    levels: frozenset[int] = frozenset()
    at_blocks: bool = False
    whole: bool = False
    limit: int = 1000  # work
    overlap: int = 0
    even: bool = False

    @classmethod
    def seen_in(cls, pages: Sequence[tuple[Layout, Sequence[Span]]]) -> Chunker | None:
        """The chunker inferred from the chunks of some pages; None if too few pages have several chunks."""
        parted = [(layout, sorted(spans)) for layout, spans in pages if len(spans) > 1]
        if len(parted) < FEWEST:
            return None
        levels = _levels(parted)
        cuts = [cut for layout, spans in parted for cut in _cuts(layout, spans, levels)]
        fitting = [layout.characters(*span) for layout, spans in parted for span in spans]
        if not cuts:
            return cls(levels, limit=max(fitting))
        at_blocks = sum(cut.at_block for cut in cuts) > MOST * len(cuts)
        limit = _limit([(cut.length, cut.length + (cut.block if at_blocks else cut.word)) for cut in cuts], fitting)
        long = [
            any(start <= first and last <= end for start, end in spans)
            for layout, spans in parted
            for first, last, _ in layout.blocks
            if layout.characters(first, last) > limit
        ]
        whole = at_blocks and sum(long) > MOST * len(long)
        return cls(levels, at_blocks, whole, limit, max(0, int(statistics.median(cut.overlap for cut in cuts))))

    def pieces(self, layout: Layout, start: int, end: int) -> list[Span]:
        """The chunks of a part of a page, in order."""
        edges = [start, *(first for first in self._openings(layout) if start < first < end), end]
        return [piece for first, last in pairwise(edges) if last > first for piece in self._cut(layout, first, last)]

    def _openings(self, layout: Layout) -> Iterator[int]:
        """The headings that begin a chunk, except those that directly follow another, and those above all texts."""
        begun = True
        for first, _, level in layout.blocks:
            if level in self.levels and not begun:
                yield first
            begun = level > 0 and (begun or level in self.levels)

    def _cut(self, layout: Layout, start: int, end: int) -> Iterator[Span]:
        page, limit = layout.page, self.limit
        if self.even:
            whole = layout.characters(start, end)
            limit = -(-whole // max(1, round(whole / limit)))
        ends = np.array([last for _, last, _ in layout.blocks if start < last < end] + [end])
        while layout.characters(start, end) > limit + (_WORD if self.even else 0):
            reach = int(page.offsets.searchsorted(page.offsets[start] + limit))
            fitting = ends[(ends > start) & (ends <= reach)] if self.at_blocks else ends[:0]
            if len(fitting):
                cut = int(fitting[-1])
            else:
                cut = int(ends[ends > start][0]) if self.whole else _word_start(page, start, reach)
            yield start, cut
            # A short rest is not repeated: the next chunk would have little else.
            repeated = 0 < 2 * self.overlap < layout.characters(start, cut)
            start = _nearest_word(page, cut, self.overlap) if repeated else cut
        if end > start:
            yield start, end


@dataclass(frozen=True)
class _Cut:
    """The end of a full chunk.

    Attributes:
        length: Its characters.
        word: Characters of the next word, which does not fit.
        block: Characters up to the end of the next block.
        overlap: Characters of it repeated in the next chunk.
        at_block: Whether it ends with a block.
    """

    length: int
    word: int
    block: int
    overlap: int
    at_block: bool


def _word_start(page: FoldedText, start: int, reach: int) -> int:
    first = page.whole_words(reach, reach + 1)[0]
    return first if first > start else reach


def _nearest_word(page: FoldedText, cut: int, overlap: int) -> int:
    """The word that begins about this many characters before a letter."""
    at = int(page.offsets.searchsorted(page.offsets[cut - 1] + 1 - overlap))
    if at >= cut:
        return cut
    before, after = page.whole_words(at, at + 1)
    return before if at - before <= after - at else min(after, cut)


def _levels(pages: Iterable[tuple[Layout, Sequence[Span]]]) -> frozenset[int]:
    """The levels of headings that mostly begin a chunk."""
    seen: defaultdict[int, list[bool]] = defaultdict(list)
    for layout, spans in pages:
        starts = [start for start, _ in spans]
        for first, last, level in _parting(layout):
            begun = any(first - _BESIDE <= start <= last + _BESIDE for start in starts)
            seen[level].append(begun)
    return frozenset(level for level, begun in seen.items() if sum(begun) > MOST * len(begun))


def _parting(layout: Layout) -> Iterator[tuple[int, int, int]]:
    """The headings with a text before them, with directly following ones."""
    after_text = False
    for first, last, level in layout.blocks:
        if level and after_text:
            yield first, last, level
        after_text = not level


def _cuts(layout: Layout, spans: Sequence[Span], levels: frozenset[int]) -> Iterator[_Cut]:
    openings = [(first, last) for first, last, level in _parting(layout) if level in levels]
    ends = [last for _, last, _ in layout.blocks]
    for (start, end), (following, _) in pairwise(spans):
        if not any(first - _BESIDE <= following <= last + _BESIDE for first, last in openings):
            word = layout.page.whole_words(end, end + 1)[1]
            block = next((last for last in ends if last > end + _BESIDE), end)
            yield _Cut(
                length=layout.characters(start, end),
                word=layout.characters(end, word),
                block=layout.characters(end, block),
                overlap=layout.characters(following, end),
                at_block=any(abs(last - end) <= _BESIDE for last in ends),
            )


def _limit(full: Sequence[tuple[int, int]], fitting: Iterable[int]) -> int:
    """The length that most chunks observe and that most full ones would exceed with the next piece.

    ``full`` are the characters of each full chunk, without and with the next piece; ``fitting`` those of every chunk.
    """
    steps = sorted([(length, 1) for length in fitting] + [(beyond, -1) for _, beyond in full])
    best, at, count = 0, 0, 0
    for number, (length, step) in enumerate(steps):
        count += step
        if count > best:
            following = steps[number + 1][0] if number + 1 < len(steps) else length
            best, at = count, (length + following) // 2
    return max(1, at)


#: Placeholders for the heading path and for values, which differ between chunks; no text contains them.
_PATH = "\0p"
_VALUES = {"source_url": "\0a", "title": "\0t", "module": "\0m"}
#: Between the headings of a path.
_BETWEEN = r"([^\w\0]{1,5})"
_USUAL = " > "


@dataclass(frozen=True)
class Opening:
    """What the ingestion adds before chunks.

    Attributes:
        shape: The text, with placeholders for the heading path and values.
        between: Separator of the headings of the path.
        takes_in: Whether a chunk that begins with a heading has it only in the opening.
    """

    shape: str = ""
    between: str = _USUAL
    takes_in: bool = False

    @classmethod
    def seen_in(cls, chunks: Iterable[tuple[str, str, Mapping[str, Any]]]) -> Opening:
        """The opening of most of some chunks, or an empty one.

        ``chunks`` are the added beginning, text and values of each.
        """
        shapes, parting, taken = Counter[str](), Counter[str](), 0
        for opening, text, row in chunks:
            shape, path = opening, [str(heading) for heading in row.get("headings") or ()]
            found = re.search(rf"{_BETWEEN.join(map(re.escape, path))}(\s*)", text) if path else None
            if found and found.start() <= len(opening):
                *parts, behind = found.groups()
                parting.update(parts)
                # If the chunk is the first below its headings, the page has the last ones of the path too.
                taken += found.end() > len(opening)
                shape = text[: found.start()] + _PATH + behind + opening[found.end() :]
            for name, mark in _VALUES.items():
                if row.get(name):
                    shape = re.sub(rf"(?<!\w){re.escape(str(row[name]))}(?!\w)", mark, shape)
            shapes[shape] += 1
        if not shapes:
            return cls()
        (shape, number), *_ = shapes.most_common(1)
        between = parting.most_common(1)[0][0] if parting else _USUAL
        takes_in = taken > 0 and _PATH in shape
        return cls(shape, between, takes_in) if number > MOST * shapes.total() else cls()

    def of(self, values: Mapping[str, Any]) -> str:
        """The opening of a chunk with these values."""
        text = self.shape.replace(_PATH, self.between.join(map(str, values.get("headings") or ())))
        for name, mark in _VALUES.items():
            text = text.replace(mark, str(values.get(name) or ""))
        return text
