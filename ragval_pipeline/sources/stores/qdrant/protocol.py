"""What a validation asks of a vector store: the reader's interface, and what it is asked for and gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.calls import Attempts
    from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
    from ragval_pipeline.sources.stores.qdrant.filtered import LeftOut
    from ragval_pipeline.sources.stores.qdrant.sparse import SparseBatch


class Point(NamedTuple):
    """One stored point: its id as text, its payload, and its vector if requested."""

    id: str
    payload: dict[str, Any]
    vector: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit of a search: rank from 1, id as text, the raw score of the collection's distance, payload."""

    rank: int
    id: str
    score: float
    payload: dict[str, Any] = field(default_factory=dict)


class Found(NamedTuple):
    """The result of one of many searches.

    Attributes:
        hits: Best first.
        milliseconds: Its share of the call's time, retries and waits included.
        asked_at: When that call began, UTC.
    """

    hits: list[Hit]
    milliseconds: float
    asked_at: datetime


#: Payload values that hits must have, beside those of the suite's filter.
Equal = Mapping[str, str | int | bool]


@dataclass(frozen=True)
class Search:
    """One search: a vector, the number of nearest points, and the payload values that these must have."""

    vector: Sequence[float]
    limit: int
    equal: Equal | None = None


@dataclass(frozen=True)
class WordSearch:
    """One search by sparse vectors, or by sparse and dense ones, whose hits are fused.

    Attributes:
        words: Weight by index of the sparse vector.
        using: Name of the sparse vectors.
        limit: Number of hits, of each of the two ways and of both.
        vector: The dense vector; None: by words alone.
        fusion: How the hits of both are fused.
        equal: Payload values that hits must have.
        exact: Whether dense vectors are searched exactly.
    """

    words: Mapping[int, float]
    using: str
    limit: int
    vector: Sequence[float] | None = None
    fusion: Literal["rrf", "dbsf"] = "rrf"
    equal: Equal | None = None
    exact: bool = False


@dataclass(frozen=True)
class TextSearch:
    """One search by the scored text index of a payload field.

    Attributes:
        text: The words.
        field: Payload name.
        limit: Number of hits.
        equal: Payload values that hits must have.
    """

    text: str
    field: str
    limit: int
    equal: Equal | None = None


@dataclass(frozen=True, eq=False)
class VectorBatch:
    """The vectors of some points.

    Attributes:
        ids: Points that have a vector, as text.
        matrix: float32 array of shape (number of ids, dimension), rows in the order of ``ids``; as stored, so of length
            1 in a cosine collection. Shape (0, 0) without ids.
        missing: Points without a vector under the name that searches use.
        other: Points whose vector is not a single list of numbers: multivectors and sparse ones.
    """

    ids: tuple[str, ...]
    matrix: NDArray[np.float32]
    missing: tuple[str, ...] = ()
    other: tuple[str, ...] = ()

    def without(self, point_id: str | None) -> VectorBatch:
        """The batch without one point."""
        if point_id not in (*self.ids, *self.missing, *self.other):
            return self
        rows = [number for number, name in enumerate(self.ids) if name != point_id]
        ids, missing, other = (
            tuple(name for name in names if name != point_id) for names in (self.ids, self.missing, self.other)
        )
        return VectorBatch(ids, self.matrix[rows], missing, other)


#: How a search uses quantized vectors: not at all, or to find candidates that are compared again by the original ones.
Quantization = Literal["ignored", "rescored"]
#: Candidates per hit of a rescored search.
OVERSAMPLING = 3.0

#: How all points are read: by slices of their ids, by ranges of them, or page by page.
Way = Literal["slices", "ranges", "pages"]


class Reader(Protocol):
    """The read interface of a collection; demonstrations implement it too."""

    place: str

    @property
    def attempts(self) -> Attempts:
        """Calls made so far, retries included."""

    def facts(self) -> CollectionFacts:
        """Facts about the collection."""

    def count(self) -> int:
        """Exact number of points."""

    def left_out(self, address: str | None, equal: Equal | None = None) -> tuple[LeftOut, ...]:
        """Why points of the collection do not pass a filter, by field; None: the suite's."""

    def newest(self, field: str) -> str | None:
        """The greatest value of an indexed payload field, as text; None without any."""

    def pages(self, fields: Sequence[str] | None, *, with_vectors: bool = False) -> Iterator[list[Point]]:
        """Every point, in pages."""

    def way(self, facts: CollectionFacts) -> Way:
        """How ``scan`` may read a collection with these facts."""

    def scan(self, fields: Sequence[str] | None, way: Way, *, points: int) -> Iterator[list[Point]]:
        """Every point without its vector, as fast as the connection allows; texts unchanged."""

    def vectors(self, ids: Sequence[str] | None = None) -> Iterator[VectorBatch]:
        """The stored vectors of all or some points, in batches."""

    def sparse(self, name: str) -> Iterator[SparseBatch]:
        """The sparse vectors of all points under one name, in batches."""

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The nearest points, best first."""

    def search_words(self, searches: Iterable[WordSearch | TextSearch], *, fields: Sequence[str]) -> Iterator[Found]:
        """The results of searches by sparse vectors or text indexes, in order."""

    def passing(self, equal: Equal) -> frozenset[str]:
        """Ids of the points with these payload values."""

    def search_all(
        self,
        searches: Iterable[Search],
        *,
        fields: Sequence[str],
        exact: bool,
        quantization: Quantization | None = None,
    ) -> Iterator[Found]:
        """The results of many searches, in order, as fast as the connection allows."""
