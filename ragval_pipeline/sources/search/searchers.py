"""Who finds hits for a text: the suite's embedder and collection, or the user's own search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from ragval_pipeline.sources.embedders.cache import uncached
from ragval_pipeline.sources.embedders.reembedding import EmbeddedTexts, embed_each
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from ragval_pipeline.sources.stores.qdrant.points import Found, Reader
from ragval_pipeline.sources.stores.qdrant.searching import Search

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.base import Embedder

    Vector = NDArray[np.float32]


class Searcher(Protocol):
    """Finds hits for texts."""

    def prepare(self, texts: Sequence[str]) -> float | None:
        """Make ready for searching these texts; milliseconds of embedding a text, null where nothing is embedded."""

    def refusal(self, text: str) -> str | None:
        """Why a text that was made ready cannot be searched for, in one line; None when it can."""

    def search_all(self, asked: Sequence[tuple[str, int]], *, fields: Sequence[str]) -> Iterator[Found]:
        """For each text, which was made ready, and number of hits: the hits, in the order asked, best first."""


@dataclass
class IndexSearcher:
    """Embeds all texts in one go and searches the collection for each.

    Args:
        embedder: Embeds the texts.
        reader: The collection.
        vector: Size and distance of the vectors searched.
        input_type: How queries are embedded.
        exact: Search exactly.
        anew: Embed even what a cache holds, to see whether the embedder gives the same vectors again.
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
        """What the embedder says of a text that it does not take."""
        return self._given.refused.get(text)

    def search_all(self, asked: Sequence[tuple[str, int]], *, fields: Sequence[str]) -> Iterator[Found]:
        """The nearest points to each text, in the server's order."""
        searches = (Search(self._given.vectors[text].tolist(), limit) for text, limit in asked)
        return self.reader.search_all(searches, fields=fields, exact=self.exact)
