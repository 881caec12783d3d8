"""Searchers: the suite's embedder and collection, or the user's own search; also exact search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from ragval_pipeline.sources.embedders.cache import uncached
from ragval_pipeline.sources.embedders.reembedding import EmbeddedTexts, embed_each
from ragval_pipeline.sources.search.methods import Asked, Method
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Found, Hit, Quantization, Reader, Search

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.base import Embedder

    Vector = NDArray[np.float32]


class Searcher(Protocol):
    """Finds hits for texts."""

    def prepare(self, texts: Sequence[str]) -> float | None:
        """Prepare for searching these texts; returns milliseconds of embedding per text, None without embedding."""

    def refusal(self, text: str) -> str | None:
        """Why a prepared text cannot be searched for, in one line; None if it can."""

    def search_all(self, asked: Sequence[Asked], *, fields: Sequence[str]) -> Iterator[Found]:
        """The hits for each prepared text, in order, best first."""


@dataclass
class IndexSearcher:
    """Searches the collection for each text by a method, after embedding all texts at once if it needs vectors.

    Attributes:
        embedder: None: the method embeds nothing.
        reader: The collection.
        vector: The vector that is searched; None: the method embeds nothing.
        input_type: What texts are embedded as.
        method: What a text becomes.
        anew: Whether the cache is bypassed, to see whether the embedder gives the same vectors again.
    """

    embedder: Embedder | None
    reader: Reader
    vector: VectorFacts | None
    input_type: Literal["search_query", "search_document"] = "search_query"
    method: Method = field(default_factory=Method)
    anew: bool = False
    _given: EmbeddedTexts = field(default_factory=EmbeddedTexts, repr=False)
    _words: Mapping[str, Mapping[int, float]] = field(default_factory=dict, repr=False)

    def prepare(self, texts: Sequence[str]) -> float | None:
        """Embed the texts, and find their words.

        Raises:
            SystemFailure: The embedder fails.
            NotMeasurableError: ``vector.dimension``: embedder and collection do not fit.
        """
        self._words = self.method.words_of(texts)
        if not self.method.embeds:
            return None
        assert self.embedder is not None
        assert self.vector is not None
        with uncached(self.embedder) if self.anew else nullcontext():
            self._given = embed_each(self.embedder, self.vector, texts, self.input_type)
        return 1000 * self._given.elapsed_s / len(texts)

    def refusal(self, text: str) -> str | None:
        """The embedder's reason for refusing a text."""
        return self._given.refused.get(text)

    def vector_of(self, text: str) -> Vector | None:
        """The vector of a prepared text; None if it was refused, or the method embeds nothing."""
        return self._given.vectors.get(text)

    def search_all(self, asked: Sequence[Asked], *, fields: Sequence[str]) -> Iterator[Found]:
        """The hits of each text, in the server's order."""
        return self.method.search_all(self.reader, asked, vectors=self._given.vectors, words=self._words, fields=fields)

    def forget(self) -> None:
        """Free what the prepared texts became: nothing more is searched for."""
        self._given, self._words = EmbeddedTexts(), {}


Kind = Literal["query", "point"]


@dataclass(frozen=True)
class Probe:
    """One vector and the results of both searches.

    ``kind`` is ``query`` for a test query's vector, ``point`` for a stored one.
    """

    kind: Kind
    name: str
    default: tuple[Hit, ...]
    exact: tuple[Hit, ...]


def probe_all(
    vectors: Mapping[Kind, Mapping[str, Sequence[float]]],
    *,
    reader: Reader,
    limit: int,
    equal: Equal | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Probe]:
    """Search for every vector both approximately and exactly, ids and scores only.

    ``equal``: payload values that hits must have.

    Raises:
        SystemFailure: Qdrant fails.
    """
    named_vectors = [(kind, name, vector) for kind, named in vectors.items() for name, vector in named.items()]
    searches = [Search(vector, limit, equal) for _, _, vector in named_vectors]
    default, exact = (reader.search_all(searches, fields=(), exact=exactly) for exactly in (False, True))
    probes = []
    for number, ((kind, name, _), one, other) in enumerate(zip(named_vectors, default, exact, strict=True), 1):
        probes.append(Probe(kind, name, tuple(one.hits), tuple(other.hits)))
        if on_progress:
            on_progress(number, len(named_vectors))
    return probes


def searched_again(
    probes: Sequence[Probe],
    vectors: Mapping[Kind, Mapping[str, Sequence[float]]],
    *,
    reader: Reader,
    limit: int,
    quantization: Quantization,
) -> list[Probe]:
    """The same probes, with a default search that uses quantized vectors in another way.

    Raises:
        SystemFailure: Qdrant fails.
    """
    searches = [Search(vectors[probe.kind][probe.name], limit) for probe in probes]
    found = reader.search_all(searches, fields=(), exact=False, quantization=quantization)
    return [replace(probe, default=tuple(each.hits)) for probe, each in zip(probes, found, strict=True)]
