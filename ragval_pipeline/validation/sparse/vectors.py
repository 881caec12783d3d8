"""The one pass over the sparse vectors under a name: who has none, and what kind of weights they hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.lazy import np
from ragval_pipeline.validation.thresholds import NOISE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.stores.qdrant.facts import SparseFacts
    from ragval_pipeline.sources.stores.qdrant.sparse import SparseBatch

#: ``k`` of BM25 as fastembed, and with it LangChain, LlamaIndex, Haystack and Qdrant, set it.
K = 1.2  # definition
#: Vectors whose weights are looked at.
WEIGHED = 512  # work

#: What the numbers of sparse vectors are: weights of BM25, plain counts of words; None: of another model.
Weights = Literal["bm25", "counts"]


@dataclass(frozen=True)
class SparseVectors:
    """The sparse vectors under one name.

    Attributes:
        facts: Their name and modifier.
        points: Points read.
        missing: Points without one.
        empty: Points whose vector has no numbers.
        weights: What their numbers are.
        judged: Whether searches are known to use them.
        model: Model that the suite states, or None.
    """

    facts: SparseFacts
    points: int
    missing: tuple[str, ...]
    empty: tuple[str, ...]
    weights: Weights | None
    judged: bool = True
    model: str | None = None

    def section(self) -> dict[str, Any]:
        """Its entry in the report."""
        return {
            "name": self.facts.name,
            "idf": self.facts.idf,
            "model": self.model or self.weights,
            "points": self.points,
            "missing": len(self.missing),
            "empty": len(self.empty),
        }


def read_vectors(
    facts: SparseFacts, batches: Iterable[SparseBatch], *, judged: bool, model: str | None
) -> SparseVectors:
    """Read the sparse vectors under a name once."""
    points, missing, empty = 0, list[str](), list[str]()
    sample: list[NDArray[np.float32]] = []
    for batch in batches:
        points += len(batch.ids) + len(batch.missing)
        missing += batch.missing
        empty += batch.empty
        if len(sample) < WEIGHED:
            sample += [values for _, _, values in batch.rows() if len(values)]
    return SparseVectors(facts, points, tuple(missing), tuple(empty), weights_of(sample[:WEIGHED]), judged, model)


def weights_of(vectors: Iterable[NDArray[np.float32]]) -> Weights | None:
    """What the numbers of some vectors are, by their values alone.

    BM25 gives a word that occurs ``n`` times ``n * (K + 1) / (n + c)``, with one ``c`` for each text: the numbers of a
    vector determine ``n`` of each, which is whole. Vectors of equal numbers say nothing.
    """
    distinct = [np.unique(values.astype(np.float64)) for values in vectors]
    telling = [values for values in distinct if len(values) > 1]
    if distinct and all(np.array_equal(values, np.rint(values)) for values in distinct):
        return "counts" if telling else None
    return "bm25" if telling and all(map(_is_bm25, telling)) else None


def _is_bm25(values: NDArray[np.float64]) -> bool:
    """Whether distinct numbers, in ascending order, can be BM25's of one text whose rarest words occur once."""
    if values[0] <= 0 or values[-1] >= K + 1:
        return False
    c = (K + 1) / values[0] - 1
    counts = values * c / (K + 1 - values)
    return bool(c > 0 and np.allclose(counts, np.rint(counts), rtol=NOISE, atol=NOISE))
