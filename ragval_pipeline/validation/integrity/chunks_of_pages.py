"""The chunks of some pages, out of a snapshot that is in the order of ids.

What lives here: picking the rows of a group of pages, so that the text of a whole collection is never held at once.
What does not: comparing them (``compare``).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.integrity.compare import COLUMNS


def chunks_of_pages(snapshot: Snapshot, keys: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """Rows with ``COLUMNS`` by page key, for the pages ``keys``.

    The snapshot is read once a call; a group of pages is as large as one part of the page copies.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(list(keys), pa.string())
    rows: dict[str, list[dict[str, Any]]] = {}
    for batch in snapshot.batches(COLUMNS):
        chosen = batch.filter(pc.is_in(batch.column("page_key"), value_set=wanted))
        for row in chosen.to_pylist():
            rows.setdefault(row["page_key"], []).append(row)
    return rows
