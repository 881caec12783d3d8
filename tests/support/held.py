"""Points and facts in memory, as detectors read them from the files of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragval_pipeline.sources.snapshot.manifest import arrow_schema
from ragval_pipeline.validation.chunks.order import Points
from ragval_pipeline.validation.facts.bucket import BucketFacts
from ragval_pipeline.validation.facts.manifest import Table
from ragval_pipeline.validation.facts.store import FactRows
from ragval_pipeline.validation.facts.tables import chunk_table, page_table


def held_points(rows: Sequence[Mapping[str, Any]]) -> Points:
    """Reads points from rows in memory."""

    def read(columns: Sequence[str]) -> list[pa.RecordBatch]:
        schema = pa.schema([arrow_schema(()).field(name) for name in columns])
        return list(pa.Table.from_pylist(list(rows), schema=schema).to_batches())

    return read


class HeldFacts(FactRows):
    """The facts of some buckets in memory."""

    def __init__(self, *buckets: BucketFacts) -> None:
        self._buckets = buckets

    def batches(self, table: Table, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a table, bucket by bucket, with some of its columns or all."""
        for held in self._buckets:
            whole = chunk_table(held.chunks, held.texts) if table == "chunks" else page_table(held.pages)
            yield from (whole if columns is None else whole.select(list(columns))).to_batches()
