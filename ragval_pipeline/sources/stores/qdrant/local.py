"""Reading an embedded collection by ids, and many searches of it at a time.

Local mode sorts all ids for every page of a scroll, and normalises all vectors in place for every query: with a client
that stays open, they would change by rounding. Here the ids and the vectors are read once, and many queries are
compared with the vectors in one product.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Protocol
from weakref import WeakKeyDictionary

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.stores.qdrant.names import canonical_id, filter_model, id_order
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Found, Hit, Search, VectorBatch

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from qdrant_client import QdrantClient

    from ragval_pipeline.sources.stores.qdrant.asking import Asking

#: Distances that are products, so that the greatest is the nearest.
_PRODUCTS = frozenset({"Cosine", "Dot"})
#: Scores in memory at a time, and searches.
_SCORES, _SEARCHES = 1 << 23, 256
#: How far a score may be off in float32, relative to it.
_ROUNDING = 1e-5


@dataclass(frozen=True)
class LocalPoints:
    """The points of an embedded collection with a payload that equals ``equal``."""

    client: QdrantClient
    collection: str
    equal: Mapping[str, str | int | bool]
    ask: Asking

    @classmethod
    def of_client(
        cls, client: QdrantClient, collection: str, equal: Mapping[str, str | int | bool], ask: Asking
    ) -> LocalPoints | None:
        """The points with a payload that equals this one's, if the client is an embedded one."""
        is_local = "local" in type(getattr(client, "_client", None)).__module__
        return cls(client, collection, equal, ask) if is_local else None

    def ids(self) -> list[int | str]:
        """All ids, in order."""
        stored = self.ask(lambda: self.client.get_collection(self.collection)).points_count or 0
        scroll = partial(self.client.scroll, self.collection, filter_model(self.equal, None), limit=stored + 1)
        records, _ = self.ask(partial(scroll, with_payload=False, with_vectors=False))
        # An id may be written in several ways, by which local mode sorts it.
        return sorted((record.id for record in records), key=lambda name: id_order(canonical_id(name)))  # type: ignore[misc]

    def records(self, ids: Sequence[int | str], payload: bool | list[str], vectors: bool | list[str]) -> list[Any]:
        """The records of some points."""
        retrieve = partial(self.client.retrieve, self.collection, ids)
        return self.ask(partial(retrieve, with_payload=payload, with_vectors=vectors))

    def vectors(self, name: str | None, read: Callable[[], Iterable[VectorBatch]]) -> LocalVectors | None:
        """The vectors with a name, as ``read`` gives them, if they can be searched here; read once for a client."""
        info: Any = self.ask(lambda: self.client.get_collection(self.collection))
        vectors = info.config.params.vectors
        used = vectors.get(name or "") if isinstance(vectors, dict) else vectors
        known = _VECTORS.setdefault(self.client, {})
        key = (self.collection, name, *self.equal.items(), info.points_count)
        if key not in known:
            known[key] = LocalVectors.of(read(), getattr(getattr(used, "distance", None), "value", None))
        return known[key]


class Rows(Protocol):
    """Vectors that searches are compared with."""

    @property
    def width(self) -> int:
        """Numbers in each."""

    def blocks(self, size: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """All vectors, some at a time: their places in the order of ids, and float32 rows."""

    def of(self, places: NDArray[np.int64]) -> Rows:
        """Those at some places, in order."""


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """A float32 array of shape (number of vectors, dimension)."""

    matrix: NDArray[np.float32]

    @property
    def width(self) -> int:
        """Numbers in each."""
        return int(self.matrix.shape[1])

    def blocks(self, size: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """All vectors, some at a time."""
        for start in range(0, len(self.matrix), size):
            block = self.matrix[start : start + size]
            yield np.arange(start, start + len(block)), block

    def of(self, places: NDArray[np.int64]) -> RowsInMemory:
        """Those at some places."""
        return RowsInMemory(self.matrix[places])


@dataclass(frozen=True, eq=False)
class LocalVectors:
    """The vectors of an embedded collection, or of a file.

    Attributes:
        ids: Points with a vector, in id order, as text.
        rows: Their vectors, in this order.
        cosine: Whether queries are normalised, as the rows are.
        metric: scipy's name of a distance of which the smallest is the nearest; None: the greatest product is.
    """

    ids: Sequence[str]
    rows: Rows
    cosine: bool
    metric: Literal["euclidean", "cityblock"] | None = None

    @classmethod
    def of(cls, batches: Iterable[VectorBatch], distance: str | None) -> LocalVectors | None:
        """The vectors of a collection with a distance; None if products of them are not its scores."""
        if distance not in _PRODUCTS:
            return None
        ids: list[str] = []
        parts = []
        for batch in batches:
            if batch.other:
                return None
            ids += batch.ids
            parts += [batch.matrix] if batch.ids else []
        if not parts:
            return None
        matrix, cosine = np.concatenate(parts), distance == "Cosine"
        return cls(tuple(ids), RowsInMemory(_normalised(matrix) if cosine else matrix), cosine)

    def suits(self, search: Search) -> bool:
        """Whether a query can be compared with the vectors."""
        return len(search.vector) == self.rows.width and bool(np.isfinite(search.vector).all())

    def nearest(self, searches: Sequence[Search]) -> list[list[tuple[str, float]]]:
        """Ids and scores of the points nearest to each query, best first; of equal scores in id order."""
        asked = np.array([search.vector for search in searches], dtype=np.float64)
        asked = _normalised(asked) if self.cosine else asked
        best = [_Best(min(search.limit, len(self.ids))) for search in searches]
        for places, block in self.rows.blocks(max(1, _SCORES // len(searches))):
            for own, vector, scores in zip(best, asked, self._scores(asked, block), strict=True):
                chosen = own.candidates(scores)
                if len(chosen):
                    own.add(places[chosen], self._exact(vector, block[chosen]))
        sign = -1 if self.metric else 1
        return [[(self.ids[place], score) for place, score in own.found(sign)] for own in best]

    def _scores(self, asked: NDArray[np.float64], block: NDArray[np.float32]) -> NDArray[Any]:
        """The score of each row for each query up to rounding, as an array of shape (queries, rows)."""
        if self.metric is None:
            return asked.astype(np.float32) @ block.T
        return self._distances(asked, block)

    def _exact(self, vector: NDArray[np.float64], rows: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.metric is None:
            # The product's last digits depend on how many queries there are.
            exact: NDArray[np.float64] = rows.astype(np.float64) @ vector
        else:
            exact = self._distances(vector[None], rows)[0]
        return exact.astype(np.float32)

    def _distances(self, asked: NDArray[np.float64], rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Distances, as scores of which the greatest is the nearest."""
        from scipy.spatial.distance import cdist

        return -np.asarray(cdist(asked, rows, self.metric), dtype=np.float64)

    def _nearest(
        self,
        searches: Sequence[Search],
        parts: dict[Hashable, LocalVectors],
        passing: Callable[[Equal], frozenset[str]],
    ) -> list[list[tuple[str, float]]]:
        """``nearest`` of each search among the points with its values; ``parts`` are the vectors of these, if known."""
        by_values = dict[Hashable, list[int]]()
        for number, search in enumerate(searches):
            by_values.setdefault(frozenset((search.equal or {}).items()), []).append(number)
        found = dict[int, list[tuple[str, float]]]()
        for key, numbers in by_values.items():
            equal = searches[numbers[0]].equal
            if equal and key not in parts:
                parts[key] = self._of(passing(equal))
            part = parts[key] if equal else self
            some = [searches[number] for number in numbers]
            found |= zip(numbers, part.nearest(some) if len(part.ids) else ([] for _ in some), strict=True)
        return [found[number] for number in range(len(searches))]

    def _of(self, ids: frozenset[str]) -> LocalVectors:
        """The vectors of some points."""
        pairs = [(place, name) for place, name in enumerate(self.ids) if name in ids]
        places = np.array([place for place, _ in pairs], dtype=np.int64)
        return replace(self, ids=tuple(name for _, name in pairs), rows=self.rows.of(places))

    def search_all(
        self,
        searches: Iterable[Search],
        *,
        payloads: Callable[[Sequence[str]], Mapping[str, dict[str, Any]]],
        otherwise: Callable[[Sequence[Search]], Iterator[Found]],
        passing: Callable[[Equal], frozenset[str]],
    ) -> Iterator[Found]:
        """The hits of each search, in order.

        ``payloads`` gives those of some points, by id; ``otherwise`` makes searches that cannot be compared here;
        ``passing`` gives the points with some payload values.
        """
        coming, known = iter(searches), dict[str, dict[str, Any]]()
        parts = dict[Hashable, LocalVectors]()
        while some := list(islice(coming, _SEARCHES)):
            if not all(map(self.suits, some)):
                yield from otherwise(some)
                continue
            asked_at, started = datetime.now(UTC), time.perf_counter()
            nearest = self._nearest(some, parts, passing)
            known |= payloads(sorted({name for found in nearest for name, _ in found} - known.keys()))
            share = 1000 * (time.perf_counter() - started) / len(some)
            for found in nearest:
                hits = [Hit(rank, name, score, known.get(name, {})) for rank, (name, score) in enumerate(found, 1)]
                yield Found(hits, share, asked_at)


class _Best:
    """The best scores of one query so far."""

    def __init__(self, limit: int) -> None:
        self._limit, self._least = limit, -np.inf
        self._places, self._scores = np.empty(0, np.int64), np.empty(0, np.float32)

    def candidates(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """The rows of a block that may be among the best, by scores that are right up to rounding."""
        # As in local mode, a score that is no number comes first.
        rough, least = np.where(np.isnan(scores), np.inf, scores), self._least
        if len(rough) > self._limit and least == -np.inf:
            least = _less(np.partition(rough, -self._limit)[-self._limit])
        return np.flatnonzero(rough >= least)

    def add(self, places: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        """Add rows with their scores."""
        self._places = np.concatenate([self._places, places])
        self._scores = np.concatenate([self._scores, scores])
        falling = -np.where(np.isnan(self._scores), np.inf, self._scores)
        order = np.lexsort((self._places, falling))[: self._limit]
        self._places, self._scores = self._places[order], self._scores[order]
        if len(order) == self._limit:
            self._least = _less(-falling[order[-1]])

    def found(self, sign: int) -> Iterator[tuple[int, float]]:
        """Places and scores, best first."""
        return zip(self._places.tolist(), (sign * self._scores).tolist(), strict=True)


def _less(score: float) -> float:
    """The least that a score may be in float32 that is no less than this one."""
    return score - _ROUNDING * max(1.0, abs(score))


def _normalised(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows of length 1; zero vectors as they are."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms == 0, 1, norms)


#: Vectors of the open clients, by collection, name and filter.
_VECTORS: WeakKeyDictionary[QdrantClient, dict[Hashable, LocalVectors | None]] = WeakKeyDictionary()
