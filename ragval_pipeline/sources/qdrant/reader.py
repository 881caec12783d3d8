"""The only way to a collection: the few read calls that ragval makes, each retried and explained when it fails.

What lives here: ``CollectionReader``, an allow-list of reads. What does not: what is done with the points.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.qdrant.facts import CollectionFacts, vectors_of
from ragval_pipeline.sources.qdrant.failures import classify, failure_of, is_defect, is_missing_collection
from ragval_pipeline.sources.retry import Attempts, RetryPolicy, call_with_retries
from ragval_pipeline.suite.nearest import did_you_mean

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_log = logging.getLogger(__name__)
T = TypeVar("T")

PAGE_SIZE = 1000


@dataclass(frozen=True)
class Point:
    """One stored point: its id as text, whether that is an integer, its payload, and its vector when asked for."""

    id: str
    payload: dict[str, Any]
    vector: list[float] | None = None


@dataclass(frozen=True)
class Hit:
    """One answer to a query: rank from 1, id as text, the raw score of the collection's distance, payload."""

    rank: int
    id: str
    score: float
    payload: dict[str, Any] = field(default_factory=dict)


class Reader(Protocol):
    """What a validation asks of a collection; a demonstration may stand in for the real one."""

    place: str

    def facts(self) -> CollectionFacts:
        """Facts about the collection."""

    def count(self) -> int:
        """Exact number of points."""

    def pages(self, fields: Sequence[str] | None, *, with_vectors: bool = False) -> Iterator[list[Point]]:
        """Every point, some at a time."""

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The nearest points, best first."""


class CollectionReader:
    """Reads one collection through an open client.

    Args:
        client: Anything with qdrant-client's read calls.
        collection: Collection or alias.
        place: Where it is, for messages.
        vector_name: For named vectors.
        equal: Payload equality that limits everything read.
        policy: When to try again.
    """

    def __init__(
        self,
        client: QdrantClient,
        *,
        collection: str,
        place: str,
        vector_name: str | None = None,
        equal: dict[str, str | int | bool] | None = None,
        policy: RetryPolicy | None = None,
    ) -> None:
        self._client = client
        self._collection = collection
        self._vector_name = vector_name
        self._equal = equal or {}
        self._policy = policy or RetryPolicy()
        self.place = place
        self.attempts = Attempts()

    def facts(self) -> CollectionFacts:
        """Facts about the collection.

        Raises:
            SystemFailure: ``index.collection_missing`` with near names, or ``index.unreachable``.
        """
        info: Any = self._ask(lambda: self._client.get_collection(self._collection))
        aliases = self._aliases()
        params, local = info.config.params, self._is_local()
        return CollectionFacts(
            name=aliases.get(self._collection, self._collection),
            alias=self._collection if self._collection in aliases else None,
            local=local,
            status=str(getattr(info.status, "value", info.status)),
            points_count=self.count(),
            indexed_vectors_count=info.indexed_vectors_count,
            vectors=vectors_of(params.vectors),
            payload_indexes={name: str(entry.data_type.value) for name, entry in (info.payload_schema or {}).items()},
            metadata=getattr(info.config, "metadata", None) or {},
            optimizer=_optimizer(info.optimizer_status),
            deferred_points=getattr(getattr(info, "update_queue", None), "deferred_points", None),
            hnsw=_hnsw(info.config.hnsw_config),
            indexing_threshold=getattr(info.config.optimizer_config, "indexing_threshold", None),
            server_version=None if local else self._server_version(),
        )

    def count(self) -> int:
        """Exact number of points, after the filter."""
        return self._ask(lambda: self._client.count(self._collection, count_filter=self._filter(), exact=True).count)

    def pages(self, fields: Sequence[str] | None, *, with_vectors: bool = False) -> Iterator[list[Point]]:
        """Every point in id order, ``PAGE_SIZE`` at a time.

        Args:
            fields: Payload fields to read, dotted paths allowed; null: the whole payload.
            with_vectors: Also read the vector that searches use.
        """
        offset: Any = None
        wanted: Any = (self._vector_name and [self._vector_name]) or True if with_vectors else False
        while True:
            call = partial(
                self._client.scroll,
                self._collection,
                scroll_filter=self._filter(),
                limit=PAGE_SIZE,
                offset=offset,
                with_payload=True if fields is None else list(fields),
                with_vectors=wanted,
            )
            records, offset = self._ask(call)
            if records:
                yield [
                    Point(str(record.id), record.payload or {}, self._vector_of(record.vector)) for record in records
                ]
            if offset is None:
                return

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The ``limit`` nearest points, in the order in which the server gave them.

        There is no score threshold: hits are judged afterwards, so that a miss keeps its score.
        """
        from qdrant_client import models

        local = self._is_local()  # local mode always searches exactly and warns of the parameter
        response = self._ask(
            lambda: self._client.query_points(
                self._collection,
                query=list(vector),
                using=self._vector_name,
                query_filter=self._filter(),
                search_params=models.SearchParams(exact=True) if exact and not local else None,
                limit=limit,
                with_payload=list(fields),
            )
        )
        return [
            Hit(rank, str(point.id), float(point.score), point.payload or {})
            for rank, point in enumerate(response.points, 1)
        ]

    def _ask(self, call: Callable[[], T]) -> T:
        attempts = Attempts()
        try:
            return call_with_retries(call, policy=self._policy, classify=classify, attempts=attempts)
        except Exception as error:
            if is_defect(error):
                raise
            if is_missing_collection(error):
                raise self._missing() from error
            raise failure_of(error, place=self.place, tries=attempts.tries) from error
        finally:
            self.attempts.tries += attempts.tries
            self.attempts.waited_s += attempts.waited_s

    def _missing(self) -> SystemFailure:
        try:
            names = [entry.name for entry in self._client.get_collections().collections]
        except Exception as error:  # noqa: BLE001  near names are a courtesy; the failure itself is already known
            _log.debug("no collection names: %s", type(error).__name__)
            names = []
        return SystemFailure(
            f"{self.place} has no collection {self._collection}",
            code="index.collection_missing",
            system="Qdrant",
            subject=self._collection,
            remedy=did_you_mean(self._collection, names) or "Run the ingestion first.",
            details={"collections": sorted(names)[:20]},
        )

    def _aliases(self) -> dict[str, str]:
        try:
            aliases: Any = self._ask(self._client.get_aliases)
        except SystemFailure as failure:
            # A key that is limited to one collection may not list aliases; then the name stands for itself.
            if failure.details.get("status") == 403:
                return {}
            raise
        return {entry.alias_name: entry.collection_name for entry in aliases.aliases}

    def _is_local(self) -> bool:
        return "local" in type(getattr(self._client, "_client", None)).__module__

    def _server_version(self) -> str | None:
        info: Any = self._ask(self._client.info)
        return str(info.version)

    def _filter(self) -> Any:
        if not self._equal:
            return None
        from qdrant_client import models

        conditions = [
            models.FieldCondition(key=key, match=models.MatchValue(value=value)) for key, value in self._equal.items()
        ]
        return models.Filter(must=list(conditions))

    def _vector_of(self, vector: Any) -> list[float] | None:
        if isinstance(vector, dict):
            vector = vector.get(self._vector_name or "")
        return list(vector) if isinstance(vector, list) and (not vector or not isinstance(vector[0], list)) else None


def _optimizer(status: Any) -> str:
    value = getattr(status, "value", status)
    return "ok" if value == "ok" else str(getattr(status, "error", value))


def _hnsw(config: Any) -> dict[str, Any]:
    return {name: getattr(config, name, None) for name in ("m", "ef_construct", "full_scan_threshold")}
