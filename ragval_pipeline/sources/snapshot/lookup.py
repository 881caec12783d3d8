"""The snapshot's rows of given points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def rows_by_id(batches: Iterable[pa.RecordBatch], ids: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """The rows of some points by id; ``batches`` hold ``point_id``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not ids:
        return {}
    wanted = pa.array(list(ids), pa.string())
    found = (batch.filter(pc.is_in(batch.column("point_id"), value_set=wanted)) for batch in batches)
    return {row["point_id"]: row for batch in found for row in batch.to_pylist()}
