"""Who finds hits for a text: the suite's embedder and collection, or the user's own search.

What lives here: the seam, and embedding plus searching behind it. What does not: the user's search
(``production_search``), and which searches a query needs (``answers``).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.sources.embedders.cache import uncached
from ragval_pipeline.sources.qdrant.facts import VectorFacts
from ragval_pipeline.sources.qdrant.reader import Hit, Reader
from ragval_pipeline.sources.reembedding import EmbeddedTexts, embed_each

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.base import Embedder

    Vector = NDArray[np.float32]


class RefusedTextError(RagvalError):
    """A text that cannot be searched for, while others can; its message says why, in one line."""

    exit_code = 1


class Searcher(Protocol):
    """Finds hits for texts."""

    def prepare(self, texts: Sequence[str]) -> float | None:
        """Make ready for searching these texts; milliseconds of embedding a text, null where nothing is embedded."""

    def search(self, text: str, *, limit: int, fields: Sequence[str]) -> list[Hit]:
        """The first ``limit`` hits for a text that was made ready, best first."""


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

    def search(self, text: str, *, limit: int, fields: Sequence[str]) -> list[Hit]:
        """The nearest points, in the server's order.

        Raises:
            RefusedTextError: The embedder does not take the text.
        """
        if text in self._given.refused:
            raise RefusedTextError(self._given.refused[text])
        return self.reader.search(self._given.vectors[text].tolist(), limit=limit, fields=fields, exact=self.exact)
