"""Where the chunks of each page stand on it, in arrays: of most pages no objects are made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.sources.arrow import constant, numbers_of, without_nulls
from ragval_pipeline.validation.chunks.windows import SlidingWindows
from ragval_pipeline.validation.thresholds import (
    ANCHOR_LETTERS,
    MOST,
    NESTED,
    PASSAGE_LETTERS,
    VERIFIED_FROM,
    WHOLE,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]

#: Columns of the facts that a layout is made of.
COLUMNS = (
    "page_key", "compared", "letters", "found", "longest", "repeated", "chunk_index", "depth", "starts", "places",
    "lengths",
)  # fmt: skip
#: Chunks with the beginning, and with the end, of a page that was ingested again, or within others of it.
_CHUNKS = 2
#: More letters than a page has: the places of one page after those of another.
_PAGE = 1 << 40  # definition


class Stored(NamedTuple):
    """How often the letters of pages are stored, one entry a page.

    Attributes:
        letters: Letters of the page that its chunks hold, each as often as it is held.
        covered: Letters of the page that they hold.
        repeated: Those that more than one chunk holds.
    """

    letters: Numbers
    covered: Numbers
    repeated: Numbers


def stored_of(page: Numbers, place: Numbers, length: Numbers, *, pages: int) -> Stored:
    """How often the letters of pages are stored.

    Args:
        page: The page of each span, from 0 on.
        place: Its first letter on the page.
        length: Its letters.
        pages: How many pages there are.
    """
    import numpy as np

    first = page * _PAGE + place
    edges, changes = np.concatenate([first, first + length]), np.repeat([1, -1], len(first))
    order = np.argsort(edges, kind="stable")
    depth, width = np.cumsum(changes[order])[:-1], np.diff(edges[order])
    width[depth <= 0] = 0
    of = edges[order][:-1] // _PAGE
    letters, covered, repeated = (
        np.bincount(of, weights, minlength=pages).astype(np.int64)
        for weights in (depth * width, width, width * (depth > 1))
    )
    return Stored(letters, covered, repeated)


@dataclass(frozen=True)
class Layout:
    """What the chunks of all pages that were read show.

    Attributes:
        copies: How often each page is stored whose chunks hold some of it: letters held over letters covered.
        twice: The pages that two ingestions went through, with how often their text is stored.
        doubtful: Pages whose chunk indices do not plainly follow their places.
    """

    copies: list[float] = field(default_factory=list)
    twice: dict[str, float] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, buckets: Iterable[pa.Table]) -> Layout:
        """The layout of all pages; a page and its chunks are in one bucket, with ``COLUMNS``."""
        import pyarrow.compute as pc

        found = cls()
        sliding: dict[int, SlidingWindows] = defaultdict(SlidingWindows)
        for table in buckets:
            meant = pc.and_(table.column("compared"), pc.is_valid(table.column("page_key")))
            kept = table.filter(pc.and_(meant, pc.greater(table.column("letters"), constant(0))))
            found._add(_Chunks.of(kept))
            # What was cut from a stored chunk is stored again by that alone: each depth is an ingestion of its own.
            for depth in pc.unique(kept.column("depth")).to_pylist():
                chunks = _Chunks.of(kept.filter(pc.equal(kept.column("depth"), constant(depth))))
                found.twice.update(chunks.ingested_twice(sliding[depth]))
        for windows in sliding.values():
            found.twice.update(windows.ingested_twice())
        return found

    def _add(self, chunks: _Chunks) -> None:
        stored = chunks.stored(chunks.on_page)
        held = stored.covered > 0
        self.copies.extend((stored.letters[held] / stored.covered[held]).tolist())
        self.doubtful.update(chunks.out_of_order())


@dataclass(frozen=True)
class _Chunks:
    """The chunks of some pages, and the spans of their texts that stand in one piece on the page.

    Attributes:
        keys: Of the pages.
        page: The page of each chunk, as its place in ``keys``.
        columns: Numbers of each chunk by the names of the facts.
        chunk: The chunk of each span.
        start: Its first letter in the chunk.
        place: Its first letter on the page; -1 where the chunk's own title or headings have it.
        length: Its letters.
    """

    keys: list[str]
    page: Numbers
    columns: Mapping[str, Numbers]
    chunk: Numbers
    start: Numbers
    place: Numbers
    length: Numbers

    @classmethod
    def of(cls, table: pa.Table) -> _Chunks:
        import numpy as np
        import pyarrow.compute as pc

        table = table.combine_chunks()
        pages = table.column("page_key").combine_chunks().dictionary_encode()
        numbers = {
            name: numbers_of(without_nulls(table.column(name).cast("int64"), -1))
            for name in ("letters", "found", "longest", "repeated", "chunk_index")
        }
        spans = {name: table.column(name).combine_chunks() for name in ("starts", "places", "lengths")}
        start, place, length = (numbers_of(lists.flatten()).astype(np.int64) for lists in spans.values())
        chunk = np.repeat(np.arange(len(table)), numbers_of(pc.list_value_length(spans["starts"])))
        keys, page = pages.dictionary.to_pylist(), numbers_of(pages.indices).astype(np.int64)
        return cls(keys, page, numbers, chunk, start, place, length)

    @property
    def on_page(self) -> Mask:
        """The spans that stand on the page."""
        return self.place >= 0

    def stored(self, spans: Mask) -> Stored:
        """How often the pages are stored, by some of the spans."""
        return stored_of(self.page[self.chunk[spans]], self.place[spans], self.length[spans], pages=len(self.keys))

    def ingested_twice(self, sliding: SlidingWindows) -> dict[str, float]:
        """The pages of which most is held more than once, with how often they are stored.

        Two of their chunks begin at the beginning and two end at the end, or many stand within others, and numbers
        do not say that each follows the one before it, as windows that slide over a page do.

        Args:
            sliding: Takes the pages whose chunks have no numbers and may be such windows by their places.
        """
        import numpy as np

        count, pages = len(self.page), len(self.keys)
        begins, ends = np.full(count, _PAGE), np.full(count, -1)
        spans = self._beside_the_longest()
        np.minimum.at(begins, self.chunk[spans], self.place[spans])
        np.maximum.at(ends, self.chunk[spans], (self.place + self.length)[spans])
        # In pieces a chunk may have stood anywhere: words of what the page does not show are met all over it. What is
        # not shown between them, as the address of a link, leaves them next to each other on the page.
        held = stored_of(self.chunk[spans], self.place[spans], self.length[spans], pages=count).covered
        longest = np.append(self.length, 0)[self._longest_spans()]
        most = MOST * self.columns["letters"]
        placed = (longest >= most) | ((held >= most) & (held >= VERIFIED_FROM * (ends - begins)))
        first, last = np.full(pages, _PAGE), np.full(pages, -1)
        np.minimum.at(first, self.page[placed], begins[placed])
        np.maximum.at(last, self.page[placed], ends[placed])

        def counted(chunks: Mask) -> Numbers:
            return np.bincount(self.page[placed & chunks], minlength=pages)

        # Those that stand within one before them: it begins no later, and ends no earlier. Copies of one count once.
        order = np.lexsort((-ends, begins, self.page))
        order = order[placed[order]]
        reached = np.maximum.accumulate(np.append(-1, (self.page * _PAGE + ends)[order]))[:-1]
        within = np.zeros(count, dtype=bool)
        stretch = np.stack((self.page, begins, ends))[:, order]
        copies = np.append(False, (stretch[:, 1:] == stretch[:, :-1]).all(axis=0)) if order.size else np.zeros(0, bool)
        within[order] = ((self.page * _PAGE + ends)[order] <= reached) & ~copies
        # One alone may end the page where it only goes on with what is not shown.
        twice = counted(within) >= np.maximum(_CHUNKS, NESTED * counted(placed))
        beginnings = counted(begins - first[self.page] < PASSAGE_LETTERS)
        twice |= np.minimum(beginnings, counted(last[self.page] - ends < PASSAGE_LETTERS)) >= _CHUNKS
        stored = self.stored(spans & placed[self.chunk])
        once = placed & (self.columns["repeated"] == 0)
        twice &= ~self._in_turn(once, begins, ends)
        twice &= (counted(placed) >= _CHUNKS) & (stored.repeated >= WHOLE * stored.covered)
        times = {
            self.keys[page]: round(float(stored.letters[page] / stored.covered[page]), 2)
            for page in np.flatnonzero(twice).tolist()
        }
        numbered = counted(self.columns["chunk_index"] >= 0) > 0
        own = once & (twice & ~numbered)[self.page]
        return sliding.without(times, self.keys, self.page[own], begins[own], ends[own])

    def _in_turn(self, placed: Mask, begins: Numbers, ends: Numbers) -> Mask:
        """The pages of which each chunk with the next number begins and ends no earlier than the one before."""
        import numpy as np

        chunks = np.flatnonzero(placed)
        order = chunks[np.lexsort((self.columns["chunk_index"][chunks], self.page[chunks]))]
        index, begin, end = (np.diff(numbers[order]) for numbers in (self.columns["chunk_index"], begins, ends))
        follows = (index > 0) & (begin >= 0) & (end >= 0)
        behind = self.page[order][1:][~follows & (np.diff(self.page[order]) == 0)]
        in_turn = np.ones(len(self.keys), dtype=bool)
        in_turn[behind] = in_turn[self.page[chunks[self.columns["chunk_index"][chunks] < 0]]] = False
        return in_turn

    def _beside_the_longest(self) -> Mask:
        """The spans on the page that are no further from the longest of their chunk than the chunk is long.

        A word that stands alone may be met far from there.
        """
        first = self._longest_spans()[self.chunk]
        place, length, reach = self.place[first], self.length[first], self.columns["letters"][self.chunk]
        near = (self.place >= place - reach) & (self.place + self.length <= place + length + reach)
        beside: Mask = self.on_page & (first >= 0) & near
        return beside

    def out_of_order(self) -> set[str]:
        """The pages with a chunk that does not stand behind all those of a smaller index."""
        import numpy as np

        index, found, page = self.columns["chunk_index"], self.columns["longest"], self.page
        whole = found >= np.maximum(ANCHOR_LETTERS, MOST * self.columns["letters"])
        chunks = np.flatnonzero(whole & (self.columns["repeated"] == 0) & (index >= 0))
        if not len(chunks):
            return set()
        place = self._places()[chunks]
        order = np.lexsort((place, index[chunks], page[chunks]))
        behind, of = np.diff(place[order]) > 0, page[chunks][order]
        return {self.keys[number] for number in np.unique(of[1:][~behind & (np.diff(of) == 0)]).tolist()}

    def _places(self) -> Numbers:
        """Where the longest span of each chunk puts its first letter, but for title and headings put before."""
        import numpy as np

        span = self._longest_spans()
        before = ~self.on_page & (self.start < self.start[span[self.chunk]])
        stored = np.bincount(self.chunk[before], self.length[before], minlength=len(self.page)).astype(np.int64)
        places: Numbers = self.place[span] - (self.start[span] - stored)
        return places

    def _longest_spans(self) -> Numbers:
        """The longest span of each chunk on the page, the first of several; -1 without one."""
        import numpy as np

        longest = np.full(len(self.page), -1)
        np.maximum.at(longest, self.chunk, np.where(self.on_page, self.length, -1))
        spans = np.flatnonzero(self.on_page & (self.length == longest[self.chunk]))
        chunks, first = np.unique(self.chunk[spans], return_index=True)
        span = np.full(len(self.page), -1)
        span[chunks] = spans[first]
        return span
