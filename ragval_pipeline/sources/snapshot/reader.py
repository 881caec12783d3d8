"""Reading a snapshot back: some columns, one part at a time, or the rows of given points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.snapshot.buckets import in_bucket, read_parts
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest, folder_of_parts

if TYPE_CHECKING:
    import pyarrow as pa
    from upath import UPath


def rows_by_id(batches: Iterable[pa.RecordBatch], ids: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """The rows of some points by id; ``batches`` hold ``point_id``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not ids:
        return {}
    wanted = pa.array(list(ids), pa.string())
    found = (batch.filter(pc.is_in(batch.column("point_id"), value_set=wanted)) for batch in batches)
    return {row["point_id"]: row for batch in found for row in batch.to_pylist()}


class Snapshot:
    """The points of one read of a collection. Columns: ``sources.snapshot.schema.COLUMNS`` and ``kind:<field>``."""

    def __init__(self, manifest: SnapshotManifest) -> None:
        self.manifest = manifest

    def folder(self) -> UPath:
        """Where the parts are.

        Raises:
            FileNotFoundError: They are neither in the run's evidence nor where they were staged.
        """
        read = self.manifest
        gone = f"the snapshot of run {read.run_id} is gone from {read.kept_uri}: take a new one"
        return folder_of_parts(read.parts, kept_uri=read.kept_uri, staged_uri=read.staged_uri, gone=gone)

    def batches(self, columns: Sequence[str], *, bucket: int = 0, buckets: int = 1) -> Iterator[pa.RecordBatch]:
        """Record batches with ``columns``, bucket by bucket and there in id order.

        Args:
            columns: Names of columns.
            bucket: The bucket whose points are read.
            buckets: How many buckets it is one of: a power of two, not more than the snapshot has; 1 for all points.
        """
        yield from read_parts(self.folder(), in_bucket(self.manifest.parts, bucket, buckets), list(columns))

    def rows(self, columns: Sequence[str], *, bucket: int = 0, buckets: int = 1) -> Iterator[dict[str, Any]]:
        """One mapping a point with ``columns``; arguments as of ``batches``."""
        for batch in self.batches(columns, bucket=bucket, buckets=buckets):
            yield from batch.to_pylist()
