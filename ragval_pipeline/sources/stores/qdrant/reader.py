"""The only access to a collection: the few read calls that ragval makes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.index.unreachable import RULE as INDEX_UNREACHABLE
from ragval_pipeline.sources.calls import Attempts
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.stores.qdrant.asking import Asking
from ragval_pipeline.sources.stores.qdrant.description import Description
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, Limits
from ragval_pipeline.sources.stores.qdrant.filtered import MOST_READ, WHOLE, LeftOut, left_out, named_alike
from ragval_pipeline.sources.stores.qdrant.local import LocalPoints
from ragval_pipeline.sources.stores.qdrant.names import (
    canonical_id,
    filter_json,
    filter_key,
    filter_model,
    id_order,
    payload_selector,
)
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
from ragval_pipeline.sources.stores.qdrant.rest import RestPoints
from ragval_pipeline.sources.stores.qdrant.scanning import PARALLEL_FROM, read_all, way_of
from ragval_pipeline.sources.stores.qdrant.searches import Searches
from ragval_pipeline.sources.stores.qdrant.sparse import SparseBatch
from ragval_pipeline.sources.stores.qdrant.vectors import PAGE_SIZE as VECTORS_PER_PAGE
from ragval_pipeline.sources.stores.qdrant.vectors import VectorSource, answers_grpc, point_key, speaks_grpc
from ragval_pipeline.suite.sections import RetrySettings
from ragval_pipeline.text.characters import encodable_payload

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


_log = logging.getLogger(__name__)

#: Points per scroll page; fewer if long texts would exceed the maximum characters per page.
PAGE_SIZE = 1000
CHARACTERS_PER_PAGE = 32_000_000


class CollectionReader:
    """Reads one collection through an open client.

    ``equal`` limits everything read; ``batch`` is the maximum of searches per request.
    """

    def __init__(
        self,
        client: QdrantClient,
        *,
        collection: str,
        place: str,
        vector_name: str | None = None,
        equal: dict[str, str | int | bool] | None = None,
        policy: RetrySettings | None = None,
        concurrency: int = 1,
        batch: int = 1,
    ) -> None:
        self._client = client
        self._collection = collection
        self._vector_name = vector_name
        self._equal = equal or {}
        self._ask = Asking(client, collection=collection, place=place, policy=policy or RetrySettings())
        self._rest = RestPoints.of_client(client, collection)
        self._local = LocalPoints.of_client(client, collection, self._equal, self._ask)
        self._concurrency = concurrency
        # None: a REST client whose server has not been checked for gRPC yet.
        self._grpc: bool | None = None if self._rest is not None else speaks_grpc(client)
        self._description = Description(
            client, collection, vector_name, ask=self._ask, is_local=self._local is not None
        )
        self._limits = Limits(self._ask, self._description.info)
        self._searches = Searches(
            client,
            collection=collection,
            vector_name=vector_name,
            condition=self._filter,
            ask=self._ask,
            limits=self._limits,
            local=self._local,
            vectors=self.vectors,
            passing=self.passing,
            concurrency=concurrency,
            batch=batch,
        )
        self.place = place

    @property
    def attempts(self) -> Attempts:
        """Calls made so far, retries included."""
        return self._ask.attempts

    def facts(self) -> CollectionFacts:
        """Facts about the collection.

        Raises:
            SystemFailure: ``index.collection_missing`` with similar names, or ``index.unreachable``.
        """
        return self._description.facts(self.count)

    def count(self) -> int:
        """Number of points, after the filter: exact, unless strict mode forbids that."""

        def counted(*, exact: bool) -> int:
            return self._client.count(self._collection, count_filter=self._filter(), exact=exact).count

        count = self._limits.exact(partial(counted, exact=True), lambda: self._ask(partial(counted, exact=False)))
        if count < 0:
            raise self._ask.failure(AssertionError(f"{count} points"))
        return count

    def left_out(self, address: str | None, equal: Equal | None = None) -> tuple[LeftOut, ...]:
        """Why points of the collection do not pass a filter, by field, from the first ``MOST_READ`` of them.

        ``address`` is the payload name of a point's page, ``equal`` the filter; None: the suite's. Empty without a
        filter; fields without points if the server refuses to read them.
        """
        equal = self._equal if equal is None else equal
        if not equal:
            return ()
        try:
            outside = [*self._outside(equal, [*equal, *([address] if address else [])], MOST_READ)]
            found = left_out(outside, equal, address)
            return tuple(self._found_elsewhere(entry, equal) for entry in found)
        except SystemFailure as failure:
            _log.debug("what the filter leaves out was not read: %s", failure)
            return tuple(LeftOut(field=field, value=value) for field, value in equal.items())

    def _outside(self, equal: Equal, fields: Sequence[str] | None, most: int) -> Iterator[dict[str, Any]]:
        """Payloads of points that do not pass a filter."""
        from qdrant_client import models

        passing, offset = filter_model(equal, None), None
        while most > 0:
            call = partial(
                self._client.scroll,
                self._collection,
                scroll_filter=models.Filter(must_not=[passing]),
                offset=offset,
                with_payload=payload_selector(fields),
                with_vectors=False,
            )
            limit = min(most, PAGE_SIZE)
            records, offset = self._limits.page(partial(_limited, call), limit)
            yield from (record.payload or {} for record in records)
            most -= limit
            if offset is None:
                return

    def _found_elsewhere(self, entry: LeftOut, equal: Equal) -> LeftOut:
        """The entry with the payload name that its points have instead of the filter's, if it is missing everywhere."""
        from qdrant_client import models

        if entry.other or not entry.lacking:
            return entry
        names = named_alike(entry.field, [*self._outside(equal, None, WHOLE)])
        if not names:
            return entry
        condition = models.FieldCondition(key=filter_key(names[0]), match=models.MatchValue(value=entry.value))
        there = models.Filter(must=[condition])
        passing = self._ask(lambda: self._client.count(self._collection, count_filter=there, exact=True)).count
        return entry.model_copy(update={"elsewhere": names[0], "passing": passing})

    def pages(self, fields: Sequence[str] | None, *, with_vectors: bool = False) -> Iterator[list[Point]]:
        """Every point in id order, at most ``PAGE_SIZE`` at a time.

        Dotted paths are allowed as ``fields``; None: the whole payload.
        """
        for page in self._pages(fields, None, with_vectors=with_vectors):
            yield [point._replace(payload=encodable_payload(point.payload)) for point in page]

    def scan(self, fields: Sequence[str] | None, way: Way, *, points: int) -> Iterator[list[Point]]:
        """Every point in id order, as fast as the connection allows; texts unchanged."""

        def ask_page(offset: Any, part: tuple[int, int] | None) -> tuple[list[Point], Any]:
            return self._page(fields, offset, limit=PAGE_SIZE, part=part)

        def pages(part: tuple[int, int] | None) -> Iterator[list[Point]]:
            return self._pages(fields, part)

        last: str | None = None
        try:
            for page in read_all(ask_page, pages, way, points=points, concurrency=self._concurrency):
                yield page
                last = page[-1].id if page else last
        except SystemFailure as failure:
            if way == "pages" or failure.code != INDEX_UNREACHABLE.code:
                raise
            # The way was chosen here: what fails in it may be read page after page, from where it stopped.
            _log.warning("%s: reading goes on page after page", failure)
            for page in self._pages(fields, None, start=None if last is None else point_key(last)):
                yield page[1:] if page and page[0].id == last else page

    def way(self, facts: CollectionFacts) -> Way:
        """How ``scan`` may read a collection with these facts."""
        version = facts.server_version
        return way_of(points=facts.points_count, local=facts.local, version=version, concurrency=self._concurrency)

    def _pages(
        self,
        fields: Sequence[str] | None,
        part: tuple[int, int] | None,
        *,
        with_vectors: bool = False,
        start: int | str | None = None,
    ) -> Iterator[list[Point]]:
        local = self._local
        ids = [] if local is None else local.ids()
        limit = PAGE_SIZE

        def ask_page(offset: Any) -> tuple[list[Point], Any]:
            if local is None:
                return self._page(fields, offset, limit=limit, part=part, with_vectors=with_vectors)
            end = (offset or 0) + limit
            wanted = self._vectors(wanted=with_vectors)
            records = local.records(ids[offset or 0 : end], payload_selector(fields), wanted)
            return [*map(self._point, records)], end if end < len(ids) else None

        for page in filter(None, self._ask.pages(ask_page, start)):
            yield page
            limit = _limit_after(page)

    def _page(
        self,
        fields: Sequence[str] | None,
        offset: Any,
        *,
        limit: int,
        part: tuple[int, int] | None,
        with_vectors: bool = False,
    ) -> tuple[list[Point], Any]:
        """At most ``limit`` points from an offset, and the next offset."""
        selector = payload_selector(fields)
        if self._rest is not None and not with_vectors:
            rest = self._rest
            body = {
                "filter": filter_json(self._equal, part),
                "offset": offset,
                "with_payload": selector,
                "with_vector": False,
            }
            return self._limits.page(lambda most: rest.scroll({**body, "limit": most}), limit)
        call = partial(
            self._client.scroll,
            self._collection,
            scroll_filter=filter_model(self._equal, part),
            offset=offset,
            with_payload=selector,
            with_vectors=self._vectors(wanted=with_vectors),
        )
        records, offset = self._limits.page(lambda most: call(limit=most), limit)
        return [self._point(record) for record in records], offset

    def _vectors(self, *, wanted: bool) -> bool | list[str]:
        return [self._vector_name] if wanted and self._vector_name else wanted

    def newest(self, field: str) -> str | None:
        """The greatest value of an indexed payload field, as text; None without any."""
        from qdrant_client import models

        order = models.OrderBy(key=filter_key(field), direction=models.Direction.DESC)
        records, _ = self._ask(
            lambda: self._client.scroll(
                self._collection,
                scroll_filter=self._filter(),
                order_by=order,
                limit=1,
                with_payload=payload_selector([field]),
                with_vectors=False,
            )
        )
        present, value = lookup(records[0].payload or {}, field) if records else (False, None)
        return str(value) if present else None

    def vectors(self, ids: Sequence[str] | None = None) -> Iterator[VectorBatch]:
        """The stored vectors that searches use, without payload."""
        source = VectorSource(
            self._client,
            self._collection,
            self._vector_name,
            self._filter(),
            self._ask,
            self._limits,
            grpc=False,
            rest=self._rest,
            # The next response is fetched while one is read; more would hold too many vectors.
            at_once=1 if self._local is not None else min(self._concurrency, 2),
        )
        if self._local is not None and ids is None:
            return source.of([canonical_id(name) for name in self._local.ids()])
        if self._grpc is None:
            self._grpc = self.count() >= PARALLEL_FROM and answers_grpc(source)
        reader = replace(source, grpc=self._grpc)
        if not self._grpc or self._rest is None:
            return reader.all() if ids is None else reader.of(ids)
        return self._over_rest_if_needed(reader, source, ids)

    def _over_rest_if_needed(
        self, over_grpc: VectorSource, over_rest: VectorSource, ids: Sequence[str] | None
    ) -> Iterator[VectorBatch]:
        """Vectors over gRPC, which was chosen here; if it fails, the rest over REST."""
        last: str | None = None
        done = 0
        try:
            for batch in over_grpc.all() if ids is None else over_grpc.of(ids):
                yield batch
                names = (*batch.ids, *batch.missing, *batch.other)
                last, done = max(names, key=id_order, default=last), done + VECTORS_PER_PAGE
        except SystemFailure as failure:
            if failure.code != INDEX_UNREACHABLE.code:
                raise
            _log.warning("%s: vectors are read over REST", failure)
            self._grpc = False
            if ids is not None:
                yield from over_rest.of(ids[done:])
                return
            for batch in over_rest.all(None if last is None else point_key(last)):
                yield batch.without(last)

    @property
    def vector_way(self) -> str:
        """How all vectors are read: ``grpc``, ``rest`` or ``local``."""
        if self._local is not None:
            return "local"
        return "grpc" if self._grpc else "rest"

    def sparse(self, name: str) -> Iterator[SparseBatch]:
        """The sparse vectors with a name, without payload, ``VECTORS_PER_PAGE`` points at a time."""
        local = self._local
        ids = [] if local is None else local.ids()

        def ask_page(offset: Any) -> tuple[list[Any], Any]:
            if local is not None:
                end = (offset or 0) + VECTORS_PER_PAGE
                records = local.records(ids[offset or 0 : end], payload=False, vectors=[name])
                return records, end if end < len(ids) else None
            call = partial(
                self._client.scroll,
                self._collection,
                scroll_filter=self._filter(),
                offset=offset,
                with_payload=False,
                with_vectors=[name],
            )
            records, following = self._limits.page(partial(_limited, call), VECTORS_PER_PAGE)
            return records, following

        for page in filter(None, self._ask.pages(ask_page)):
            yield SparseBatch.of(((canonical_id(record.id), record.vector) for record in page), name)

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The ``limit`` nearest points, in the server's order.

        Without a score threshold: hits are judged afterwards, so that a miss keeps its score.
        """
        return next(self.search_all([Search(vector, limit)], fields=fields, exact=exact)).hits

    def search_all(
        self,
        searches: Iterable[Search],
        *,
        fields: Sequence[str],
        exact: bool,
        quantization: Quantization | None = None,
    ) -> Iterator[Found]:
        """The results of many searches, in order: ``batch`` searches per call, ``concurrency`` calls in parallel.

        ``quantization``: how quantized vectors are used; None: as the collection does by default.

        Raises:
            SystemFailure: Qdrant fails; of several failures the first search's.
        """
        return self._searches.near_vectors(searches, fields=fields, exact=exact, quantization=quantization)

    def search_words(self, searches: Iterable[WordSearch | TextSearch], *, fields: Sequence[str]) -> Iterator[Found]:
        """The results of searches by sparse vectors, fused with those by dense ones if given, or by text indexes.

        Raises:
            SystemFailure: Qdrant fails; of several failures the first search's.
        """
        return self._searches.by_words(searches, fields=fields)

    def passing(self, equal: Equal) -> frozenset[str]:
        """Ids of the points with these payload values, beside those of the suite's filter."""

        def ask_page(offset: Any) -> tuple[list[Any], Any]:
            call = partial(
                self._client.scroll,
                self._collection,
                scroll_filter=self._filter(equal),
                offset=offset,
                with_payload=False,
                with_vectors=False,
            )
            records, following = self._limits.page(partial(_limited, call), PAGE_SIZE)
            return records, following

        pages = self._ask.pages(ask_page)
        return frozenset(canonical_id(record.id) for page in pages for record in page)

    def _filter(self, equal: Equal | None = None) -> Any:
        """The suite's filter, with further values."""
        return filter_model({**self._equal, **(equal or {})}, None)

    def _point(self, record: Any) -> Point:
        return Point(canonical_id(record.id), record.payload or {}, self._vector_of(record.vector))

    def _vector_of(self, vector: Any) -> list[float] | None:
        if isinstance(vector, dict):
            vector = vector.get(self._vector_name or "")
        return list(vector) if isinstance(vector, list) and (not vector or not isinstance(vector[0], list)) else None


def _limited(call: Callable[..., Any], limit: int) -> Any:
    return call(limit=limit)


def _limit_after(page: Sequence[Point]) -> int:
    """Points to request next, so that a page of texts like these stays within ``CHARACTERS_PER_PAGE``."""
    some = page[:: 1 + len(page) // 30]
    characters = sum(len(value) for point in some for value in point.payload.values() if isinstance(value, str))
    return max(1, min(PAGE_SIZE, CHARACTERS_PER_PAGE * len(some) // max(characters, 1)))
