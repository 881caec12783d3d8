"""Reading a file of points through the interface of a collection; searches compare all vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import Any, Literal

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
            VectorFacts(name=name, size=points.vectors(name)[1].shape[1], distance=points.distance(name))
            for name in points.names
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
        passing = frozenset(self._passing(equal))
        outside = (number for number in range(len(self._points.ids)) if number not in passing)
        payloads = [self._points.payload(number) for number in islice(outside, MOST_READ)]
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
        numbers = self._numbers if ids is None else [self._number[name] for name in ids if name in self._number]
        held, matrix = self._points.vectors(self._vector_name)
        names = self._points.ids
        for start in range(0, len(numbers), PAGE_SIZE):
            page = np.asarray(numbers[start : start + PAGE_SIZE], dtype=np.int64)
            place = np.searchsorted(held, page)
            there = np.isin(page, held)
            found = matrix[place[there]] if there.any() else np.empty((0, 0), np.float32)
            yield VectorBatch(
                tuple(names[number] for number in page[there]),
                found,
                missing=tuple(names[number] for number in page[~there]),
            )

    def sparse(self, name: str) -> Iterator[SparseBatch]:
        """Nothing: a file of points has no sparse vectors."""
        yield from ()

    def search_words(self, searches: Iterable[WordSearch | TextSearch], *, fields: Sequence[str]) -> Iterator[Found]:
        """Nothing: a file of points has neither sparse vectors nor text indexes."""
        yield from ()

    def passing(self, equal: Equal) -> frozenset[str]:
        """Ids of the points with these payload values, beside those of the suite's filter."""
        return frozenset(self._points.ids[number] for number in self._passing({**self._equal, **equal}))

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
            return {name: encodable_payload(_only(self._points.payload(self._number[name]), kept)) for name in names}

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
        distance = self._points.distance(self._vector_name)
        batches = list(map(_comparable, self.vectors()))
        if distance not in _METRICS:
            return LocalVectors.of(batches, distance)
        ids = tuple(name for batch in batches for name in batch.ids)
        matrix = (
            np.concatenate([batch.matrix for batch in batches if batch.ids]) if ids else np.empty((0, 0), np.float32)
        )
        return _Distant(ids, matrix, cosine=False, metric=_METRICS[distance]) if ids else None

    def _vectors_of(self, ids: Sequence[str]) -> dict[str, list[float]]:
        return {
            name: row for batch in self.vectors(ids) for name, row in zip(batch.ids, batch.matrix.tolist(), strict=True)
        }

    def _pages(self, fields: Sequence[str] | None) -> Iterator[list[Point]]:
        kept, numbers = _top_level(fields), iter(self._numbers)
        ids, payload = self._points.ids, self._points.payload
        while page := list(islice(numbers, PAGE_SIZE)):
            yield [Point(ids[number], _only(payload(number), kept)) for number in page]

    @cached_property
    def _numbers(self) -> Sequence[int]:
        """Numbers of the points that pass the filter."""
        return self._passing(self._equal) if self._equal else range(len(self._points.ids))

    def _passing(self, equal: Mapping[str, str | int | bool]) -> list[int]:
        """Numbers of the points that have these values."""
        from qdrant_client.local.payload_filters import check_filter

        wanted, points = filter_model(equal, None), self._points
        return [
            number for number, name in enumerate(points.ids) if check_filter(wanted, points.payload(number), name, {})
        ]

    @cached_property
    def _number(self) -> dict[str, int]:
        return {self._points.ids[number]: number for number in self._numbers}


#: scipy's names of the distances of which the smallest is the nearest.
_METRICS: Mapping[str, Literal["euclidean", "cityblock"]] = {"Euclid": "euclidean", "Manhattan": "cityblock"}


@dataclass(frozen=True, eq=False)
class _Distant(LocalVectors):
    """Vectors that are compared by their distance."""

    metric: Literal["euclidean", "cityblock"] = "euclidean"

    def nearest(self, searches: Sequence[Search]) -> Iterator[list[tuple[str, float]]]:
        """Ids and distances of the points nearest to each query, nearest first; of equal ones in id order."""
        from scipy.spatial.distance import cdist

        for search in searches:
            scores = cdist(np.array([search.vector]), self.matrix, self.metric)[0].astype(np.float32)
            order = np.argsort(scores, kind="stable")[: search.limit]
            yield [(self.ids[row], score) for row, score in zip(order.tolist(), scores[order].tolist(), strict=True)]


def _comparable(batch: VectorBatch) -> VectorBatch:
    """The vectors that can be searched: Qdrant stores none with NaN or infinite numbers, and no query is near one."""
    rows = np.flatnonzero(np.isfinite(batch.matrix).all(axis=1))
    if len(rows) == len(batch.ids):
        return batch
    return replace(batch, ids=tuple(batch.ids[row] for row in rows), matrix=batch.matrix[rows])


def _top_level(fields: Sequence[str] | None) -> frozenset[str] | None:
    """The keys of a payload that hold some fields; None: all."""
    selected = payload_selector(fields)
    if isinstance(selected, bool):
        return None
    whole = {name.removeprefix('"').removesuffix('"') for name in selected}
    return frozenset(whole | {name.partition(".")[0].strip('"') for name in selected})


def _only(payload: dict[str, Any], kept: frozenset[str] | None) -> dict[str, Any]:
    return payload if kept is None else {name: value for name, value in payload.items() if name in kept}
