"""Reading a snapshot, part by part or by point ids, and detecting changes since it was taken."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.arrow import one_of
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.snapshot.buckets import in_bucket, read_parts
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.records import typed_value
from ragval_pipeline.sources.stores.qdrant.change import fingerprint_of
from ragval_pipeline.sources.stores.qdrant.protocol import Reader

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def rows_by_id(batches: Iterable[pa.RecordBatch], ids: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """The rows of some points by id; ``batches`` must have ``point_id``."""
    if not ids:
        return {}
    wanted = one_of("point_id", ids)
    found = (batch.filter(wanted(batch)) for batch in batches)
    return {row["point_id"]: row for batch in found for row in batch.to_pylist()}


class Snapshot:
    """The points of one read of a collection. Columns: ``sources.snapshot.manifest.COLUMNS`` and ``kind:<field>``."""

    def __init__(self, manifest: SnapshotManifest) -> None:
        self.manifest = manifest

    def batches(self, columns: Sequence[str], *, bucket: int = 0, buckets: int = 1) -> Iterator[pa.RecordBatch]:
        """Record batches with ``columns``, bucket by bucket and there in id order.

        ``buckets`` is a power of two, at most that of the snapshot; 1 for all points.
        """
        yield from read_parts(self.manifest.folder(), in_bucket(self.manifest.parts, bucket, buckets), list(columns))

    def rows(self, columns: Sequence[str], *, bucket: int = 0, buckets: int = 1) -> Iterator[dict[str, Any]]:
        """One mapping per point with ``columns``; arguments as for ``batches``."""
        for batch in self.batches(columns, bucket=bucket, buckets=buckets):
            yield from batch.to_pylist()


MOMENT = "embedded_at"


class Since(BaseModel):
    """The result of reading the points a second time.

    Attributes:
        count: Exact number of points now.
        gone: Points of the snapshot that were deleted.
        come: New points.
        rewritten: Points with another embedding time; 0 if they have none.
        altered: Whether payloads, vectors or settings differ according to ``fingerprint_of``: all points of a
            collection of up to one page, the first page of a larger one.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    count: int
    gone: int
    come: int
    rewritten: int
    altered: bool = False

    @property
    def moved(self) -> int:
        """Points known to have changed."""
        return self.gone + self.come + self.rewritten

    @property
    def has_changed(self) -> bool:
        """Whether anything has changed."""
        return self.moved > 0 or self.altered


def changes_since(reader: Reader, snapshot: Snapshot, *, state: str | None = None) -> Since:
    """Compare ids and embedding times of all points with those of a snapshot, at 16 bytes per point.

    ``state`` is ``fingerprint_of`` the collection before the read; None: payloads and vectors are not compared.

    Raises:
        SystemFailure: ``index.collection_missing`` or ``index.unreachable``.
    """
    read, path = snapshot.manifest, snapshot.manifest.fields.get(MOMENT)
    now = _prints(
        (point.id, None if path is None else typed_value(MOMENT, lookup(point.payload, path)[1]))
        for page in reader.scan([] if path is None else [path], read.way, points=read.points)
        for point in page
    )
    then = _prints(
        pair
        for batch in snapshot.batches(("point_id", MOMENT))
        for pair in zip(*(batch.column(name).to_pylist() for name in ("point_id", MOMENT)), strict=True)
    )
    gone, come = (len(np.setdiff1d(one[:, 0], other[:, 0])) for one, other in ((then, now), (now, then)))
    stayed = np.isin(now[:, 0], then[:, 0])
    rewritten = int(np.isin(now[stayed, 1], then[:, 1], invert=True).sum())
    altered = state is not None and fingerprint_of(reader, path) != state
    return Since(count=reader.count(), gone=gone, come=come, rewritten=rewritten, altered=altered)


def _prints(points: Iterable[tuple[str, str | None]]) -> NDArray[np.int64]:
    """Hashes of each point's id, and of its id and time; shape (points, 2). Only valid in this process."""
    told = array("q")
    for point in points:
        told.append(hash(point[0]))
        told.append(hash(point))
    return np.frombuffer(told, dtype=np.int64).reshape(-1, 2)
