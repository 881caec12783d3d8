from __future__ import annotations

import uuid
from collections.abc import Iterator

import pyarrow as pa

from ragval_pipeline.sources.snapshot.reader import rows_by_id
from ragval_pipeline.sources.stores.qdrant.names import id_order

IDS = ["2", "10", str(uuid.UUID(int=1)), str(uuid.UUID(int=2)), str(uuid.UUID(int=9))]


class Counting:
    """Batches of one row, and how many of them were read."""

    def __init__(self, ids: list[str]) -> None:
        self.ids, self.read = ids, 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for name in self.ids:
            self.read += 1
            yield pa.RecordBatch.from_pylist([{"point_id": name, "text": f"text of {name}"}])


def test_ids_are_ordered_as_qdrant_scrolls_them() -> None:
    assert sorted(set(IDS), key=id_order) == IDS


def test_rows_are_found_by_id_and_nothing_is_read_for_no_id() -> None:
    rows = Counting(IDS)
    assert list(rows_by_id(rows, {"10", "99"})) == ["10"]
    rows.read = 0
    assert rows_by_id(rows, ()) == {}
    assert rows.read == 0
