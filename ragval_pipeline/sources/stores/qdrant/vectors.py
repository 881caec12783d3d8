"""Stored vectors as numpy batches, over the cheapest available protocol."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import NotMeasurableError
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.vector.dimension import RULE as VECTOR_DIMENSION
from ragval_pipeline.sources.calls import in_order
from ragval_pipeline.sources.stores.qdrant.asking import TooMuchAtOnceError
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.sources.stores.qdrant.protocol import VectorBatch

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

    from ragval_pipeline.sources.stores.qdrant.asking import Asking
    from ragval_pipeline.sources.stores.qdrant.facts import Limits
    from ragval_pipeline.sources.stores.qdrant.rest import RestPoints

_log = logging.getLogger(__name__)
PAGE_SIZE = 1000
#: Timeout in seconds for detecting gRPC.
PROBE_S = 3.0


@dataclass(frozen=True)
class VectorSource:
    """Where vectors are read from.

    Without ``rest`` points are read by the client's own calls; ``at_once`` is the number of parallel requests for
    points by id.
    """

    client: QdrantClient
    collection: str
    vector_name: str | None
    points_filter: Any
    ask: Asking
    limits: Limits
    grpc: bool
    rest: RestPoints | None = None
    at_once: int = 1

    def all(self, start: int | str | None = None) -> Iterator[VectorBatch]:
        """Every point's vector in id order, ``PAGE_SIZE`` points at a time, from a point on."""
        remote: Any = self.client._client
        page = partial(self.grpc_page, timeout=remote._timeout) if self.grpc else self.page
        yield from self.ask.pages(lambda offset: self.limits.page(partial(page, offset), PAGE_SIZE), start)

    def of(self, ids: Sequence[str]) -> Iterator[VectorBatch]:
        """The vectors of ``ids``, in order; missing ids are left out."""
        pages = ([point_key(name) for name in ids[at : at + PAGE_SIZE]] for at in range(0, len(ids), PAGE_SIZE))
        for found in in_order(self._get, pages, workers=self.at_once, ahead=self.at_once):
            yield from found

    def _get(self, wanted: Sequence[int | str]) -> list[VectorBatch]:
        """One call, split in halves if the server refuses the size or takes too long."""
        most = self.limits.ids or len(wanted)
        if len(wanted) > most:
            return [batch for at in range(0, len(wanted), most) for batch in self._get(wanted[at : at + most])]
        try:
            return [self._get_once(wanted)]
        except TooMuchAtOnceError:
            if len(wanted) <= 1:
                raise
            # Threads may overwrite each other's values, all of which are valid.
            self.limits.ids = len(wanted) // 2
            return self._get(wanted)

    def _get_once(self, wanted: Sequence[int | str]) -> VectorBatch:
        if self.grpc:
            return self._get_grpc(wanted)
        divisible = len(wanted) > 1
        if self.rest is not None:
            return self.ask(partial(self._get_rest, self.rest, wanted), divisible=divisible)
        call = partial(self.client.retrieve, self.collection, wanted, with_payload=False, with_vectors=self._selector())
        place = {canonical_id(key): number for number, key in enumerate(wanted)}
        records = self.ask(call, divisible=divisible)
        return self._of_records(sorted(records, key=lambda record: place[canonical_id(record.id)]))

    def _get_rest(self, rest: RestPoints, wanted: Sequence[int | str]) -> VectorBatch:
        """Some points over REST, in one call without retries."""
        records = rest.retrieve(wanted, self._selector())
        found = {name: _rest_vector(record.get("vector"), self.vector_name) for name, record in records.items()}
        names = [name for name in map(canonical_id, wanted) if name in found]
        try:
            return _batch((name, found[name]) for name in names)
        except (TypeError, ValueError):
            raise AssertionError("vectors that are not lists of numbers of equal length") from None

    def page(self, offset: Any, limit: int) -> tuple[VectorBatch, Any]:
        """Some points and the next offset over REST, in one call without retries."""
        records, offset = self.client.scroll(
            self.collection,
            scroll_filter=self.points_filter,
            offset=offset,
            limit=limit,
            with_payload=False,
            with_vectors=self._selector(),
        )
        return self._of_records(records), offset

    def grpc_page(self, offset: Any, limit: int, *, timeout: float | None) -> tuple[VectorBatch, Any]:
        """``page`` over gRPC."""
        from qdrant_client import grpc
        from qdrant_client.conversions.conversion import RestToGrpc

        request = grpc.ScrollPoints(
            collection_name=self.collection,
            filter=RestToGrpc.convert_filter(self.points_filter) if self.points_filter is not None else None,
            offset=RestToGrpc.convert_extended_point_id(offset) if isinstance(offset, int | str) else offset,
            limit=limit,
            with_payload=grpc.WithPayloadSelector(enable=False),
            with_vectors=RestToGrpc.convert_with_vectors(self._selector()),
        )
        answer = self.client.grpc_points.Scroll(request, timeout=timeout)
        following = answer.next_page_offset if answer.HasField("next_page_offset") else None
        return self._of_points(answer.result), following

    def _get_grpc(self, wanted: Sequence[int | str]) -> VectorBatch:
        from qdrant_client import grpc
        from qdrant_client.conversions.conversion import RestToGrpc

        remote: Any = self.client._client
        request = grpc.GetPoints(
            collection_name=self.collection,
            ids=[RestToGrpc.convert_extended_point_id(key) for key in wanted],
            with_payload=grpc.WithPayloadSelector(enable=False),
            with_vectors=RestToGrpc.convert_with_vectors(self._selector()),
        )
        call = partial(self.client.grpc_points.Get, request, timeout=remote._timeout)
        answer = self.ask(call, divisible=len(wanted) > 1)
        place = {canonical_id(key): number for number, key in enumerate(wanted)}
        points = sorted(answer.result, key=lambda point: place[_grpc_id(point.id)])
        return self._of_points(points)

    def _selector(self) -> Any:
        return [self.vector_name] if self.vector_name else True

    def _of_points(self, points: Iterable[Any]) -> VectorBatch:
        """The vectors of a gRPC response."""
        return _batch((_grpc_id(point.id), _grpc_vector(point, self.vector_name)) for point in points)

    def _of_records(self, records: Iterable[Any]) -> VectorBatch:
        """The vectors of qdrant-client's records."""
        return _batch((canonical_id(record.id), _rest_vector(record.vector, self.vector_name)) for record in records)


def of_size(batches: Iterable[VectorBatch], size: int, collection: str) -> Iterator[VectorBatch]:
    """The batches of a collection whose vectors had ``size`` numbers when it was read.

    Raises:
        NotMeasurableError: ``vector.dimension``: they have another number now.
    """
    for batch in batches:
        if batch.ids and batch.matrix.shape[1] != size:
            raise NotMeasurableError(
                f"the vectors of {collection} had {size} numbers when the run began, and now have "
                f"{batch.matrix.shape[1]}: it was created again meanwhile",
                code=VECTOR_DIMENSION.code,
                subject=collection,
                remedy="Validate again when the ingestion has finished.",
                details={"expected": size, "found": int(batch.matrix.shape[1])},
            )
        yield batch


def point_key(name: str) -> int | str:
    """A point id in Qdrant's type: integers have at most 20 digits, everything else is a UUID."""
    return int(name) if name.isascii() and name.isdigit() and len(name) <= 20 else name


def _batch(rows: Iterator[tuple[str, Any]]) -> VectorBatch:
    ids: list[str] = []
    missing: list[str] = []
    other: list[str] = []
    vectors = []
    for name, vector in rows:
        if vector is None or len(vector) == 0:
            missing.append(name)
        elif vector is _OTHER:
            other.append(name)
        else:
            ids.append(name)
            vectors.append(np.asarray(vector, dtype=np.float32))
    matrix = np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)
    return VectorBatch(tuple(ids), matrix, tuple(missing), tuple(other))


#: Marks a vector that is not a single list of numbers.
_OTHER = ("other",)


def _rest_vector(vector: Any, name: str | None) -> Any:
    if isinstance(vector, dict):
        vector = vector.get(name or "")
    if vector is None or (isinstance(vector, list) and not vector):
        return None
    return vector if isinstance(vector, list) and not isinstance(vector[0], list) else _OTHER


def _grpc_vector(point: Any, name: str | None) -> Any:
    option = point.vectors.WhichOneof("vectors_options")
    if option is None:
        return None
    if option == "vectors":
        named = point.vectors.vectors.vectors
        if (name or "") not in named:
            return None
        vector = named[name or ""]
    else:
        vector = point.vectors.vector
    kind = vector.WhichOneof("vector") if hasattr(vector, "dense") else None
    if kind == "dense":
        return vector.dense.data
    if kind is not None:
        return _OTHER
    # Servers before 1.16 put the numbers here, next to the fields that identify multivectors and sparse ones.
    return _OTHER if vector.vectors_count > 1 or vector.HasField("indices") else vector.data


def _grpc_id(point_id: Any) -> str:
    is_number = point_id.WhichOneof("point_id_options") == "num"
    return canonical_id(point_id.num if is_number else point_id.uuid)


def speaks_grpc(client: Any) -> bool:
    """Whether a client is configured for gRPC."""
    return getattr(getattr(client, "_client", None), "_prefer_grpc", False) is True


def answers_grpc(source: VectorSource) -> bool:
    """Whether the server of a REST client also answers on its gRPC port, with the same collection.

    Another server may listen on that port: the first point and its vector must be the same over both.
    """
    ours, _ = source.ask(partial(source.page, None, 1))
    try:
        theirs, _ = source.grpc_page(None, 1, timeout=PROBE_S)
    except Exception as error:  # noqa: BLE001  whatever it is, REST goes on serving
        _log.debug("no gRPC: %s", type(error).__name__)
        return False
    if not ours.ids or ours.ids != theirs.ids or ours.matrix.shape != theirs.matrix.shape:
        return False
    return bool(np.allclose(ours.matrix, theirs.matrix, equal_nan=True))
