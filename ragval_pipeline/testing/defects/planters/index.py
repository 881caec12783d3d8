"""Defects of the collection and of the run: missing, empty, changing, a refused embedder, a check that crashes."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from ragval_pipeline.demo.workspace import QDRANT
from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.stores.qdrant.protocol import Point
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect
from ragval_pipeline.testing.services import PassingEmbedder, PassingReader, Service

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Embedder, EmbeddingBatch, InputType
    from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Reader, Way


#: Points that an ingestion writes while the collection is read, greater than all others.
_ARRIVING = tuple(f"ffffffff-ffff-ffff-ffff-{number:012x}" for number in range(3))


@defect("index.empty", kind="points")
def empty(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Deletes every point of the collection."""
    corpus.points.clear()
    return Planted("index.empty", frozenset({corpus.collection}))


@defect("index.collection_missing", kind="site")
def collection_missing(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the suite name a collection that does not exist."""
    misspelt = f"{corpus.collection}s"
    corpus.settings["qdrant"]["collection"] = misspelt
    return Planted("index.collection_missing", frozenset({misspelt}))


@defect("index.unreachable", kind="service")
def refused(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the server refuse the key with a 401."""
    corpus.services.append(Service(reader=_RefusingReader))
    return Planted("index.unreachable", frozenset({str(corpus.folder / QDRANT)}))


@defect("index.changed_during_read", kind="service")
def changed_during_read(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes three more points appear after the first reading."""
    scans: list[str] = []
    corpus.services.append(Service(reader=lambda inner: _Growing(inner, scans)))
    return Planted("index.changed_during_read", frozenset(_ARRIVING))


@defect("vector.dimension", kind="points")
def other_dimension(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Creates the collection with half the dimensions of the embedder."""
    size = corpus.space.size // 2
    corpus.space = replace(corpus.space, size=size)
    for point in corpus.points:
        if point.vector is not None:
            point.vector = _shortened(point.vector, size)
    return Planted("vector.dimension", frozenset({corpus.space.name or "vectors"}))


def _shortened(vector: list[float], size: int) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector[:size])) or 1.0
    return [value / length for value in vector[:size]]


class _RefusingReader(PassingReader):
    """Answers the first call with 401, like a server that does not know the key."""

    def facts(self) -> CollectionFacts:
        self._refuse()

    def count(self) -> int:
        self._refuse()

    def _refuse(self) -> NoReturn:
        import httpx
        from qdrant_client.http.exceptions import UnexpectedResponse

        from ragval_pipeline.sources.stores.qdrant.asking import failure_of

        answer = UnexpectedResponse(401, "Unauthorized", b"Must provide an API key", httpx.Headers())
        failure = failure_of(answer, place=self.place, tries=1)
        failure.details["simulated"] = True
        raise failure


class _Growing(PassingReader):
    """Returns more points in every scan after the first, and counts them."""

    def __init__(self, inner: Reader, scans: list[str]) -> None:
        super().__init__(inner)
        self._scans = scans

    def count(self) -> int:
        return self.inner.count() + (len(_ARRIVING) if self._scans else 0)

    def scan(self, fields: Sequence[str] | None, way: Way, *, points: int) -> Iterator[list[Point]]:
        yield from self.inner.scan(fields, way, points=points)
        if self._scans:
            yield [Point(name, {}) for name in _ARRIVING]
        self._scans.append(way)


_STATUS = "HTTP 401"


@defect("embedder.unreachable", kind="service")
def embedder_refuses(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the embedding provider refuse the key with a 401."""
    corpus.services.append(Service(embedder=_RefusingEmbedder))
    return Planted("embedder.unreachable", frozenset({_STATUS}))


@defect("check.crashed", kind="service")
def check_crashes(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the check of the queries raise an unexpected exception."""
    texts = frozenset(str(query["query_text"]) for query in corpus.queries)
    corpus.services.append(Service(embedder=lambda inner: _Crashing(inner, texts)))
    return Planted("check.crashed", frozenset({"query_validation_results"}))


class _RefusingEmbedder(PassingEmbedder):
    """Refuses every call."""

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        raise SystemFailure(
            "the provider answered HTTP 401: invalid api token",
            code="embedder.unreachable",
            system="embedder",
            subject=_STATUS,
            remedy="Check embedding.api_key.",
            details={"provider": self.inner.provider, "simulated": True},
        )


class _Crashing(PassingEmbedder):
    """Crashes when all test queries are embedded at once, as only the check of the queries does."""

    def __init__(self, inner: Embedder, texts: frozenset[str]) -> None:
        super().__init__(inner)
        self._texts = texts

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """Embeds everything but the test queries."""
        if self._texts <= set(texts):
            raise ZeroDivisionError("planted by the demo")
        return self.inner.embed(texts, input_type=input_type)
