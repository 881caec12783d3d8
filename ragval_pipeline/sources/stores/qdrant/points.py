"""What a collection gives: points, hits, and the few questions that a validation asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.scanning import Way
    from ragval_pipeline.sources.stores.qdrant.searching import Search
    from ragval_pipeline.sources.stores.qdrant.vectors import VectorBatch


class Point(NamedTuple):
    """One stored point: its id as text, its payload, and its vector when asked for."""

    id: str
    payload: dict[str, Any]
    vector: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer to a query: rank from 1, id as text, the raw score of the collection's distance, payload."""

    rank: int
    id: str
    score: float
    payload: dict[str, Any] = field(default_factory=dict)


class Found(NamedTuple):
    """What one of many searches found.

    Attributes:
        hits: Best first.
        milliseconds: Its share of the call that it was made in, retries and waiting included.
        asked_at: When that call began, UTC.
    """

    hits: list[Hit]
    milliseconds: float
    asked_at: datetime


class Reader(Protocol):
    """What a validation asks of a collection; a demonstration may stand in for the real one."""

    place: str

    def facts(self) -> CollectionFacts:
        """Facts about the collection."""

    def count(self) -> int:
        """Exact number of points."""

    def newest(self, field: str) -> str | None:
        """The greatest value of an indexed payload field, as text; null without any."""

    def pages(self, fields: Sequence[str] | None, *, with_vectors: bool = False) -> Iterator[list[Point]]:
        """Every point, some at a time."""

    def way(self, facts: CollectionFacts) -> Way:
        """How ``scan`` may read a collection with these facts."""

    def scan(self, fields: Sequence[str] | None, way: Way, *, points: int) -> Iterator[list[Point]]:
        """Every point without its vector, as quickly as the connection allows; texts as the server wrote them."""

    def vectors(self, ids: Sequence[str] | None = None) -> Iterator[VectorBatch]:
        """The stored vectors of every point, or of some, some at a time."""

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The nearest points, best first."""

    def search_all(self, searches: Iterable[Search], *, fields: Sequence[str], exact: bool) -> Iterator[Found]:
        """What each of many searches finds, in their order, as quickly as the connection allows."""
