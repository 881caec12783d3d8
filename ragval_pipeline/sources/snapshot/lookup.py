"""Finding the snapshot's rows of given points.

What lives here: walking a snapshot in step with another read of the collection, and picking rows by id. What does not:
reading parts (``reader``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

#: Rows held while a point is looked for: 20 MB of ordinary chunks.
READ_AHEAD = 20_000


class RowsInStep:
    """The snapshot's rows, handed out while the collection is read again in the same order.

    Both come in id order, so that only the rows between two reads are in memory, and those of ``READ_AHEAD`` points in
    case the orders differ. Points that are in one of them only, because the collection changed meanwhile, are left out.

    Args:
        rows: The snapshot's rows in id order, each with ``point_id``.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: Iterator[Row] = iter(rows)
        self._held: dict[str, Row] = {}
        self._reached: tuple[int, int, str] | None = None

    def take(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows of ``ids``; each row is handed out once."""
        found = {}
        for name in ids:
            self._advance(name)
            row = self._held.pop(name, None)
            if row is not None:
                found[name] = row
        return found

    def _advance(self, name: str) -> None:
        wanted = id_order(name)
        while name not in self._held and (
            self._reached is None or self._reached < wanted or len(self._held) < READ_AHEAD
        ):
            row = next(self._rows, None)
            if row is None:
                return
            self._held[row["point_id"]] = row
            self._reached = id_order(row["point_id"])


def id_order(name: str) -> tuple[int, int, str]:
    """The order of Qdrant's scroll: integers by value, then UUIDs as text."""
    return (0, int(name), "") if name.isascii() and name.isdigit() and len(name) <= 20 else (1, 0, name)


def rows_by_id(rows: Iterable[Row], ids: Collection[str]) -> dict[str, Row]:
    """The rows of some points by id."""
    wanted = frozenset(ids)
    return {row["point_id"]: row for row in rows if row["point_id"] in wanted} if wanted else {}
