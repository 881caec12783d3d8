"""Parallel requests: reading all points in id order, and many searches in order.

Servers from 1.19 split their ids into slices; on older ones ranges of ids are requested. An embedded Qdrant, and a
small collection, is read page by page. Searches are batched, with several calls in parallel.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.index.unreachable import RULE as INDEX_UNREACHABLE
from ragval_pipeline.sources.calls import in_calls, in_order
from ragval_pipeline.sources.stores.qdrant.asking import TooMuchAtOnceError
from ragval_pipeline.sources.stores.qdrant.names import id_order
from ragval_pipeline.sources.stores.qdrant.protocol import Found, Hit, Point, Search, Way

#: Points below which parallel requests gain nothing.
PARALLEL_FROM = 5000
#: Target points per range of ids, so that one page nearly always covers it.
POINTS_PER_RANGE = 900
#: First server version with slices.
SLICES_FROM = (1, 19)
_UUIDS = 1 << 128
#: Points that may arrive while a collection is read, besides as many as it had.
_GROWN = 10_000


#: Maps an offset (None: the start) and a slice (number, total) to a page of points and the next offset.
AskPage = Callable[[Any, tuple[int, int] | None], tuple[list[Point], Any]]
#: All points of a slice, or of the collection, page by page.
Pages = Callable[[tuple[int, int] | None], Iterator[list[Point]]]


def way_of(*, points: int, local: bool, version: str | None, concurrency: int) -> Way:
    """How a collection is read."""
    if local or concurrency == 1 or points < PARALLEL_FROM:
        return "pages"
    return "slices" if _knows_slices(version) else "ranges"


def read_all(ask_page: AskPage, pages: Pages, way: Way, *, points: int, concurrency: int) -> Iterator[list[Point]]:
    """All points in id order.

    ``ask_page`` must be safe to use from several threads.
    """
    if way == "slices":
        return _slices(pages, concurrency)
    return _ranges(ask_page, points, concurrency) if way == "ranges" else pages(None)


def _knows_slices(version: str | None) -> bool:
    try:
        major, minor = (version or "").split(".")[:2]
        return (int(major), int(minor)) >= SLICES_FROM
    except ValueError:
        return False


def _slices(pages: Pages, concurrency: int) -> Iterator[list[Point]]:
    """Each slice page by page; its next page is fetched while the others are used."""
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="ragval-points")

    def stream(slice_pages: Iterator[list[Point]], coming: Future[list[Point] | None]) -> Iterator[list[Point]]:
        while (page := coming.result()) is not None:
            coming = pool.submit(next, slice_pages, None)
            yield page

    try:
        cut = [pages((number, concurrency)) for number in range(concurrency)]
        yield from merged([stream(entry, pool.submit(next, entry, None)) for entry in cut])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def merged(streams: Sequence[Iterator[list[Point]]]) -> Iterator[list[Point]]:
    """The points of sorted streams, merged in id order; about a page of each is in memory."""
    held = [next(stream, []) for stream in streams]
    while any(held):
        # The rest of a stream comes after what it has returned.
        edge = min(id_order(page[-1].id) for page in held if page)
        ready: list[Point] = []
        for number, page in enumerate(held):
            cut = bisect_right(page, edge, key=_order)
            ready += page[:cut]
            held[number] = page[cut:] or next(streams[number], [])
        ready.sort(key=_order)
        yield ready


def _ranges(ask_page: AskPage, points: int, concurrency: int) -> Iterator[list[Point]]:
    """Ranges of about one page each; further pages of a range follow page by page."""

    def within(bounds: tuple[Any, Any], offset: Any) -> tuple[list[Point], Any]:
        page, offset = ask_page(offset, None)
        end = None if bounds[1] is None else id_order(str(bounds[1]))
        kept = page if end is None else page[: bisect_left(page, end, key=_order)]
        is_over = offset is None or (end is not None and id_order(str(offset)) >= end)
        return kept, None if is_over else offset

    bounds = list(_bounds(ask_page, points))
    first_pages = in_order(lambda entry: within(entry, entry[0]), bounds, workers=concurrency)
    for entry, (first, going_on) in zip(bounds, first_pages, strict=True):
        yield first
        offset = going_on
        while offset is not None:
            more, offset = within(entry, offset)
            yield more


def _bounds(ask_page: AskPage, points: int) -> Iterator[tuple[Any, Any]]:
    """Half-open ranges of ids: of integers up to the greatest one, then of UUIDs."""
    first = next(iter(ask_page(None, None)[0]), None)
    if first is None:
        return
    starts: list[Any] = [None]
    count = max(1, points // POINTS_PER_RANGE)
    if _number(first) is not None:
        top = _greatest(ask_page)
        step = max(1, -(-(top - int(first.id) + 1) // count))
        starts += range(int(first.id) + step, top + 1, step)
        has_uuids = any(_number(point) is None for point in ask_page(top + 1, None)[0])
    else:
        has_uuids = True
    if has_uuids:
        starts += [_uuid(number * _UUIDS // count) for number in range(0 if starts[1:] else 1, count)]
    yield from zip(starts, [*starts[1:], None], strict=True)


def _greatest(ask_page: AskPage) -> int:
    """An upper bound of the integer ids, close to the greatest."""

    def has_integers(start: int) -> bool:
        page = ask_page(start, None)[0]
        return bool(page) and _number(page[0]) is not None

    low, high = 0, 1
    while high < 1 << 63 and has_integers(high):
        low, high = high, high * 2
    while high - low > max(1, high >> 5):
        middle = (low + high) // 2
        low, high = (middle, high) if has_integers(middle) else (low, middle)
    return high


def _uuid(number: int) -> str:
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class IdOrder:
    """Takes the points of a read, each once, and notices whether they come in the order of their ids.

    ``expected`` is the number of points counted; a read that goes on far beyond them is not a collection's.
    """

    def __init__(self, place: str, expected: int) -> None:
        self._place = place
        self._most, self._taken = 2 * expected + _GROWN, 0
        self._last: tuple[int, int, str] | None = None
        self._misplaced: str | None = None

    def new(self, page: Sequence[Point]) -> list[Point]:
        """The points of the next page that follow the last one.

        Raises:
            SystemFailure: ``index.unreachable``: they do not end.
        """
        points, last = [], self._last
        for point in page:
            key = id_order(point.id)
            if last is None or key > last:
                points.append(point)
                last = key
            elif key < last:
                self._misplaced = point.id
        self._last = last
        self._taken += len(page)
        if self._taken > self._most:
            raise self._failure(
                f"returns points without end: {self._taken:,} of {(self._most - _GROWN) // 2:,} counted"
            )
        return points

    def check(self) -> None:
        """Whether all points came in order; one that is out of order has been returned twice, or others were skipped.

        Raises:
            SystemFailure: ``index.unreachable``.
        """
        if self._misplaced is not None:
            raise self._failure(f"returned the point {self._misplaced} twice, or not in the order of ids")

    def _failure(self, problem: str) -> SystemFailure:
        return SystemFailure(
            f"{self._place} {problem}",
            code=INDEX_UNREACHABLE.code,
            system="Qdrant",
            subject=self._place,
            remedy="Check the server and any proxy in between: a scroll returns each point once, in the order of ids.",
        )


def _number(point: Point) -> int | None:
    kind, number, _ = id_order(point.id)
    return None if kind else number


def _order(point: Point) -> tuple[int, int, str]:
    return id_order(point.id)


#: Maximum hits per call, unless a single search needs more: they are held until consumed.
HITS_PER_CALL = 5000
#: Statuses with which a server or proxy refuses a batch that it may accept in smaller pieces: strict mode, size limits,
#: and addresses that are not forwarded.
_REFUSALS = frozenset({400, 403, 404, 405, 413, 422, "INVALID_ARGUMENT", "PERMISSION_DENIED", "UNIMPLEMENTED"})


class BatchedSearches:
    """Splits searches into calls and makes them, a few in parallel."""

    def __init__(
        self,
        single: Callable[[Search], list[Hit]],
        several: Callable[[Sequence[Search]], list[list[Hit]]],
        *,
        concurrency: int,
        batch: int,
    ) -> None:
        self._single, self._several = single, several
        self._concurrency, self._batch = concurrency, batch
        # A refused size is not tried again; threads may overwrite each other's values, all of which are valid.
        self._taken = batch

    def all(self, searches: Iterable[Search]) -> Iterator[Found]:
        """The hits of each search, in order.

        Raises:
            SystemFailure: Qdrant fails; of several failures the first search's.
        """
        calls = in_calls(searches, self._batch, most=HITS_PER_CALL, length=lambda search: search.limit)
        for found in in_order(self._call, calls, workers=self._concurrency):
            yield from found

    def _call(self, searches: Sequence[Search]) -> list[Found]:
        """One call, split in halves if the server refuses the size or takes too long, down to single searches."""
        if len(searches) > self._taken:
            half = self._taken if len(searches) > 2 * self._taken else len(searches) // 2
            return [*self._call(searches[:half]), *self._call(searches[half:])]
        asked_at, started = datetime.now(UTC), time.perf_counter()
        if len(searches) == 1:
            given = [self._single(searches[0])]
        else:
            try:
                given = self._several(searches)
            except SystemFailure as failure:
                if not (isinstance(failure, TooMuchAtOnceError) or failure.status in _REFUSALS):
                    raise
                self._taken = min(self._taken, len(searches) // 2)
                return self._call(searches)
        share = 1000 * (time.perf_counter() - started) / len(searches)
        return [Found(hits, share, asked_at) for hits in given]
