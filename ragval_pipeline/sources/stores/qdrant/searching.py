"""Many searches at once: several in one call, several calls at a time, answered in the order of the questions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.calls import in_order
from ragval_pipeline.sources.stores.qdrant.points import Found, Hit

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
