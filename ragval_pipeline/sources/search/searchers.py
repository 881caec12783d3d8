"""Searchers: the suite's embedder and collection, or the user's own search; also exact search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from ragval_pipeline.sources.embedders.cache import uncached
from ragval_pipeline.sources.embedders.reembedding import EmbeddedTexts, embed_each
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Found, Hit, Quantization, Reader, Search, WordSearch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.sources.embedders.sparse import Encode

    Vector = NDArray[np.float32]


class Searcher(Protocol):
    """Finds hits for texts."""

    def prepare(self, texts: Sequence[str]) -> float | None:
        """Prepare for searching these texts; returns milliseconds of embedding per text, None without embedding."""

    def refusal(self, text: str) -> str | None:
        """Why a prepared text cannot be searched for, in one line; None if it can."""

    def search_all(self, asked: Sequence[tuple[str, int]], *, fields: Sequence[str]) -> Iterator[Found]:
        """The hits for each prepared text and number of hits, in order, best first."""


@dataclass
class IndexSearcher:
    """Embeds all texts at once and searches the collection for each.

    ``anew``: the cache is bypassed, to see whether the embedder gives the same vectors again.
    """

    embedder: Embedder
    reader: Reader
    vector: VectorFacts
    input_type: Literal["search_query", "search_document"] = "search_query"
    exact: bool = False
    anew: bool = False
    _given: EmbeddedTexts = field(default_factory=EmbeddedTexts, repr=False)

    def prepare(self, texts: Sequence[str]) -> float | None:
        """Embed the texts.

        Raises:
            SystemFailure: The embedder fails.
            NotMeasurableError: ``vector.dimension``: embedder and collection do not fit.
        """
        with uncached(self.embedder) if self.anew else nullcontext():
            self._given = embed_each(self.embedder, self.vector, texts, self.input_type)
        return 1000 * self._given.elapsed_s / len(texts)

    def refusal(self, text: str) -> str | None:
        """The embedder's reason for refusing a text."""
        return self._given.refused.get(text)

    def vector_of(self, text: str) -> Vector | None:
        """The vector of a prepared text; None if it was refused."""
        return self._given.vectors.get(text)

    def search_all(self, asked: Sequence[tuple[str, int]], *, fields: Sequence[str]) -> Iterator[Found]:
        """The nearest points to each text, in the server's order."""
        searches = (Search(self._given.vectors[text].tolist(), limit) for text, limit in asked)
        return self.reader.search_all(searches, fields=fields, exact=self.exact)

    def forget(self) -> None:
        """Free the vectors of the prepared texts: nothing more is searched for."""
        self._given = EmbeddedTexts()


@dataclass
class WordSearcher:
    """Searches a collection by its sparse vectors, or by these and the dense ones, fused by Qdrant.

    Attributes:
        reader: The collection.
        encode: The words of texts, weight by index.
        using: Name of the sparse vectors.
        dense: Has embedded the texts; None: by words alone.
        fusion: How both are fused.
    """

    reader: Reader
    encode: Encode
    using: str
    dense: IndexSearcher | None = None
    fusion: Literal["rrf", "dbsf"] = "rrf"
    _words: dict[str, dict[int, float]] = field(default_factory=dict, repr=False)

    def prepare(self, texts: Sequence[str]) -> None:
        """Find the words of the texts; a question's words count once."""
        found = self.encode(texts)
        self._words = {text: dict.fromkeys(words, 1.0) for text, words in zip(texts, found, strict=True)}
        if self.dense is not None:
            self.dense.prepare(texts)

    def refusal(self, text: str) -> str | None:
        """The embedder's reason for refusing a text."""
        return None if self.dense is None else self.dense.refusal(text)

    def search_all(self, asked: Sequence[tuple[str, int]], *, fields: Sequence[str]) -> Iterator[Found]:
        """The hits of each text, in the server's order."""
        vectors = [None if self.dense is None else self.dense.vector_of(text) for text, _ in asked]
        searches = (
            WordSearch(self._words[text], self.using, limit, None if vector is None else vector.tolist(), self.fusion)
            for (text, limit), vector in zip(asked, vectors, strict=True)
        )
        return self.reader.search_words(searches, fields=fields)


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
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Probe]:
    """Search for every vector both approximately and exactly, ids and scores only.

    Raises:
        SystemFailure: Qdrant fails.
    """
    asked = [(kind, name, vector) for kind, named in vectors.items() for name, vector in named.items()]
    searches = [Search(vector, limit) for _, _, vector in asked]
    default, exact = (reader.search_all(searches, fields=(), exact=exactly) for exactly in (False, True))
    probes = []
    for number, ((kind, name, _), one, other) in enumerate(zip(asked, default, exact, strict=True), 1):
        probes.append(Probe(kind, name, tuple(one.hits), tuple(other.hits)))
        if on_progress:
            on_progress(number, len(asked))
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
