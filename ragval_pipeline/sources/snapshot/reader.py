"""Reading a snapshot, part by part or by point ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.arrow import none_of, one_of
from ragval_pipeline.sources.datasets import Files
from ragval_pipeline.sources.snapshot.buckets import in_bucket, read_parts
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest

if TYPE_CHECKING:
    import pyarrow as pa


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
        manifest, wanted = self.manifest, list(columns)
        parts = in_bucket(manifest.parts, bucket, buckets)
        if not manifest.set_aside:
            yield from read_parts(manifest.folder(), parts, wanted)
            return
        judged = none_of("point_id", manifest.set_aside)
        for batch in read_parts(manifest.folder(), parts, list(dict.fromkeys([*wanted, "point_id"]))):
            yield batch.filter(judged(batch)).select(wanted)

    def source(self) -> Files:
        """The files with all rows."""
        folder = self.manifest.folder()
        return Files([folder / part.name for part in self.manifest.parts], self.manifest.set_aside)

    def rows(self, columns: Sequence[str], *, bucket: int = 0, buckets: int = 1) -> Iterator[dict[str, Any]]:
        """One mapping per point with ``columns``; arguments as for ``batches``."""
        for batch in self.batches(columns, bucket=bucket, buckets=buckets):
            yield from batch.to_pylist()
