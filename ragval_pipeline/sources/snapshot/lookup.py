"""Finding the snapshot's rows of given points: in step with another read of the collection, or by id.

What does not live here: reading parts (``reader``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows held while a point is looked for: 20 MB of ordinary chunks.
READ_AHEAD = 20_000


class RowsInStep:
    """The snapshot's rows, handed out while the collection is read again in the same order.

    Both come in id order, so that little more than one batch is in memory, and ``READ_AHEAD`` rows in case the orders
    differ. Points that are in one of them only, because the collection changed meanwhile, are left out.

    Args:
        batches: The snapshot's rows in id order, with ``point_id`` and at least one more column.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = iter(batches)
        self._held: pa.Table | None = None
        self._ids: list[str] = []

    def take(self, ids: Sequence[str]) -> pa.Table:
        """The rows of ``ids`` in their order; each row is handed out once."""
        import pyarrow as pa

        while len(self._ids) < len(ids) and self._read():
            pass
        if self._held is None:
            return pa.table({"point_id": pa.array([], pa.string())})
        if self._ids[: len(ids)] == list(ids):
            found, self._held = self._held.slice(0, len(ids)), self._held.slice(len(ids))
            del self._ids[: len(ids)]
            return found
        wanted = max(map(id_order, ids), default=(0, 0, ""))
        place = {name: number for number, name in enumerate(self._ids)}
        while not place.keys() >= set(ids) and (
            not self._ids or id_order(self._ids[-1]) < wanted or len(self._ids) < READ_AHEAD
        ):
            known = len(self._ids)
            if not self._read():
                break
            place.update({name: known + number for number, name in enumerate(self._ids[known:])})
        return self._taken([place[name] for name in ids if name in place])

    def _taken(self, places: list[int]) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        assert self._held is not None
        found, stays = self._held.take(pa.array(places, pa.int64())), np.ones(len(self._ids), dtype=bool)
        stays[places] = False
        rest = np.flatnonzero(stays)
        self._held, self._ids = self._held.take(rest), [self._ids[number] for number in rest.tolist()]
        return found

    def _read(self) -> bool:
        import pyarrow as pa

        batch = next(self._batches, None)
        if batch is None:
            return False
        table = pa.Table.from_batches([batch])
        self._held = table if self._held is None else pa.concat_tables([self._held, table])
        self._ids.extend(batch.column("point_id").to_pylist())
        return True


def id_order(name: str) -> tuple[int, int, str]:
    """The order of Qdrant's scroll: integers by value, then UUIDs as text."""
    return (0, int(name), "") if name.isascii() and name.isdigit() and len(name) <= 20 else (1, 0, name)


def rows_by_id(batches: Iterable[pa.RecordBatch], ids: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """The rows of some points by id; ``batches`` hold ``point_id``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not ids:
        return {}
    wanted = pa.array(list(ids), pa.string())
    found = (batch.filter(pc.is_in(batch.column("point_id"), value_set=wanted)) for batch in batches)
    return {row["point_id"]: row for batch in found for row in batch.to_pylist()}
