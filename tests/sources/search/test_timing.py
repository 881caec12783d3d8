from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from ragval_pipeline.sources.calls import Attempts
from ragval_pipeline.sources.embedders.base import EmbeddingBatch
from ragval_pipeline.sources.embedders.cache import CachingEmbedder, uncached
from ragval_pipeline.sources.search import timing
from ragval_pipeline.sources.search.methods import Method
from ragval_pipeline.sources.search.timing import Timed, time_queries
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Found, Search

VECTOR = VectorFacts(name=None, size=2, distance="Cosine")


class Embedder:
    """Two dimensions; counts calls and tells of a retry in each."""

    provider = model = "own"
    dimension: int | None = None
    max_input_tokens = None
    free = True

    def __init__(self, waited_s: float = 0.0, size: int = 2) -> None:
        self.calls: list[list[str]] = []
        self.waited_s, self.size = waited_s, size

    def embed(self, texts: Sequence[str], *, input_type: str) -> EmbeddingBatch:
        self.calls.append(list(texts))
        time.sleep(self.waited_s)
        tries = 2 if self.waited_s else 1
        vectors = np.ones((len(texts), self.size), dtype=np.float32)
        return EmbeddingBatch(vectors=vectors, calls=1, inputs=len(texts), tries=tries, waited_s=self.waited_s)

    def close(self) -> None:
        """Nothing."""


class Reader:
    """Searches nothing, slowly on request."""

    place = "here"

    def __init__(self, first_s: float = 0.0) -> None:
        self.attempts = Attempts()
        self.searches = 0
        self.first_s = first_s

    def search_all(self, searches: Iterable[Search], **_: Any) -> Iterator[Found]:
        for _search in searches:
            self.searches += 1
            self.attempts.tries += 1
            time.sleep(self.first_s if self.searches == 1 else 0)
            yield Found([], 0.0, datetime.now(UTC))


def timed(number: int, embedder: Any, reader: Any) -> timing.Timings:
    return time_queries(
        [Timed(f"q{place}", f"text {place}") for place in range(number)],
        method=Method(),
        embedder=embedder,
        reader=reader,
        vector=VECTOR,
        input_type="search_query",
        fields=("a",),
        limit=5,
    )


@pytest.mark.parametrize(("number", "timings"), [(1, 20), (7, 20), (20, 20), (23, 23)])
def test_queries_are_cycled_until_there_are_twenty_timings(number: int, timings: int) -> None:
    reader = Reader()
    found = timed(number, CachingEmbedder(Embedder()), reader)
    assert len(found.warm) == timings
    assert reader.searches == timings + 1
    assert [entry.query_id for entry in found.warm[:3]] == [f"q{place % number}" for place in range(3)]


def test_every_call_really_happens_although_the_texts_repeat_and_is_counted() -> None:
    inner = Embedder()
    embedder = CachingEmbedder(inner)
    embedder.embed(["text 0"], input_type="search_query")
    timed(2, embedder, Reader())
    assert [len(call) for call in inner.calls] == [1, *[1] * 21, 2]
    assert embedder.cost.calls == 23
    assert embedder.cost.cache_hits == 0


def test_the_first_query_is_the_cold_start_and_not_among_the_others() -> None:
    found = timed(3, CachingEmbedder(Embedder()), Reader(first_s=0.2))
    assert found.cold.search_ms >= 200
    assert max(entry.search_ms for entry in found.warm) < 150


def test_waiting_between_tries_is_separated_from_the_work() -> None:
    found = timed(1, CachingEmbedder(Embedder(waited_s=0.02)), Reader())
    assert found.embedding_retries == 22
    assert found.waited_ms == pytest.approx(22 * 20)
    assert np.median([entry.embedding_ms for entry in found.warm]) < 15


def test_a_slow_server_is_not_asked_for_more_than_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "LONG_ENOUGH_S", 0.0)
    assert len(timed(40, CachingEmbedder(Embedder()), Reader()).warm) == 20


def test_a_cache_behind_wrappers_is_passed_by_and_works_again_afterwards() -> None:
    class Wrapper:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

    inner = Embedder()
    cache = CachingEmbedder(inner)
    with suppress(ZeroDivisionError), uncached(Wrapper(Wrapper(cache))):
        cache.embed(["a"], input_type="search_query")
        cache.embed(["a"], input_type="search_query")
        raise ZeroDivisionError
    assert len(inner.calls) == 2
    cache.embed(["a"], input_type="search_query")
    assert cache.embed(["a"], input_type="search_query").cache_hits == 1
