"""The one pass over the sparse vectors under a name: who has none, and what kind of weights they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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


#: What a vector that does not match is: of another text, or of the same words with other weights.
Look = Literal["text", "weights"]


@dataclass(frozen=True)
class Compared:
    """The vectors computed again.

    Attributes:
        points: Points compared.
        language: Language of the word endings, as ``word_counts`` names it; empty: none. None for the user's own model.
        wrong: What is wrong with a point's vector, by id, and its cosine with the computed one.
    """

    points: int
    language: str | None
    wrong: Mapping[str, tuple[Look, float]]


#: Numbers of sparse vectors that are kept to be compared: 200 MB.
KEPT = 25_000_000  # work


@dataclass(frozen=True)
class Held:
    """Sparse vectors that were kept; of a large collection only the first.

    Attributes:
        places: Block, start and end of each vector, by point id.
        blocks: Indices and values of vectors, one after another.
    """

    places: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    blocks: list[tuple[NDArray[np.uint32], NDArray[np.float32]]] = field(default_factory=list)

    def add(self, batch: SparseBatch) -> None:
        """Keep the vectors of a batch, but for empty ones, unless too many are kept already."""
        if sum(len(indices) for indices, _ in self.blocks) > KEPT:
            return
        end = 0
        for name, length in zip(batch.ids, batch.lengths.tolist(), strict=True):
            start, end = end, end + length
            if length:
                self.places[name] = (len(self.blocks), start, end)
        self.blocks.append((batch.indices, batch.values))

    def has(self, name: str) -> bool:
        """Whether the vector of a point was kept."""
        return name in self.places

    def row(self, name: str) -> dict[int, float]:
        """The vector of a point, weight by index."""
        block, start, end = self.places[name]
        indices, values = self.blocks[block]
        return dict(zip(indices[start:end].tolist(), values[start:end].tolist(), strict=True))


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
        held: The vectors themselves.
        compared: How they compare with those of the texts, computed again; None: not known.
    """

    facts: SparseFacts
    points: int
    missing: tuple[str, ...]
    empty: tuple[str, ...]
    weights: Weights | None
    judged: bool = True
    model: str | None = None
    held: Held = field(default_factory=Held, repr=False)
    compared: Compared | None = None

    def with_compared(self, compared: Compared | None) -> SparseVectors:
        """The same, compared; the vectors themselves are given up."""
        return replace(self, compared=compared, held=Held())

    @property
    def wrong(self) -> Mapping[str, tuple[Look, float]]:
        """What is wrong with the vectors of points, by id."""
        return self.compared.wrong if self.compared else {}

    def section(self) -> dict[str, Any]:
        """Its entry in the report."""
        return {
            "name": self.facts.name,
            "idf": self.facts.idf,
            "model": self.model or self.weights,
            "points": self.points,
            "missing": len(self.missing),
            "empty": len(self.empty),
            "computed_again": self.compared.points if self.compared else 0,
        }


def read_vectors(
    facts: SparseFacts, batches: Iterable[SparseBatch], *, judged: bool, model: str | None
) -> SparseVectors:
    """Read the sparse vectors under a name once."""
    points, missing, empty = 0, list[str](), list[str]()
    sample: list[NDArray[np.float32]] = []
    stored = Held()
    for batch in batches:
        stored.add(batch)
        points += len(batch.ids) + len(batch.missing)
        missing += batch.missing
        empty += batch.empty
        if len(sample) < WEIGHED:
            sample += [values for _, _, values in batch.rows() if len(values)]
    weights = weights_of(sample[:WEIGHED])
    return SparseVectors(facts, points, tuple(missing), tuple(empty), weights, judged, model, stored)


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
