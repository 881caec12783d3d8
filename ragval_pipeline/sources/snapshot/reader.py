"""Reading a snapshot back: some columns, one part at a time, or the rows of given points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.snapshot.buckets import UNIQUE, in_bucket, read_parts
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

    def table(self, columns: Sequence[str]) -> pa.Table:
        """One table with ``columns``, a row a point. For narrow columns only.

        Texts that repeat, as those of a page do, are held once each: as dictionaries.
        """
        import pyarrow as pa

        batches = [_with_dictionaries(batch) for batch in self.batches(columns)]
        if batches:
            return pa.Table.from_batches(batches).unify_dictionaries()
        from ragval_pipeline.sources.snapshot.manifest import arrow_schema
        from ragval_pipeline.sources.snapshot.records import tracked_fields

        schema = arrow_schema(tracked_fields(self.manifest.fields, self.manifest.required))
        return pa.schema([schema.field(name) for name in columns]).empty_table()

    def rows(self, columns: Sequence[str], *, bucket: int = 0, buckets: int = 1) -> Iterator[dict[str, Any]]:
        """One mapping a point with ``columns``; arguments as of ``batches``."""
        for batch in self.batches(columns, bucket=bucket, buckets=buckets):
            yield from batch.to_pylist()


def coded(array: pa.Array) -> pa.DictionaryArray:
    """Texts as a dictionary, however they are held."""
    import pyarrow as pa

    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


def _with_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    repeats = {entry.name for entry in batch.schema if pa.types.is_string(entry.type)}.difference(UNIQUE)
    columns = {name: batch.column(name) for name in batch.schema.names}
    return pa.record_batch({name: c.dictionary_encode() if name in repeats else c for name, c in columns.items()})
