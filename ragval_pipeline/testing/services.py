"""Wrappers between the run and Qdrant or the embedder, which answer like a faulty server, act or fail.

run_suite(suite, resources=resources_of([failing_reader("search", SystemFailure(...), after=3)]))
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.sources.stores.qdrant.protocol import Found

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Embedder, EmbeddingBatch, InputType
    from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Hit, Quantization, Reader, Search
    from ragval_pipeline.suite.model import Suite


class PassingReader:
    """A reader that forwards everything; its facts are marked as simulated."""

    def __init__(self, inner: Reader) -> None:
        self.inner = inner

    def facts(self) -> CollectionFacts:
        """The inner reader's facts, marked as simulated."""
        return self.inner.facts().model_copy(update={"simulated": True})

    def search_all(
        self,
        searches: Iterable[Search],
        *,
        fields: Sequence[str],
        exact: bool,
        quantization: Quantization | None = None,
    ) -> Iterator[Found]:
        """Each by ``search``, which planters override."""
        for search in searches:
            asked_at, started = datetime.now(UTC), time.perf_counter()
            hits = self.search(search.vector, limit=search.limit, fields=fields, exact=exact)
            yield Found(hits, 1000 * (time.perf_counter() - started), asked_at)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class SpoilingReader(PassingReader):
    """Changes the hits of some vectors, identified by their ``vector_key``, every time."""

    def __init__(
        self, inner: Reader, vectors: frozenset[tuple[float, ...]], spoil: Callable[[list[Hit]], list[Hit]]
    ) -> None:
        super().__init__(inner)
        self._vectors, self._spoil = vectors, spoil

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The hits, changed if the vector matches."""
        hits = self.inner.search(vector, limit=limit, fields=fields, exact=exact)
        return self._spoil(hits) if vector_key(vector) in self._vectors else hits


def vector_key(vector: Iterable[float]) -> tuple[float, ...]:
    """A key to recognise a sent vector: its values to five digits."""
    return tuple(round(value, 5) for value in vector)


class PassingEmbedder:
    """An embedder that forwards everything."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass(frozen=True)
class Service:
    """One fault: wrappers of the reader, the embedder or both."""

    reader: Callable[[Reader], Reader] | None = None
    embedder: Callable[[Embedder], Embedder] | None = None


@dataclass(frozen=True)
class SimulatedQdrant:
    """The resource ``qdrant``: the suite's collection with the wrappers of some services."""

    services: tuple[Service, ...]

    @contextmanager
    def reader_for(self, suite: Suite) -> Iterator[Reader]:
        """An open reader of the suite's collection."""
        from ragval_pipeline.sources.stores.opening import opened_reader

        with opened_reader(suite.qdrant, policy=suite.retry) as stored:
            reader: Reader = PassingReader(stored)
            for service in self.services:
                reader = service.reader(reader) if service.reader else reader
            yield reader


@dataclass(frozen=True)
class SimulatedEmbedder:
    """The resource ``embedder``: the suite's embedder with the wrappers of some services."""

    services: tuple[Service, ...]

    @contextmanager
    def embedder_for(self, suite: Suite) -> Iterator[Embedder]:
        """An open embedder for the suite."""
        from ragval_pipeline.sources.embedders.opening import open_suite_embedder

        embedder: Embedder = open_suite_embedder(suite)
        try:
            wrapped = embedder
            for service in self.services:
                wrapped = service.embedder(wrapped) if service.embedder else wrapped
            yield wrapped
        finally:
            embedder.close()


def resources_of(services: Sequence[Service]) -> dict[str, Any] | None:
    """Resources for a run (``run_suite(resources=...)``); None without services."""
    if not services:
        return None
    return {"qdrant": SimulatedQdrant(tuple(services)), "embedder": SimulatedEmbedder(tuple(services))}


Call = Literal["facts", "count", "newest", "pages", "vectors", "search"]


def failing_reader(call: Call, error: BaseException, *, after: int = 0) -> Service:
    """A reader that raises on one of its calls.

    Args:
        call: The failing method.
        error: What it raises.
        after: How many calls succeed first, over all readers of the run; pages count individually.
    """

    def fail() -> None:
        raise error

    return acting_reader(call, fail, after=after)


def acting_reader(call: Call, act: Callable[[], None], *, after: int = 0) -> Service:
    """A reader that does something before its calls, from a given one, such as changing the collection.

    Args:
        call: The method.
        act: The action; its exceptions end the call.
        after: How many calls are skipped first.
    """
    seen = [0]

    def count() -> None:
        seen[0] += 1
        if seen[0] > after:
            act()

    class Acting(PassingReader):
        def __getattribute__(self, name: str) -> Any:
            if name != call:
                return super().__getattribute__(name)
            found = getattr(PassingReader(self.inner), name)
            return _each(found, count) if name in {"pages", "vectors"} else _before(found, count)

    def wrapped(reader: Reader) -> Reader:
        return Acting(reader)

    return Service(reader=wrapped)


def failing_embedder(error: BaseException, *, after: int = 0) -> Service:
    """An embedder that raises after some successful calls."""
    seen = [0]

    class Failing(PassingEmbedder):
        def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
            seen[0] += 1
            if seen[0] > after:
                raise error
            return self.inner.embed(texts, input_type=input_type)

    def wrapped(embedder: Embedder) -> Embedder:
        return Failing(embedder)

    return Service(embedder=wrapped)


def _before(call: Callable[..., Any], act: Callable[[], None]) -> Callable[..., Any]:
    def acting(*arguments: Any, **options: Any) -> Any:
        act()
        return call(*arguments, **options)

    return acting


def _each(call: Callable[..., Iterator[Any]], act: Callable[[], None]) -> Callable[..., Iterator[Any]]:
    def acting(*arguments: Any, **options: Any) -> Iterator[Any]:
        for page in call(*arguments, **options):
            act()
            yield page

    return acting
