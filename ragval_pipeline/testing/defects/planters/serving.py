"""Defects of a server: not ready, without a payload index, with a poor graph, slow, with hits out of order."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragval_pipeline.testing.defects.choose import choose_queries, query_keys, top_k_of
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import HALF, ONE, TENTH, Amount, Planted, defect
from ragval_pipeline.testing.services import PassingEmbedder, PassingReader, Service, SpoilingReader, acting_reader

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import EmbeddingBatch, InputType
    from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Hit, Reader

#: Payload field and value that the whole collection is filtered by.
_SITE_FIELD, _SITE = "site", "handbook"
#: The suite's limit, and the time that the slow server takes.
_BUDGET_MS, _DELAY_S = 20.0, 0.03
#: A server's usual settings (qdrant.tech/documentation/concepts/indexing).
_SERVER: dict[str, Any] = {
    "local": False,
    "server_version": "1.16.0",
    "indexing_threshold": 10_000,
    "hnsw": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
}


def pretend(corpus: Corpus, **facts: Any) -> None:
    """Facts of a server made from those of the embedded collection, with some changed."""
    corpus.services.append(Service(reader=lambda inner: _Pretending(inner, {**_SERVER, **facts})))


def _not_ready(corpus: Corpus, *_: object, **facts: Any) -> Planted:
    pretend(corpus, **facts)
    return Planted("index.not_ready", frozenset({corpus.collection}))


#: What the server reports about itself: variant, facts, and a description.
_STATES: tuple[tuple[str | None, dict[str, Any], str], ...] = (
    (None, {"status": "yellow"}, "Makes the server report that its optimiser is running."),
    ("grey", {"status": "grey"}, "Makes the server report that its optimiser has not been started."),
    ("optimizer", {"status": "red", "optimizer": "Service internal error: No space left on device"},
     "Makes the server report an error of its optimiser."),
)  # fmt: skip
for _variant, _facts, _describe in _STATES:
    defect("index.not_ready", kind="service", variant=_variant, describe=_describe)(partial(_not_ready, **_facts))


@defect("index.not_ready", kind="service", variant="deferred")
def deferred(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the server hide points from searches."""
    return _not_ready(corpus, deferred_points=amount.of(len(corpus.points)))


@defect("index.not_ready", kind="service", variant="unindexed")
def unindexed(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the server leave vectors unindexed although they are above its HNSW threshold."""
    kilobytes = len(corpus.points) * corpus.space.size * 4 // 1024
    return _not_ready(corpus, indexed_vectors_count=0, segments=2, indexing_threshold=max(1, kilobytes // 4))


@defect("index.payload_index_missing", kind="service")
def no_payload_index(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the suite filter on a field without a payload index."""
    for point in corpus.points:
        point.payload[_SITE_FIELD] = _SITE
    corpus.settings["qdrant"]["filter"] = {_SITE_FIELD: _SITE}
    pretend(corpus, payload_indexes={"source_url": "keyword"})
    return Planted("index.payload_index_missing", frozenset({_SITE_FIELD}))


@defect("index.low_ann_recall", kind="service")
def poor_graph(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the server miss every other hit after the first, as with too few links in its graph."""
    graph = {"m": 2, "ef_construct": 4, "full_scan_threshold": 1}
    pretend(corpus, hnsw=graph, indexed_vectors_count=len(corpus.points))
    corpus.services.append(Service(reader=_Missing))
    return Planted("index.low_ann_recall", frozenset({corpus.collection}))


@defect("retrieval.slow", kind="service")
def slow_search(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes every search take longer than the suite allows."""
    corpus.services.append(acting_reader("search", lambda: time.sleep(_DELAY_S)))
    return _over_budget(corpus)


@defect("retrieval.slow", kind="service", variant="embedding")
def slow_embedding(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes every call of the embedder take longer than the suite allows."""
    corpus.services.append(Service(embedder=_SlowEmbedder))
    return _over_budget(corpus)


@defect("retrieval.invalid_order", kind="service", amounts=(ONE, TENTH, HALF))
def out_of_order(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the server return the first two hits of a query in the wrong order."""
    return _spoilt_answers(corpus, amount, rng, _exchanged)


@defect("retrieval.invalid_order", kind="service", variant="range", amounts=(ONE, TENTH, HALF))
def above_one(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the server return a cosine above 1."""
    return _spoilt_answers(corpus, amount, rng, _raised)


@defect("embedder.input_type", kind="service")
def as_documents(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Embeds queries as documents, with a model that distinguishes the two."""
    corpus.settings["embedding"]["query_input_type"] = "search_document"
    corpus.services.append(Service(embedder=_TellingApart))
    return Planted("embedder.input_type", frozenset({"embedding.query_input_type"}))


def _over_budget(corpus: Corpus) -> Planted:
    corpus.settings.setdefault("criteria", {})["latency_p95_ms"] = {"threshold": _BUDGET_MS, "required": False}
    return Planted("retrieval.slow", frozenset({"latency_p95_ms"}), scope="latency_p95_ms")


def _spoilt_answers(
    corpus: Corpus, amount: Amount, rng: random.Random, spoil: Callable[[list[Hit]], list[Hit]]
) -> Planted:
    # A query for one hit has no order, and a negative one would exceed its limit.
    chosen = choose_queries(
        corpus, amount, rng, suits=lambda query: not query.get("negative") and top_k_of(corpus, query) > 1
    )
    keys = query_keys(corpus, chosen)
    corpus.services.append(Service(reader=lambda inner: SpoilingReader(inner, keys, spoil)))
    return Planted("retrieval.invalid_order", frozenset(str(query["id"]) for query in chosen))


def _exchanged(hits: list[Hit]) -> list[Hit]:
    """The first two hits swapped: the server's ranks are positions in its response."""
    if len(hits) < 2 or hits[0].score - hits[1].score < 1e-5:
        return hits
    return [replace(hit, rank=rank) for rank, hit in enumerate((hits[1], hits[0], *hits[2:]), 1)]


def _raised(hits: list[Hit]) -> list[Hit]:
    return [replace(hit, score=hit.score + 1) if hit.rank == 1 else hit for hit in hits]


class _Pretending(PassingReader):
    """Reports other facts about the collection."""

    def __init__(self, inner: Reader, facts: dict[str, Any]) -> None:
        super().__init__(inner)
        self._facts = facts

    def facts(self) -> CollectionFacts:
        return super().facts().model_copy(update=self._facts)


class _Missing(PassingReader):
    """Finds the first, third, fifth hit and so on, except in exact searches."""

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        if exact:
            return self.inner.search(vector, limit=limit, fields=fields, exact=True)
        hits = self.inner.search(vector, limit=2 * limit, fields=fields, exact=False)
        return [replace(hit, rank=rank) for rank, hit in enumerate(hits[::2], 1)]


class _SlowEmbedder(PassingEmbedder):
    """Delays every call."""

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        time.sleep(_DELAY_S)
        return self.inner.embed(texts, input_type=input_type)


class _TellingApart(PassingEmbedder):
    """Embeds queries differently from documents: their first half is weakened."""

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """The vectors; unchanged for documents."""
        batch = self.inner.embed(texts, input_type=input_type)
        if input_type == "search_document" or not len(batch.vectors):
            return batch
        weakened = batch.vectors.copy()
        weakened[:, : weakened.shape[1] // 2] *= 0.8
        return replace(batch, vectors=weakened)
