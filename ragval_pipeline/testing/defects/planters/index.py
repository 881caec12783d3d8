"""Defects of the collection as a whole: not there, empty, not answering, changing, of another dimension."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from ragval_pipeline.demo.workspace import QDRANT
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect
from ragval_pipeline.testing.defects.services import PassingReader, Service

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts

#: Points that an ingestion writes while the collection is read.
_ARRIVING = 3


@defect("index.empty", kind="points", describe="Deletes every point of the collection.")
def empty(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.points.clear()
    return Planted("index.empty", frozenset({corpus.collection}))


@defect("index.collection_missing", kind="site", describe="Makes the suite ask for a collection that does not exist.")
def collection_missing(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    misspelt = f"{corpus.collection}s"
    corpus.settings["qdrant"]["collection"] = misspelt
    return Planted("index.collection_missing", frozenset({misspelt}))


@defect("index.unreachable", kind="service", describe="Makes the server refuse the key with a 401.")
def refused(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.services.append(Service(reader=_Refusing))
    return Planted("index.unreachable", frozenset({str(corpus.folder / QDRANT)}))


@defect(
    "index.changed_during_read",
    kind="service",
    describe="Makes the server count three more points after the read than before.",
)
def changed_during_read(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    corpus.services.append(Service(reader=_Growing))
    return Planted("index.changed_during_read", frozenset({corpus.collection}))


@defect("vector.dimension", kind="points", describe="Makes the collection with half the dimensions of the embedder.")
def other_dimension(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    size = corpus.space.size // 2
    corpus.space = replace(corpus.space, size=size)
    for point in corpus.points:
        if point.vector is not None:
            point.vector = _shortened(point.vector, size)
    return Planted("vector.dimension", frozenset({corpus.space.name or "vectors"}))


def _shortened(vector: list[float], size: int) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector[:size])) or 1.0
    return [value / length for value in vector[:size]]


class _Refusing(PassingReader):
    """Answers the first call with 401, as a server does that does not know the key."""

    def facts(self) -> CollectionFacts:
        """Never answers."""
        self._refuse()

    def count(self) -> int:
        """Never answers."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        import httpx
        from qdrant_client.http.exceptions import UnexpectedResponse

        from ragval_pipeline.sources.stores.qdrant.failures import failure_of

        answer = UnexpectedResponse(401, "Unauthorized", b"Must provide an API key", httpx.Headers())
        failure = failure_of(answer, place=self.place, tries=1)
        failure.details["simulated"] = True
        raise failure


class _Growing(PassingReader):
    """Counts more points than its facts told."""

    def count(self) -> int:
        """Points by now."""
        return self.inner.count() + _ARRIVING
