"""Reading a file of points through the interface of a collection; searches compare all vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.lazy import np
from ragval_pipeline.sources.calls import Attempts
from ragval_pipeline.sources.stores.points_file import StoredPoints
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts
from ragval_pipeline.sources.stores.qdrant.filtered import MOST_READ, WHOLE, LeftOut, left_out, named_alike
from ragval_pipeline.sources.stores.qdrant.local import LocalVectors
from ragval_pipeline.sources.stores.qdrant.names import filter_model, payload_selector
from ragval_pipeline.sources.stores.qdrant.protocol import (
    Equal,
    Found,
    Hit,
    Point,
    Quantization,
    Search,
    TextSearch,
    VectorBatch,
    Way,
    WordSearch,
)
from ragval_pipeline.sources.stores.qdrant.sparse import SparseBatch
from ragval_pipeline.text.characters import encodable_payload

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Points per page.
PAGE_SIZE = 1000


class PointsReader:
    """Reads a file of points as a collection is read.

    ``name`` stands for the collection where the file names none; ``equal`` limits everything read.
    """

    def __init__(
        self,
        points: StoredPoints,
        *,
        name: str,
        vector_name: str | None = None,
        equal: Mapping[str, str | int | bool] | None = None,
    ) -> None:
        self._points, self._name, self._vector_name, self._equal = points, name, vector_name, dict(equal or {})
        self.place = points.place
        self.attempts = Attempts()

    def facts(self) -> CollectionFacts:
        """Facts about the points, as of an embedded collection: no HNSW, no payload indexes."""
        points = self._points
        vectors = [
            VectorFacts(name=name, size=points.size(name), distance=points.distance(name)) for name in points.names
        ]
        return CollectionFacts(
            name=str(points.about.get("name") or self._name),
            local=True,
            points_count=self.count(),
            stored_points=len(points.ids),
            vectors=tuple(vector for vector in vectors if vector.size),
            metadata=points.about.get("metadata") or {},
            redacted=points.about.get("redacted") is True,
        )

    def count(self) -> int:
        """Number of points."""
        return len(self._numbers)

    def left_out(self, address: str | None, equal: Equal | None = None) -> tuple[LeftOut, ...]:
        """Why points do not pass a filter, by field, from the first ``MOST_READ`` of them; empty without a filter."""
        equal = self._equal if equal is None else equal
        if not equal:
            return ()
        outside = np.setdiff1d(np.arange(len(self._points.ids)), self._passing(equal), assume_unique=True)
        payloads = list(self._points.payloads_of(outside[:MOST_READ]))
        found = left_out(payloads, equal, address)
        return tuple(self._found_elsewhere(entry, payloads[:WHOLE]) for entry in found)

    def _found_elsewhere(self, entry: LeftOut, payloads: Sequence[Mapping[str, Any]]) -> LeftOut:
        """The entry with the payload name that its points have instead of the filter's, if it is missing everywhere."""
        names = named_alike(entry.field, payloads) if entry.lacking and not entry.other else []
        if not names:
            return entry
        return entry.model_copy(update={"elsewhere": names[0], "passing": len(self._passing({names[0]: entry.value}))})

    def newest(self, field: str) -> str | None:
        """None: a file has no index."""
        return None

    def pages(self, fields: Sequence[str] | None, *, with_vectors: bool = False) -> Iterator[list[Point]]:
        """Every point in id order, ``PAGE_SIZE`` at a time."""
        for page in self._pages(fields):
            vectors = self._vectors_of([point.id for point in page]) if with_vectors else {}
            yield [Point(name, encodable_payload(payload), vectors.get(name)) for name, payload, _ in page]

    def scan(self, fields: Sequence[str] | None, way: Way, *, points: int) -> Iterator[list[Point]]:
        """Every point in id order; texts unchanged."""
        return self._pages(fields)

    def way(self, facts: CollectionFacts) -> Way:
        """Page by page."""
        return "pages"

    def vectors(self, ids: Sequence[str] | None = None) -> Iterator[VectorBatch]:
        """The vectors of all or some points, ``PAGE_SIZE`` points at a time."""
        numbers = self._numbers if ids is None else self._numbers_of(ids)
        points, name = self._points, self._vector_name
        for start in range(0, len(numbers), PAGE_SIZE):
            page = numbers[start : start + PAGE_SIZE]
            there = points.having(name, page)
            yield VectorBatch(
                tuple(points.ids.some(page[there])),
                points.vectors(name, page[there]),
                missing=tuple(points.ids.some(page[~there])),
            )

    def _numbers_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Numbers of some points, without those that do not pass the filter."""
        numbers = self._points.ids.numbers(ids)
        is_known = numbers >= 0
        return numbers[is_known & np.isin(numbers, self._numbers) if self._equal else is_known]

    def sparse(self, name: str) -> Iterator[SparseBatch]:
        """Nothing: a file of points has no sparse vectors."""
        yield from ()

    def search_words(self, searches: Iterable[WordSearch | TextSearch], *, fields: Sequence[str]) -> Iterator[Found]:
        """Nothing: a file of points has neither sparse vectors nor text indexes."""
        yield from ()

    def passing(self, equal: Equal) -> frozenset[str]:
        """Ids of the points with these payload values, beside those of the suite's filter."""
        return frozenset(self._points.ids.some(self._passing({**self._equal, **equal})))

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The nearest points, best first."""
        return next(self.search_all([Search(vector, limit)], fields=fields, exact=exact)).hits

    def search_all(
        self,
        searches: Iterable[Search],
        *,
        fields: Sequence[str],
        exact: bool,
        quantization: Quantization | None = None,
    ) -> Iterator[Found]:
        """The results of many searches, in order; always exact, by the vectors as they are in the file.

        Raises:
            SuiteError: The vectors are of another size.
        """

        def payloads(names: Sequence[str]) -> dict[str, dict[str, Any]]:
            if not fields:
                return {}
            kept = _top_level(fields)
            found = self._points.payloads_of(self._points.ids.numbers(names))
            return {name: encodable_payload(_only(each, kept)) for name, each in zip(names, found, strict=True)}

        searched = self._searched
        if searched is None:  # no point has a vector
            return (Found([], 0.0, datetime.now(UTC)) for _ in searches)
        return searched.search_all(searches, payloads=payloads, otherwise=self._refuse, passing=self.passing)

    def _refuse(self, searches: Sequence[Search]) -> Iterator[Found]:
        size = len(searches[0].vector)
        raise SuiteError(
            f"a query of {size:,} dimensions, or with a number that is not finite, cannot be compared with its vectors",
            file=self.place,
            remedy="Embed queries with the model that the vectors are from.",
        )

    @cached_property
    def _searched(self) -> LocalVectors | None:
        points, name = self._points, self._vector_name
        # Qdrant stores no vectors with NaN or infinite numbers, and no query is near one.
        numbers = self._numbers[points.having(name, self._numbers, finite=True)]
        distance = points.distance(name)
        if not len(numbers):
            return None
        rows = _RowsOfFile(points, name, numbers)
        return LocalVectors(rows, rows, cosine=distance == "Cosine", metric=_METRICS.get(distance))

    def _vectors_of(self, ids: Sequence[str]) -> dict[str, list[float]]:
        return {
            name: row for batch in self.vectors(ids) for name, row in zip(batch.ids, batch.matrix.tolist(), strict=True)
        }

    def _pages(self, fields: Sequence[str] | None) -> Iterator[list[Point]]:
        kept, points = _top_level(fields), self._points
        for start in range(0, len(self._numbers), PAGE_SIZE):
            page = self._numbers[start : start + PAGE_SIZE]
            pairs = zip(points.ids.some(page), points.payloads_of(page), strict=True)
            yield [Point(name, _only(payload, kept)) for name, payload in pairs]

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """Numbers of the points that pass the filter."""
        return self._passing(self._equal) if self._equal else np.arange(len(self._points.ids))

    def _passing(self, equal: Mapping[str, str | int | bool]) -> NDArray[np.int64]:
        """Numbers of the points that have these values."""
        from qdrant_client.local.payload_filters import check_filter

        wanted, points, found = filter_model(equal, None), self._points, []
        for start in range(0, len(points.ids), PAGE_SIZE):
            page = np.arange(start, min(start + PAGE_SIZE, len(points.ids)))
            rows = zip(page.tolist(), points.payloads_of(page), points.ids.some(page), strict=True)
            found += [number for number, payload, name in rows if check_filter(wanted, payload, name, {})]
        return np.array(found, dtype=np.int64)


#: scipy's names of the distances of which the smallest is the nearest.
_METRICS: Mapping[str, Literal["euclidean", "cityblock"]] = {"Euclid": "euclidean", "Manhattan": "cityblock"}


@dataclass(frozen=True, eq=False)
class _RowsOfFile(Sequence[str]):
    """The vectors of some points of a file, and as a sequence their ids.

    Attributes:
        points: The file.
        name: Name of the vectors.
        numbers: The points, in id order.
    """

    points: StoredPoints
    name: str | None
    numbers: NDArray[np.int64]

    @property
    def width(self) -> int:
        """Numbers in each vector."""
        return self.points.size(self.name)

    def blocks(self, size: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """All vectors, some at a time, in the order of the file."""
        for start in range(0, len(self._order), size):
            places = self._order[start : start + size]
            yield places, self.points.vectors(self.name, self.numbers[places])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Places in the order of the file: each search reads all of them."""
        return np.argsort(self.points.ids.rows[self.numbers], kind="stable")

    def of(self, places: NDArray[np.int64]) -> _RowsOfFile:
        """Those at some places."""
        return replace(self, numbers=self.numbers[places])

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: Any) -> Any:
        found = self.numbers[place]
        return self.points.ids.some(found) if isinstance(place, slice) else self.points.ids[found]

    def __iter__(self) -> Iterator[str]:
        return (name for start in range(0, len(self), PAGE_SIZE) for name in self[start : start + PAGE_SIZE])


def _top_level(fields: Sequence[str] | None) -> frozenset[str] | None:
    """The keys of a payload that hold some fields; None: all."""
    selected = payload_selector(fields)
    if isinstance(selected, bool):
        return None
    whole = {name.removeprefix('"').removesuffix('"') for name in selected}
    return frozenset(whole | {name.partition(".")[0].strip('"') for name in selected})


def _only(payload: dict[str, Any], kept: frozenset[str] | None) -> dict[str, Any]:
    return payload if kept is None else {name: value for name, value in payload.items() if name in kept}
