from __future__ import annotations

import copy

import numpy as np
import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.embedders.base import EmbeddingBatch, EmbeddingCost
from ragval_pipeline.sources.embedders.cache import CachingEmbedder, cache_key
from ragval_pipeline.sources.embedders.static import StaticEmbedder


class Recording(StaticEmbedder):
    """The static embedder, remembering what it was asked."""

    def __init__(self, batch_size: int | None = None) -> None:
        self.asked: list[list[str]] = []
        self.batch_size = batch_size

    def embed(self, texts, *, input_type) -> EmbeddingBatch:
        self.asked.append(list(texts))
        if "fail" in texts:
            raise SystemFailure("no", code="embedder.unreachable", system="embedder", subject="x")
        return super().embed(texts, input_type=input_type)


def test_repeated_texts_are_sent_once_and_every_row_is_in_its_place():
    inner = Recording()
    batch = CachingEmbedder(inner).embed(["a", "b", "a", "c", "b"], input_type="search_query")
    assert inner.asked == [["a", "b", "c"]]
    assert (batch.inputs, batch.cache_hits, batch.calls) == (3, 2, 1)
    expected = StaticEmbedder().embed(["a", "b", "a", "c", "b"], input_type="search_query").vectors
    assert np.array_equal(batch.vectors, expected)


def test_a_second_call_asks_only_for_what_is_new():
    inner = Recording()
    cache = CachingEmbedder(inner)
    cache.embed(["a", "b"], input_type="search_query")
    cache.embed(["b", "c"], input_type="search_query")
    again = cache.embed(["a", "b", "c"], input_type="search_query")
    assert [texts for texts in inner.asked if texts] == [["a", "b"], ["c"]]
    assert (again.calls, again.inputs, again.cache_hits) == (0, 0, 3)
    assert cache.cost == EmbeddingCost(calls=2, inputs=3, billed_tokens=0.0, cache_hits=4, tries=2)


def test_queries_and_documents_do_not_share_vectors():
    inner = Recording()
    cache = CachingEmbedder(inner)
    cache.embed(["a"], input_type="search_query")
    cache.embed(["a"], input_type="search_document")
    assert inner.asked == [["a"], ["a"]]
    keys = {
        cache_key("p", "m", 8, "search_query", "a"),
        cache_key("p", "m", 8, "search_document", "a"),
        cache_key("p", "m", 9, "search_query", "a"),
        cache_key("p", "n", 8, "search_query", "a"),
        cache_key("q", "m", 8, "search_query", "a"),
        cache_key("p", "m", 8, "search_query", "\ud800"),
    }
    assert len(keys) == 6


def test_a_failure_is_not_remembered_and_does_not_spoil_what_is():
    inner = Recording()
    cache = CachingEmbedder(inner)
    cache.embed(["a"], input_type="search_query")
    with pytest.raises(SystemFailure):
        cache.embed(["a", "fail"], input_type="search_query")
    assert cache.embed(["a"], input_type="search_query").cache_hits == 1


def test_a_call_that_fails_is_counted_and_what_came_before_it_is_kept():
    inner = Recording(batch_size=2)
    cache = CachingEmbedder(inner)
    with pytest.raises(SystemFailure):
        cache.embed(["a", "b", "c", "fail", "d"], input_type="search_query")
    assert (cache.cost.calls, cache.cost.inputs, cache.cost.tries) == (2, 4, 2)
    again = cache.embed(["a", "b", "d"], input_type="search_query")
    assert (again.cache_hits, again.calls, cache.cost.calls) == (2, 1, 3)
    assert inner.asked == [["a", "b"], ["c", "fail"], ["d"]]


def test_the_cache_drops_its_oldest_entries_and_still_answers_in_full():
    inner = Recording()
    cache = CachingEmbedder(inner, max_entries=2)
    assert cache.embed(["a", "b", "c"], input_type="search_query").vectors.shape == (3, 256)
    assert cache.embed(["a", "b", "c"], input_type="search_query").cache_hits == 2
    assert inner.asked == [["a", "b", "c"], ["a"]]


def test_changing_a_returned_array_does_not_change_the_cache():
    cache = CachingEmbedder(StaticEmbedder())
    first = cache.embed(["a"], input_type="search_query").vectors
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(cache.embed(["a"], input_type="search_query").vectors, kept)


def test_a_cached_row_does_not_keep_its_whole_batch_alive():
    store: dict = {}
    CachingEmbedder(StaticEmbedder(), store=store).embed(["a", "b"], input_type="search_query")
    assert [row.base for row in store.values()] == [None, None]


def test_a_store_that_is_handed_in_serves_the_next_embedder():
    store: dict = {}
    CachingEmbedder(StaticEmbedder(), store=store).embed(["a"], input_type="search_query")
    inner = Recording()
    batch = CachingEmbedder(inner, store=store).embed(["a"], input_type="search_query")
    assert batch.cache_hits == 1
    assert inner.asked in ([], [[]])


def test_a_copy_has_what_the_original_has():
    embedder = CachingEmbedder(StaticEmbedder())
    assert copy.copy(embedder).dimension == embedder.dimension == 256
