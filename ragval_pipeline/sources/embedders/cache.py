"""A cache for an embedder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import BudgetReachedError, SystemFailure
from ragval_pipeline.lazy import np
from ragval_pipeline.sources.calls import in_calls
from ragval_pipeline.sources.embedders.base import (
    Embedder,
    EmbeddingBatch,
    EmbeddingCost,
    InputType,
    joined,
    no_vectors,
)
from ragval_pipeline.sources.embedders.store import MOST_VECTORS, VectorStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.budget import Budget

    Store = MutableMapping[str, NDArray[np.float32]]


class CachingEmbedder:
    """An embedder that sends each text once per input type, and adds up the cost, of failed calls too.

    It counts the calls of a wrapped embedder that has no ``budget`` itself.

    Args:
        inner: The wrapped embedder; its optional ``batch_size`` and ``call_chars`` limit texts and characters per call.
            ``uncached`` forces real calls, ``asked_anew`` vectors of this run.
        store: Vectors by ``cache_key``; None: a new dict.
        max_entries: The oldest entries beyond this many are dropped.
    """

    #: The run's budget; None: unlimited.
    budget: Budget | None = None

    def __init__(self, inner: Embedder, *, store: Store | None = None, max_entries: int = MOST_VECTORS) -> None:
        self.inner = inner
        self.cost = EmbeddingCost()
        self.passed_by = False
        self.store: Store = {} if store is None else store
        self._max_entries = max_entries
        #: Texts of a call; None: all at once.
        self.batch_size: int | None = getattr(inner, "batch_size", None)
        self._call_chars: int | None = getattr(inner, "call_chars", None)
        # As configured: an unknown model's is learned from its first result, and keys must not change then.
        self._dimension = inner.dimension

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # a copy that is being made has none yet
            raise AttributeError(name)
        return getattr(self.inner, name)

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """Embed ``texts``, sending only those that are not cached, each once.

        Raises:
            SystemFailure: As the wrapped embedder; results of earlier calls stay cached, since they are paid for.
        """
        if not texts:
            return no_vectors(self.dimension)
        if self.passed_by:
            return joined(
                [self._call(part, input_type) for part in in_calls(texts, self.batch_size, most=self._call_chars)]
            )
        keys = [cache_key(self.provider, self.model, self._dimension, input_type, text) for text in texts]
        rows = {key: self.store[key] for key in set(keys) if key in self.store}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
        hits = len(texts) - len(missing)
        self.cost += EmbeddingCost(cache_hits=hits)
        batches = []
        for part in in_calls(
            missing.items(), self.batch_size, most=self._call_chars, length=lambda entry: len(entry[1])
        ):
            names = [key for key, _ in part]
            batches.append(self._call([text for _, text in part], input_type))
            rows.update(zip(names, batches[-1].vectors, strict=True))
            self._remember(names, rows)
        fetched = joined(batches) if batches else no_vectors(self.dimension)
        return replace(fetched, vectors=np.stack([rows[key] for key in keys]), cache_hits=hits)

    def close(self) -> None:
        """Close the wrapped embedder; the cache stays, and is kept for later runs if the store supports it."""
        self.inner.close()
        if isinstance(self.store, VectorStore):
            self.store.save()

    def forget(self) -> None:
        """Keep nothing of this run for later ones: it was interrupted."""
        self.store = {}

    def _call(self, texts: list[str], input_type: InputType) -> EmbeddingBatch:
        try:
            if self.budget and not hasattr(self.inner, "budget"):
                self.budget.begin((), self.model)  # on this machine: a call, but no tokens
            batch = self.inner.embed(texts, input_type=input_type)
        except BudgetReachedError as stop:
            if stop.tries:
                self.cost += EmbeddingCost(calls=1, inputs=len(texts), tries=stop.tries)
            raise
        except SystemFailure as failure:
            self.cost += EmbeddingCost(calls=1, inputs=len(texts), tries=failure.attempts)
            raise
        self.cost += batch
        return batch

    def _remember(self, asked: list[str], rows: dict[str, NDArray[np.float32]]) -> None:
        for key in asked[-self._max_entries :]:
            self.store[key] = rows[key].copy()  # a view would keep its whole batch alive
        while len(self.store) > self._max_entries:
            del self.store[next(iter(self.store))]


@contextmanager
def uncached(embedder: Any) -> Iterator[None]:
    """In this context every call is really made and counted: for timings.

    The cache may be inside wrappers that have it as ``inner``.
    """
    caches = list(_caches(embedder))
    for cache in caches:
        cache.passed_by = True
    try:
        yield
    finally:
        for cache in caches:
            cache.passed_by = False


@contextmanager
def asked_anew(embedder: Any) -> Iterator[None]:
    """In this context no vector of an earlier run is used: for measuring the embedder itself.

    The cache may be inside wrappers that have it as ``inner``.
    """
    stores = [cache.store for cache in _caches(embedder) if isinstance(cache.store, VectorStore)]
    for store in stores:
        store.own_only = True
    try:
        yield
    finally:
        for store in stores:
            store.own_only = False


def _caches(embedder: Any) -> Iterator[CachingEmbedder]:
    while embedder is not None:
        if isinstance(embedder, CachingEmbedder):
            yield embedder
        embedder = getattr(embedder, "inner", None)


def cache_key(provider: str, model: str, dimension: int | None, input_type: InputType, text: str) -> str:
    """A key for the vector of ``text`` by model, dimension and input type, which does not reveal the text."""
    parts = json.dumps([provider, model, dimension, input_type, text])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()
