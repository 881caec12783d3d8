"""The read interface of a collection: all that a validation asks of a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.points import Found, Hit, Point

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.scanning import Search, Way
    from ragval_pipeline.sources.stores.qdrant.vectors import VectorBatch


class Reader(Protocol):
    """The read interface of a collection; demonstrations implement it too."""

    place: str

    def facts(self) -> CollectionFacts:
        """Facts about the collection."""

    def count(self) -> int:
        """Exact number of points."""

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

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The nearest points, best first."""

    def search_all(self, searches: Iterable[Search], *, fields: Sequence[str], exact: bool) -> Iterator[Found]:
        """The results of many searches, in order, as fast as the connection allows."""
