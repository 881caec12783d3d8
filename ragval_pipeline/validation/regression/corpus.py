"""Which chunks of a collection are new, gone or changed between two snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

#: Columns of the snapshot that are needed.
COLUMNS = ("point_id", "page_key", "chunk_index", "text_sha256")

_Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class ChunkChange:
    """One chunk that differs.

    Args:
        page: Canonical form of its page; null for a point without one.
        chunk_index: Its place in the page; null when it says none.
        before: Its point id then; null when it is new.
        after: Its point id now; null when it is gone.
    """

    page: str | None
    chunk_index: int | None
    before: str | None
    after: str | None


def chunk_changes(before: Iterable[_Row], after: Iterable[_Row]) -> list[ChunkChange]:
    """The chunks that differ, by page and place.

    Args:
        before: Rows of the earlier snapshot with ``COLUMNS``.
        after: Rows of the later one.

    Returns:
        Chunks whose text stands on their page in only one of the snapshots. An old and a new text at the same place of
        a page are one changed chunk. A text under another point id is no change.
    """
    old, new = _by_page(before), _by_page(after)
    changes: list[ChunkChange] = []
    for page in sorted(old.keys() | new.keys()):
        changes += _on_page(page or None, old.get(page, []), new.get(page, []))
    return changes


def _by_page(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    pages: dict[str, list[_Row]] = {}
    for row in rows:
        pages.setdefault(row["page_key"] or "", []).append(row)
    return pages


def _on_page(page: str | None, before: Sequence[_Row], after: Sequence[_Row]) -> list[ChunkChange]:
    gone, added = _unmatched(before, after), _unmatched(after, before)
    places: dict[int, list[_Row]] = {}
    for row in added:
        if row["chunk_index"] is not None:
            places.setdefault(row["chunk_index"], []).append(row)
    changes = []
    for row in gone:
        here = places.get(row["chunk_index"]) if row["chunk_index"] is not None else None
        partner = here.pop(0) if here else None
        changes.append(ChunkChange(page, row["chunk_index"], row["point_id"], partner["point_id"] if partner else None))
    taken = {change.after for change in changes}
    changes += [
        ChunkChange(page, row["chunk_index"], None, row["point_id"]) for row in added if row["point_id"] not in taken
    ]
    return sorted(changes, key=lambda change: (change.chunk_index is None, change.chunk_index or 0))


def _unmatched(rows: Sequence[_Row], others: Sequence[_Row]) -> list[_Row]:
    """Rows whose text the others lack, each text as often as it stands there."""
    left: dict[str | None, int] = {}
    for row in others:
        left[row["text_sha256"]] = left.get(row["text_sha256"], 0) + 1
    found = []
    for row in rows:
        if left.get(row["text_sha256"], 0):
            left[row["text_sha256"]] -= 1
        else:
            found.append(row)
    return found
