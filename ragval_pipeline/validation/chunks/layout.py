"""Positions of the chunks on their pages, in arrays: no objects are created for most pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.lazy import np, pc
from ragval_pipeline.sources.arrow import array_from, constant, numbers_of, without_nulls
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.chunks.windows import PAGE, SlidingWindows, windows_of
from ragval_pipeline.validation.thresholds import (
    ANCHOR_LETTERS,
    FEW,
    MOST,
    NESTED,
    PASSAGE_LETTERS,
    VERIFIED_FROM,
    WHOLE,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]

#: Columns of the facts that a layout uses.
COLUMNS = (
    "page_key", "compared", "letters", "found", "longest", "repeated", "chunk_index", "depth", "starts", "places",
    "lengths",
)  # fmt: skip


class Stored(NamedTuple):
    """How often the letters of pages are stored, one entry per page.

    Attributes:
        letters: Letters of the page in its chunks, with multiplicity.
        covered: Distinct letters of the page in its chunks.
        repeated: Letters in more than one chunk.
    """

    letters: Numbers
    covered: Numbers
    repeated: Numbers


def stored_of(page: Numbers, place: Numbers, length: Numbers, *, pages: int) -> Stored:
    """How often the letters of pages are stored.

    A span is given by its page, from 0, its first letter there, and its letters.
    """
    first = page * PAGE + place
    edges, changes = np.concatenate([first, first + length]), np.repeat([1, -1], len(first))
    order = np.argsort(edges, kind="stable")
    depth, width = np.cumsum(changes[order])[:-1], np.diff(edges[order])
    width[depth <= 0] = 0
    of = edges[order][:-1] // PAGE
    letters, covered, repeated = (
        np.bincount(of, weights, minlength=pages).astype(np.int64)
        for weights in (depth * width, width, width * (depth > 1))
    )
    return Stored(letters, covered, repeated)


@dataclass(frozen=True)
class Layout:
    """The layout of all pages that were read.

    Attributes:
        copies: How often each page is stored, if at all: stored letters over covered letters.
        twice: The pages ingested twice, with how often their text is stored.
        doubtful: Pages whose chunk indices do not clearly follow their positions.
        frayed: Pages whose last chunk by its index is not, or not completely, on the page.
        nested: Pages with a chunk within another one of the same depth.
        overlaps: Letters that consecutive chunks of a page share.
    """

    copies: list[float] = field(default_factory=list)
    twice: dict[str, float] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)
    frayed: set[str] = field(default_factory=set)
    nested: set[str] = field(default_factory=set)
    overlaps: list[Numbers] = field(default_factory=list)

    @property
    def overlap(self) -> float:
        """Letters that consecutive chunks of a page share, the most of nearly all; 0: they do not overlap."""
        found = np.concatenate([np.zeros(0, dtype=np.int64), *self.overlaps])
        return float(np.quantile(found, 1 - FEW, method="higher")) if len(found) else 0.0

    @classmethod
    def of(cls, buckets: Iterable[pa.Table], partition: Mapping[str, str] | None = None) -> Layout:
        """The layout of all pages; a page and its chunks are in one bucket, with ``COLUMNS``.

        ``partition`` is the value of a field that tells partitions apart, by point id, for tables with ``point_id``.
        """
        layout = cls()
        sliding: dict[object, SlidingWindows] = defaultdict(SlidingWindows)
        for table in buckets:
            kept = _compared(table)
            layout._add(_Chunks.of(kept))
            # Child chunks repeat their parent's text by design, and each partition has its own copy: each depth of each
            # partition is treated as a separate ingestion.
            for layer, rows in _layers(kept, partition):
                chunks = _Chunks.of(rows)
                layout.twice.update(chunks.ingested_twice(sliding[layer]))
                layout.nested.update(chunks.nested())
                layout.overlaps.append(chunks.overlaps())
        for windows in sliding.values():
            layout.twice.update(windows.ingested_twice())
        return layout

    def _add(self, chunks: _Chunks) -> None:
        self.copies.extend(chunks.copies())
        self.doubtful.update(chunks.out_of_order())
        self.frayed.update(chunks.frayed())


def _compared(table: pa.Table) -> pa.Table:
    """The chunks with letters that were compared with their page."""
    meant = pc.and_(table.column("compared"), pc.is_valid(table.column("page_key")))
    return table.filter(pc.and_(meant, pc.greater(table.column("letters"), constant(0))))


def copies_by_partition(buckets: Iterable[pa.Table], partitions: Partitions) -> dict[str, list[float]]:
    """How often the chunks of each partition store each page; tables with ``COLUMNS`` and ``point_id``."""
    found: dict[str, list[float]] = {value: [] for value in partitions.sizes}
    for table in buckets:
        kept = _compared(table)
        points = enumerate(kept.column("point_id").to_pylist())
        for value, own in partitions.grouped(points, lambda point: partitions.of_point(point[1])).items():
            if own:
                rows = array_from(np.array([row for row, _ in own]))
                found[value].extend(_Chunks.of(kept.take(rows)).copies())
    return found


def _layers(chunks: pa.Table, partition: Mapping[str, str] | None) -> Iterator[tuple[object, pa.Table]]:
    """The chunks of each depth, and of each partition."""
    for depth in pc.unique(chunks.column("depth")).to_pylist():
        rows = chunks.filter(pc.equal(chunks.column("depth"), constant(depth)))
        if partition is None:
            yield depth, rows
            continue
        values = np.array([partition.get(name, "") for name in rows.column("point_id").to_pylist()])
        for value in np.unique(values).tolist():
            yield (depth, value), rows.filter(array_from(values == value))


class _Extents(NamedTuple):
    """Where chunks are on their pages.

    Attributes:
        spans: The spans near a chunk's longest one.
        begins: The first letter of each chunk on its page.
        ends: The letter after its last.
        placed: Which chunks are in one place of their page.
    """

    spans: Mask
    begins: Numbers
    ends: Numbers
    placed: Mask


@dataclass(frozen=True)
class _Chunks:
    """The chunks of some pages, and the contiguous spans of their texts on the page.

    Attributes:
        keys: Keys of the pages.
        page: The page of each chunk, as an index into ``keys``.
        columns: Numeric facts of each chunk, by name.
        chunk: The chunk of each span.
        start: Its first letter in the chunk.
        place: Its first letter on the page; -1 if it is in the chunk's own title or headings.
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

    def copies(self) -> list[float]:
        """How often each page is stored, if at all."""
        stored = self.stored(self.on_page)
        held = stored.covered > 0
        times: list[float] = (stored.letters[held] / stored.covered[held]).tolist()
        return times

    @property
    def on_page(self) -> Mask:
        """The spans on the page."""
        return self.place >= 0

    def stored(self, spans: Mask) -> Stored:
        """How often the pages are stored, from some of the spans."""
        return stored_of(self.page[self.chunk[spans]], self.place[spans], self.length[spans], pages=len(self.keys))

    def ingested_twice(self, sliding: SlidingWindows) -> dict[str, float]:
        """The pages that are mostly stored more than once, with how often.

        Two of their chunks begin at the start and two end at the end, or many are within others, and their numbers do
        not show that they are sliding windows. ``sliding`` collects the pages whose chunks have no numbers and may be
        such windows by position.
        """
        at = self._at
        stored = self.stored(at.spans & at.placed[self.chunk])
        # Text of chunks in no single place is stored too, even if it is not known to be stored again.
        most = stored.repeated >= WHOLE * self.stored(at.spans).covered
        twice = self._overlap(at) & (self._counted(at.placed) > 1) & most
        times = {
            self.keys[page]: round(float(stored.letters[page] / stored.covered[page]), 2)
            for page in np.flatnonzero(twice).tolist()
        }
        numbered = self._counted(at.placed & (self.columns["chunk_index"] >= 0)) > 0
        own = self._once(at) & (twice & ~numbered)[self.page]
        windows = windows_of(self.page[own], at.begins[own], at.ends[own], pages=len(self.keys))
        taken = {self.keys[page] for page in np.flatnonzero(windows.pages).tolist()}
        sliding.add(windows, {key: times.pop(key) for key in list(times) if key in taken})
        return times

    def nested(self) -> set[str]:
        """The pages with a chunk within another one."""
        at = self._at
        return {self.keys[page] for page in np.unique(self.page[self._once(at) & self._within(at)]).tolist()}

    def overlaps(self) -> Numbers:
        """Letters that chunks share with the next one on the page, which begins and ends after them."""
        at = self._at
        chunks = np.flatnonzero(self._once(at))
        order = chunks[np.lexsort((at.ends[chunks], at.begins[chunks], self.page[chunks]))]
        follows = (np.diff(self.page[order]) == 0) & (np.diff(at.begins[order]) > 0) & (np.diff(at.ends[order]) > 0)
        shared: Numbers = (at.ends[order][:-1] - at.begins[order][1:])[follows]
        return np.maximum(shared, 0)

    @cached_property
    def _at(self) -> _Extents:
        """Where the chunks are on their pages."""
        count = len(self.page)
        begins, ends = np.full(count, PAGE), np.full(count, -1)
        spans = self._beside_the_longest()
        np.minimum.at(begins, self.chunk[spans], self.place[spans])
        np.maximum.at(ends, self.chunk[spans], (self.place + self.length)[spans])
        # Scattered spans do not locate a chunk: words of text that the page does not show occur all over it. Invisible
        # text between spans, such as the address of a link, leaves them adjacent on the page.
        held = stored_of(self.chunk[spans], self.place[spans], self.length[spans], pages=count).covered
        longest = np.append(self.length, 0)[self._longest_spans()]
        most = MOST * self.columns["letters"]
        placed = (longest >= most) | ((held >= most) & (held >= VERIFIED_FROM * (ends - begins)))
        return _Extents(spans, begins, ends, placed)

    def _overlap(self, at: _Extents) -> Mask:
        """The pages whose chunks overlap as those of two ingestions, and not as sliding windows with numbers."""
        pages, begins, ends, placed, once = len(self.keys), at.begins, at.ends, at.placed, self._once(at)
        # A text that the page repeats may have been taken from either place: in a list of contents, before everything.
        sure = np.where(self._counted(once)[self.page] > 0, once, placed)
        first, last = np.full(pages, PAGE), np.full(pages, -1)
        np.minimum.at(first, self.page[sure], begins[sure])
        np.maximum.at(last, self.page[sure], ends[sure])
        beginnings = self._counted(sure & (begins - first[self.page] < PASSAGE_LETTERS))
        endings = self._counted(sure & (last[self.page] - ends < PASSAGE_LETTERS))
        # A single one may end the page if the page only continues with invisible text.
        nested = self._counted(placed & self._within(at)) >= np.maximum(2, NESTED * self._counted(placed))
        overlap: Mask = (nested | (np.minimum(beginnings, endings) > 1)) & ~self._in_turn(once, begins, ends)
        return overlap

    def _within(self, at: _Extents) -> Mask:
        """The chunks within a previous one, which begins no later and ends no earlier; copies count once."""
        order = np.lexsort((-at.ends, at.begins, self.page))
        order = order[at.placed[order]]
        upto = (self.page * PAGE + at.ends)[order]
        reached = np.maximum.accumulate(np.append(-1, upto))[:-1]
        stretch = np.stack((self.page, at.begins, at.ends))[:, order]
        copies = np.append(False, (stretch[:, 1:] == stretch[:, :-1]).all(axis=0)) if order.size else np.zeros(0, bool)
        within = np.zeros(len(self.page), dtype=bool)
        within[order] = (upto <= reached) & ~copies
        return within

    def _once(self, at: _Extents) -> Mask:
        """The chunks whose text the page does not repeat."""
        once: Mask = at.placed & (self.columns["repeated"] == 0)
        return once

    def _counted(self, chunks: Mask) -> Numbers:
        """How many of some chunks each page has."""
        return np.bincount(self.page[chunks], minlength=len(self.keys))

    def _in_turn(self, placed: Mask, begins: Numbers, ends: Numbers) -> Mask:
        """The pages on which each next chunk begins and ends no earlier than the previous one."""
        chunks = np.flatnonzero(placed)
        order = chunks[np.lexsort((self.columns["chunk_index"][chunks], self.page[chunks]))]
        index, begin, end = (np.diff(numbers[order]) for numbers in (self.columns["chunk_index"], begins, ends))
        follows = (index > 0) & (begin >= 0) & (end >= 0)
        behind = self.page[order][1:][~follows & (np.diff(self.page[order]) == 0)]
        in_turn = np.ones(len(self.keys), dtype=bool)
        in_turn[behind] = in_turn[self.page[chunks[self.columns["chunk_index"][chunks] < 0]]] = False
        return in_turn

    def _beside_the_longest(self) -> Mask:
        """The spans on the page within a chunk's length of the chunk's longest span.

        A single word may occur far away.
        """
        first = self._longest_spans()[self.chunk]
        place, length, reach = self.place[first], self.length[first], self.columns["letters"][self.chunk]
        near = (self.place >= place - reach) & (self.place + self.length <= place + length + reach)
        beside: Mask = self.on_page & (first >= 0) & near
        return beside

    def out_of_order(self) -> set[str]:
        """The pages with a chunk that is not after all those with a smaller index."""
        index, page = self.columns["chunk_index"], self.page
        is_found = self.columns["longest"] >= ANCHOR_LETTERS
        chunks = np.flatnonzero(is_found & (self.columns["repeated"] == 0) & (index >= 0))
        if not len(chunks):
            return set()
        place = self._places()[chunks]
        order = np.lexsort((place, index[chunks], page[chunks]))
        behind, of = np.diff(place[order]) > 0, page[chunks][order]
        return {self.keys[number] for number in np.unique(of[1:][~behind & (np.diff(of) == 0)]).tolist()}

    def frayed(self) -> set[str]:
        """The pages whose last chunk by its index is not, or not completely, on the page."""
        index = self.columns["chunk_index"]
        last = np.full(len(self.keys), 0)
        np.maximum.at(last, self.page, index)
        differs = self.columns["found"] < VERIFIED_FROM * self.columns["letters"]
        return {self.keys[page] for page in np.unique(self.page[differs & (index == last[self.page])]).tolist()}

    def _places(self) -> Numbers:
        """Position of each chunk's first letter according to its longest span, without added title and headings.

        The page may have these as well, elsewhere.
        """
        span = self._longest_spans()
        before = ~self._beside_the_longest() & (self.start < self.start[span[self.chunk]])
        stored = np.bincount(self.chunk[before], self.length[before], minlength=len(self.page)).astype(np.int64)
        places: Numbers = self.place[span] - (self.start[span] - stored)
        return places

    def _longest_spans(self) -> Numbers:
        """The longest span of each chunk on the page, the first of several; -1 without one."""
        longest = np.full(len(self.page), -1)
        np.maximum.at(longest, self.chunk, np.where(self.on_page, self.length, -1))
        spans = np.flatnonzero(self.on_page & (self.length == longest[self.chunk]))
        chunks, first = np.unique(self.chunk[spans], return_index=True)
        span = np.full(len(self.page), -1)
        span[chunks] = spans[first]
        return span
