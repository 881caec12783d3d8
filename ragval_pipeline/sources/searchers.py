"""Who finds hits for a text: the suite's embedder and collection, or the user's own search.

What lives here: the seam, and embedding plus searching behind it. What does not: the user's search
(``production_search``), and which searches a query needs (``answers``).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from ragval_pipeline.errors import NotMeasurableError
from ragval_pipeline.sources.embedders.cache import uncached
from ragval_pipeline.sources.qdrant.facts import VectorFacts
from ragval_pipeline.sources.qdrant.reader import Hit, Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.base import Embedder

    Vector = NDArray[np.float32]


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
    _vectors: dict[str, Vector] = field(default_factory=dict, repr=False)

    def prepare(self, texts: Sequence[str]) -> float | None:
        """Embed the texts.

        Raises:
            SystemFailure: The embedder fails.
            NotMeasurableError: ``vector.dimension``: embedder and collection do not fit.
        """
        with uncached(self.embedder) if self.anew else nullcontext():
            batch = self.embedder.embed(list(texts), input_type=self.input_type)
        size = int(batch.vectors.shape[1])
        if size != self.vector.size:
            raise dimension_mismatch(self.vector, size, self.embedder)
        self._vectors = dict(zip(texts, batch.vectors, strict=True))
        return 1000 * batch.elapsed_s / len(texts)

    def search(self, text: str, *, limit: int, fields: Sequence[str]) -> list[Hit]:
        """The nearest points, in the server's order."""
        return self.reader.search(self._vectors[text].tolist(), limit=limit, fields=fields, exact=self.exact)


def dimension_mismatch(vector: VectorFacts, size: int, embedder: Embedder) -> NotMeasurableError:
    """The error for an embedder whose vectors the collection cannot be searched with."""
    return NotMeasurableError(
        f"the collection holds vectors of {vector.size} dimensions and {embedder.model} makes {size}",
        code="vector.dimension",
        subject=vector.name or "vectors",
        remedy="Set embedding.provider and embedding.model to what the collection was embedded with.",
        details={"expected": vector.size, "found": size, "model": embedder.model, "distance": vector.distance},
    )
