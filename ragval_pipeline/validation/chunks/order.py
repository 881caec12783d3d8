"""The points of each page by the chunk index in their payload: all pages in numbers, some of them in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.sources.arrow import array_of, constant, numbers_of, one_of, without_nulls
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.site.urls import without_fragment
from ragval_pipeline.text.times import parse_time
from ragval_pipeline.validation.thresholds import CLOCK_SKEW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

#: Snapshot columns that ``Orders`` reads.
COLUMNS = ("point_id", "page_key", "source_url", "chunk_index", "parent_id", "embedded_at", "model")
_NARROW = ("page_key", "chunk_index", "embedded_at")

#: A chunk index, and the parent chunk within which it counts; None: within the page.
Number = tuple[int, str | None]

#: Reads some columns of every point of the snapshot.
Points = Callable[[Sequence[str]], "Iterable[pa.RecordBatch]"]


@dataclass
class PageOrder:
    """The chunks of one page: its first stored address, without fragment if there are several, and its points by index.

    Also the parent chunks and models of its points, as far as stored.
    """

    url: str
    points: dict[int, list[tuple[str, str | None]]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)

    def numbered(self) -> Iterator[tuple[Number, list[str]]]:
        """The points with each number, within their parent if they have one."""
        for index, points in self.points.items():
            found: dict[Number, list[str]] = {}
            for name, _ in points:
                found.setdefault((index, self.parents.get(name)), []).append(name)
            yield from found.items()

    def add_address(self, url: str) -> None:
        """Add the address of another point of the page."""
        if url != self.url and without_fragment(url) == without_fragment(self.url):
            self.url = without_fragment(url)


@dataclass(frozen=True)
class Orders:
    """The pages with chunk indices, in numbers: one entry per page.

    A value shared by several points that is not an address is not a page: it is reported as an invalid value, and
    ignored in an index whose pages are addresses. Negative indices are ignored.

    Attributes:
        keys: Of the pages.
        points: Number of points of each.
        indices: Number of distinct indices of each.
        first: Smallest index of each.
        last: Largest index of each.
        dated: Whether all points of each have an embedding time that is not in the future.
        apart: Seconds between the oldest and the newest index of each; of several points with the same index the newest
            counts.
        read: Reads the snapshot again, for pages examined in full.
    """

    keys: Sequence[str]
    points: Numbers
    indices: Numbers
    first: Numbers
    last: Numbers
    dated: NDArray[np.bool_]
    apart: NDArray[np.float64]
    read: Points

    @classmethod
    def of(cls, read: Points, *, now: datetime) -> Orders:
        """The numbers of a snapshot's pages at the time ``now``, aware."""
        addresses, page, index, moment = _held(read, now)
        keys = list(addresses)
        order = np.lexsort((moment, index, page))
        page, index, moment = page[order], index[order], moment[order]
        # Of the points with the same index the newest comes last, except those without a time.
        last = np.ones(len(page), dtype=bool)
        last[:-1] = (np.diff(page) != 0) | (np.diff(index) != 0)
        each, own, times = page[last], index[last], moment[last]
        starts = np.searchsorted(each, np.arange(len(keys)))
        ends = np.append(starts[1:], len(each)) - 1
        newest, oldest = (kind.reduceat(times, starts) if keys else times for kind in (np.maximum, np.minimum))
        counted = cls(
            keys,
            points=np.bincount(page, minlength=len(keys)),
            indices=np.bincount(each, minlength=len(keys)),
            first=own[starts],
            last=own[ends[: len(keys)]],
            dated=np.bincount(page[np.isnan(moment)], minlength=len(keys)) == 0,
            apart=newest - oldest,
            read=read,
        )
        return counted._without_strays(np.array(list(addresses.values()), dtype=bool))

    def chosen(self, pages: NDArray[np.bool_]) -> list[str]:
        """The keys of some pages."""
        return [self.keys[number] for number in pages.nonzero()[0].tolist()]

    @property
    def mixed_ages(self) -> list[str]:
        """The pages with chunks embedded at different times."""
        return self.chosen(self.dated & (self.indices > 1) & (self.apart > CLOCK_SKEW.total_seconds()))

    def in_full(self, keys: Collection[str]) -> dict[str, PageOrder]:
        """Some of the pages with their points."""
        if not keys:
            return {}
        wanted = one_of("page_key", keys)
        batches = (batch.filter(wanted(batch)) for batch in self.read(COLUMNS))
        return _collected(row for batch in batches for row in batch.to_pylist())

    def begin_again(self) -> bool:
        """Whether numbers repeat in different parent chunks of a page."""
        pages = self.in_full(self.chosen(self.points > self.indices))
        numbers = (Counter(index for (index, parent), _ in page.numbered() if parent) for page in pages.values())
        return any(count > 1 for counted in numbers for count in counted.values())

    def _without_strays(self, addresses: NDArray[np.bool_]) -> Orders:
        if addresses.all() or not addresses.any():
            return self
        kept = {
            name: getattr(self, name)[addresses] for name in ("points", "indices", "first", "last", "dated", "apart")
        }
        return Orders(self.chosen(addresses), **kept, read=self.read)


def _held(read: Points, now: datetime) -> tuple[dict[str, bool], Numbers, Numbers, NDArray[np.float64]]:
    """Page, index and embedding time of the points that have both page and index; NaN: no time.

    Pages are numbered in order of appearance, as are the first results: whether each is an address.
    """
    addresses: dict[str, bool] = {}
    # To combine no arrays at all, Arrow would import pandas.
    pages = [array_of([], pa.string()).dictionary_encode()]
    indices, moments = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    latest = (now + CLOCK_SKEW).timestamp()
    for every in read(_NARROW):
        index = without_nulls(every.column("chunk_index"), -1)
        batch = every.filter(pc.and_(pc.is_valid(every.column("page_key")), pc.greater_equal(index, constant(0))))
        if not batch.num_rows:
            continue
        pages.append(batch.column("page_key").dictionary_encode())
        for key in pages[-1].dictionary.to_pylist():
            if key not in addresses:
                addresses[key] = is_http_url(key)
        indices.append(numbers_of(batch.column("chunk_index")))
        stored = without_nulls(batch.column("embedded_at"), "").dictionary_encode()
        known = np.array([_seconds(text, latest) for text in stored.dictionary.to_pylist()])
        moments.append(known[numbers_of(stored.indices)])
    numbered = pa.chunked_array(pages, pa.dictionary(pa.int32(), pa.string())).unify_dictionaries().combine_chunks()
    return addresses, numbers_of(numbered.indices).astype(np.int64), np.concatenate(indices), np.concatenate(moments)


def _seconds(text: str, latest: float) -> float:
    moment = parse_time(text)
    seconds = float("nan") if moment is None else moment.timestamp()
    return seconds if seconds <= latest else float("nan")


def _collected(rows: Iterable[Mapping[str, Any]]) -> dict[str, PageOrder]:
    """Points by page and index."""
    pages: dict[str, PageOrder] = {}
    for row in rows:
        if row["chunk_index"] is not None and row["chunk_index"] >= 0:
            page = pages.setdefault(row["page_key"], PageOrder(row["source_url"]))
            page.add_address(row["source_url"])
            page.points.setdefault(row["chunk_index"], []).append((row["point_id"], row["embedded_at"]))
            for known, name in ((page.parents, "parent_id"), (page.models, "model")):
                if row[name] is not None:
                    known[row["point_id"]] = row[name]
    return pages
