"""Measuring latency: one query embedded and searched at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.calls import Attempts
from ragval_pipeline.sources.embedders.cache import uncached
from ragval_pipeline.sources.embedders.reembedding import embed_like, is_refusal
from ragval_pipeline.sources.search.methods import Asked, Method

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.base import Embedder, EmbeddingBatch, InputType
    from ragval_pipeline.sources.search.production import ProductionSearcher
    from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Reader

#: Minimum number of timings: nearest-rank p95 of 20 is the 19th value.
TIMINGS = 20
#: Seconds after which timing stops, once there are ``TIMINGS``.
LONG_ENOUGH_S = 30.0
#: Texts embedded in one call, for comparison.
BATCH = 20


class Timed(NamedTuple):
    """A query to be timed: its id, its text, and the payload values that hits must have."""

    id: str
    text: str
    equal: Equal | None = None


@dataclass(frozen=True)
class Timing:
    """One query, in milliseconds without waits between tries; a custom search includes embedding.

    ``embedding_ms`` is None if nothing is embedded, or not apart.
    """

    query_id: str
    embedding_ms: float | None
    search_ms: float

    @property
    def total_ms(self) -> float:
        """Total latency."""
        return (self.embedding_ms or 0.0) + self.search_ms


@dataclass(frozen=True)
class BatchTiming:
    """Several texts embedded in one call."""

    inputs: int
    milliseconds: float


@dataclass
class Timings:
    """All timings of a run.

    Attributes:
        cold: The first query after connecting; not in ``warm``.
        warm: Single calls.
        batch: Some of the same texts in one call.
        embedding_retries: Tries of the embedder beyond the first of each call.
        search_retries: The same of searches.
        waited_ms: Milliseconds slept between tries.
        texts: The timed texts, without those that the embedder refuses.
    """

    cold: Timing
    warm: list[Timing] = field(default_factory=list)
    batch: BatchTiming | None = None
    embedding_retries: int = 0
    search_retries: int = 0
    waited_ms: float = 0.0
    texts: list[str] = field(default_factory=list)


def time_queries(
    queries: Sequence[Timed],
    *,
    method: Method,
    embedder: Embedder | None,
    reader: Reader,
    vector: VectorFacts | None,
    input_type: InputType,
    fields: Sequence[str],
    limit: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> Timings:
    """Time every query once, and start over until there are ``TIMINGS``.

    ``queries`` is at least one; embedder and vector are None if the method embeds nothing. The embedder's cache is
    bypassed.

    Raises:
        SystemFailure: Qdrant or the embedder fails.
        NotMeasurableError: ``vector.dimension``: embedder and collection do not fit.
    """
    with uncached(embedder):
        embed = None
        if method.embeds:
            assert embedder is not None
            assert vector is not None
            embed = embed_like(embedder, vector)

        def search(query: Timed, found: NDArray[np.float32] | None) -> None:
            method.search(reader, Asked(query.text, limit, query.equal), found, fields=fields)

        clock = _Clock(embed, input_type, search, getattr(reader, "attempts", None))
        timings = _timed(queries, clock.time, on_progress)
        timings.batch = clock.time_batch(timings.texts[:BATCH]) if embed else None
    timings.embedding_retries, timings.search_retries = clock.embedding_retries, clock.search_retries
    timings.waited_ms = 1000 * clock.waited_s
    return timings


def time_searcher(
    queries: Sequence[Timed],
    *,
    searcher: ProductionSearcher,
    limit: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> Timings:
    """``time_queries`` for a search that embeds by itself: only the total is known.

    Raises:
        SystemFailure: The search fails.
    """

    def time_one(query: Timed) -> Timing:
        started = time.perf_counter()
        searcher.search(query.text, limit=limit, equal=query.equal)
        return Timing(query.id, None, 1000 * (time.perf_counter() - started))

    return _timed(queries, time_one, on_progress)


def _timed(
    queries: Sequence[Timed],
    time_one: Callable[[Timed], Timing],
    on_progress: Callable[[int, int], None] | None,
) -> Timings:
    left = list(queries)
    # The shortest first: if that is refused, it is not for its length, and nothing can be timed.
    timings = Timings(time_one(min(queries, key=lambda query: len(query.text))))
    started = time.monotonic()
    while len(timings.warm) < max(TIMINGS, len(left)):
        if len(timings.warm) >= TIMINGS and time.monotonic() - started > LONG_ENOUGH_S:
            break
        query = left[len(timings.warm) % len(left)]
        try:
            timings.warm.append(time_one(query))
        except SystemFailure as failure:
            if not is_refusal(failure):
                raise
            left.remove(query)
        if on_progress:
            on_progress(len(timings.warm), max(TIMINGS, len(left)))
    timings.texts = [query.text for query in left]
    return timings


class _Clock:
    """Times calls, and separates retries and waits."""

    def __init__(
        self,
        embed: Callable[[Sequence[str], InputType], EmbeddingBatch] | None,
        input_type: InputType,
        search: Callable[[Timed, NDArray[np.float32] | None], None],
        attempts: Attempts | None,
    ) -> None:
        self._embed, self._input_type, self._search = embed, input_type, search
        # A third-party reader may not count its tries.
        self._attempts = attempts or Attempts()
        self.embedding_retries = self.search_retries = 0
        self.waited_s = 0.0

    def time(self, query: Timed) -> Timing:
        vector = embedding_ms = None
        if self._embed is not None:
            batch, embedding_ms = self._embedded(self._embed, [query.text])
            vector = batch.vectors[0]
        tries, waited_s, started = self._attempts.tries, self._attempts.waited_s, time.perf_counter()
        self._search(query, vector)
        spent = time.perf_counter() - started
        waited = self._attempts.waited_s - waited_s
        self.search_retries += max(0, self._attempts.tries - tries - 1)
        self.waited_s += waited
        return Timing(query.id, embedding_ms, 1000 * (spent - waited))

    def time_batch(self, texts: Sequence[str]) -> BatchTiming:
        assert self._embed is not None
        return BatchTiming(len(texts), self._embedded(self._embed, texts)[1])

    def _embedded(
        self, embed: Callable[[Sequence[str], InputType], EmbeddingBatch], texts: Sequence[str]
    ) -> tuple[EmbeddingBatch, float]:
        started = time.perf_counter()
        batch = embed(texts, self._input_type)
        spent = time.perf_counter() - started
        self.embedding_retries += max(0, batch.tries - batch.calls)
        self.waited_s += batch.waited_s
        return batch, 1000 * (spent - batch.waited_s)
