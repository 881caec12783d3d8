"""Several requests at a time: reading all points in id order, and many searches in the order of the questions.

Servers from 1.19 on cut their ids into slices. An older one, an embedded Qdrant, and a collection of few pages is read
page after page. Searches go several in a call, several calls at a time.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.calls import in_order
from ragval_pipeline.sources.stores.qdrant.names import id_order
from ragval_pipeline.sources.stores.qdrant.points import Found, Hit, Point

Way = Literal["slices", "pages"]

#: Points below which several requests at a time gain nothing.
PARALLEL_FROM = 5000
#: Version of the servers that know slices, and their clients.
SLICES_FROM = (1, 19)

#: All points of a slice, as (number, of how many), or of the collection, page after page.
Pages = Callable[[tuple[int, int] | None], Iterator[list[Point]]]


def way_of(*, points: int, local: bool, version: str | None, concurrency: int) -> Way:
    """The way in which a collection is read.

    Args:
        points: Of the collection.
        local: Whether it is embedded.
        version: Of the server; None: not known.
        concurrency: Requests at a time.
    """
    gains = not local and concurrency > 1 and points >= PARALLEL_FROM
    return "slices" if gains and _knows_slices(version) else "pages"


def _knows_slices(version: str | None) -> bool:
    from qdrant_client import models

    try:
        major, minor = (version or "").split(".")[:2]
        known = (int(major), int(minor)) >= SLICES_FROM
    except ValueError:
        return False
    return known and hasattr(models, "SliceCondition")


def in_slices(pages: Pages, concurrency: int) -> Iterator[list[Point]]:
    """All points in id order: each slice page after page, the next page of each asked for while the others are used."""
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
    """The points of streams that are in id order each, in the id order of all; about a page of each is held."""
    held = [next(stream, []) for stream in streams]
    while any(held):
        # What is still to come of a stream lies behind what it has given.
        edge = min(id_order(page[-1].id) for page in held if page)
        ready: list[Point] = []
        for number, page in enumerate(held):
            cut = bisect_right(page, edge, key=_order)
            ready += page[:cut]
            held[number] = page[cut:] or next(streams[number], [])
        ready.sort(key=_order)
        yield ready


def _order(point: Point) -> tuple[int, int, str]:
    return id_order(point.id)


#: Hits of one call at most, unless a single search asks for more: they are held until they are taken.
HITS_PER_CALL = 5000
#: Answers with which a server, or what stands before it, refuses a batch that it may take in smaller pieces: strict
#: mode, limits of size, and addresses that are not forwarded.
_REFUSALS = frozenset({400, 403, 404, 405, 413, 422, "INVALID_ARGUMENT", "PERMISSION_DENIED", "UNIMPLEMENTED"})


@dataclass(frozen=True)
class Search:
    """One search: a vector and how many of its nearest points are wanted."""

    vector: Sequence[float]
    limit: int


class BatchedSearches:
    """Cuts searches into calls and makes them, a few at a time.

    Args:
        single: Makes one search.
        several: Makes several in one call.
        concurrency: Calls at a time.
        batch: Searches a call at most.
    """

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
        # What the server has refused is not tried again; threads may overwrite each other, and none is wrong.
        self._taken = batch

    def all(self, searches: Iterable[Search]) -> Iterator[Found]:
        """The hits of each search, in the order of the searches.

        Raises:
            SystemFailure: Qdrant fails: of several failures that of the first search.
        """
        for found in in_order(self._call, self._calls(searches), workers=self._concurrency):
            yield from found

    def _calls(self, searches: Iterable[Search]) -> Iterator[list[Search]]:
        call: list[Search] = []
        hits = 0
        for search in searches:
            if call and (len(call) >= self._batch or hits + search.limit > HITS_PER_CALL):
                yield call
                call, hits = [], 0
            call.append(search)
            hits += search.limit
        if call:
            yield call

    def _call(self, searches: Sequence[Search]) -> list[Found]:
        """One call; in halves where the server does not take as many, and at last one by one."""
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
                if failure.details.get("status") not in _REFUSALS:
                    raise
                self._taken = min(self._taken, len(searches) // 2)
                return self._call(searches)
        share = 1000 * (time.perf_counter() - started) / len(searches)
        return [Found(hits, share, asked_at) for hits in given]
