"""Searches of one collection, by vectors and by words: one call each, or many at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.calls import in_order
from ragval_pipeline.sources.stores.qdrant.asking import Asking
from ragval_pipeline.sources.stores.qdrant.facts import Limits
from ragval_pipeline.sources.stores.qdrant.local import LocalPoints
from ragval_pipeline.sources.stores.qdrant.names import canonical_id, payload_selector
from ragval_pipeline.sources.stores.qdrant.protocol import (
    OVERSAMPLING,
    Equal,
    Found,
    Hit,
    Quantization,
    Search,
    TextSearch,
    VectorBatch,
    WordSearch,
)
from ragval_pipeline.sources.stores.qdrant.scanning import BatchedSearches
from ragval_pipeline.sources.stores.qdrant.vectors import point_key
from ragval_pipeline.text.characters import encodable_payload

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


class Searches:
    """Searches through an open client.

    Args:
        client: The client.
        collection: Name of the collection.
        vector_name: The dense vector that is searched; None: the only one.
        condition: The filter of a search, from the values that its points must have.
        ask: How calls are made.
        limits: How many points the server gives at once.
        local: The points of an embedded collection; None: a server has them.
        vectors: Read the vectors of an embedded collection.
        passing: Ids of the points with some values.
        concurrency: Calls in parallel.
        batch: Searches per call.
    """

    def __init__(
        self,
        client: QdrantClient,
        *,
        collection: str,
        vector_name: str | None,
        condition: Callable[[Equal | None], Any],
        ask: Asking,
        limits: Limits,
        local: LocalPoints | None,
        vectors: Callable[[], Iterator[VectorBatch]],
        passing: Callable[[Equal], frozenset[str]],
        concurrency: int,
        batch: int,
    ) -> None:
        self._client, self._collection, self._vector_name = client, collection, vector_name
        self._condition, self._ask, self._limits = condition, ask, limits
        self._local, self._vectors, self._passing = local, vectors, passing
        self._concurrency, self._batch = concurrency, batch

    def near_vectors(
        self, searches: Iterable[Search], *, fields: Sequence[str], exact: bool, quantization: Quantization | None
    ) -> Iterator[Found]:
        """The points nearest to vectors, in the order of the searches."""
        local = self._local is not None
        calls = BatchedSearches(
            partial(self._search, fields=fields, exact=exact, quantization=quantization),
            partial(self._search_batch, fields=fields, exact=exact, quantization=quantization),
            concurrency=1 if local else self._concurrency,
            batch=1 if local else self._batch,
        )
        stored = None if self._local is None else self._local.vectors(self._vector_name, self._vectors)
        if stored is None:
            return calls.all(searches)
        payloads = partial(self._payloads, fields=fields)
        return stored.search_all(searches, payloads=payloads, otherwise=calls.all, passing=self._passing)

    def by_words(self, searches: Iterable[WordSearch | TextSearch], *, fields: Sequence[str]) -> Iterator[Found]:
        """The points with the words of searches, in the order of the searches."""
        workers = 1 if self._local is not None else self._concurrency
        yield from in_order(partial(self._search_words, fields=fields), searches, workers=workers)

    def _search_words(self, search: WordSearch | TextSearch, *, fields: Sequence[str]) -> Found:
        asked_at, started = datetime.now(UTC), time.perf_counter()
        condition = self._condition(search.equal)
        how = _by_text(search) if isinstance(search, TextSearch) else self._with_words(search, condition)
        if how is None:
            return Found([], 0.0, asked_at)
        call = partial(
            self._client.query_points,
            self._collection,
            query_filter=condition,
            limit=search.limit,
            with_payload=payload_selector(fields),
            **how,
        )
        response: Any = self._limits.whole(call, search.limit)
        return Found(_hits(response.points), 1000 * (time.perf_counter() - started), asked_at)

    def _with_words(self, search: WordSearch, condition: Any) -> dict[str, Any] | None:
        """What finds the points with some words, fused with those near a vector if one is given; None without both."""
        from qdrant_client import models

        words = models.SparseVector(indices=list(search.words), values=list(search.words.values()))
        if search.vector is None:
            return {"query": words, "using": search.using} if search.words else None
        params = None if self._local is not None else _search_params(exact=search.exact, quantization=None)
        ways: list[tuple[Any, str | None, Any]] = [(list(search.vector), self._vector_name, params)]
        ways += [(words, search.using, None)] if search.words else []
        return {
            "query": models.FusionQuery(fusion=models.Fusion(search.fusion)),
            "prefetch": [
                models.Prefetch(query=query, using=using, params=params, filter=condition, limit=search.limit)
                for query, using, params in ways
            ],
        }

    def _payloads(self, ids: Sequence[str], *, fields: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Some fields of some points of an embedded collection."""
        if self._local is None or not fields:
            return {}
        records = self._local.records([point_key(name) for name in ids], payload_selector(fields), vectors=False)
        return {canonical_id(record.id): encodable_payload(record.payload or {}) for record in records}

    def _search(
        self, search: Search, *, fields: Sequence[str], exact: bool, quantization: Quantization | None
    ) -> list[Hit]:
        local = self._local is not None  # local mode always searches exactly and warns about the parameter
        call = partial(
            self._client.query_points,
            self._collection,
            query=list(search.vector),
            using=self._vector_name,
            query_filter=self._condition(search.equal),
            search_params=None if local else _search_params(exact=exact, quantization=quantization),
            limit=search.limit,
            with_payload=payload_selector(fields),
        )
        response: Any = self._limits.whole(call, search.limit)
        return _hits(response.points)

    def _search_batch(
        self, searches: Sequence[Search], *, fields: Sequence[str], exact: bool, quantization: Quantization | None
    ) -> list[list[Hit]]:
        from qdrant_client import models

        requests = [
            models.QueryRequest(
                query=list(search.vector),
                using=self._vector_name,
                filter=self._condition(search.equal),
                params=_search_params(exact=exact, quantization=quantization),
                limit=search.limit,
                with_payload=payload_selector(fields),
            )
            for search in searches
        ]
        responses = self._ask(lambda: self._client.query_batch_points(self._collection, requests), divisible=True)
        if len(responses) != len(searches):
            raise self._ask.failure(AssertionError(f"{len(searches)} searches, {len(responses)} answers"))
        return [_hits(response.points) for response in responses]


def _by_text(search: TextSearch) -> dict[str, Any]:
    """What ranks points by a text index."""
    from qdrant_client import models

    return {"query": models.TextQuery(text=search.text), "using": search.field}


def _hits(points: Sequence[Any]) -> list[Hit]:
    """The hits, each point once: a copy takes no rank from another."""
    once = {canonical_id(point.id): point for point in reversed(points)}
    # The score for a zero vector is None.
    return [
        Hit(rank, name, math.nan if point.score is None else float(point.score), encodable_payload(point.payload or {}))
        for rank, (name, point) in enumerate(reversed(once.items()), 1)
    ]


def _search_params(*, exact: bool, quantization: Quantization | None) -> Any:
    from qdrant_client import models

    if not exact and quantization is None:
        return None
    how = None
    if quantization is not None:
        ignore = quantization == "ignored"
        again = {} if ignore else {"rescore": True, "oversampling": OVERSAMPLING}
        how = models.QuantizationSearchParams(ignore=ignore, **again)
    return models.SearchParams(exact=exact, quantization=how)
