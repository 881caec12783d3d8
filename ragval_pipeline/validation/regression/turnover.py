"""How much of the corpus changed between two runs: pages and chunks added, removed and changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ragval_pipeline.validation.thresholds import MOST

#: Columns of the snapshot that are needed.
PAGE_COLUMNS = ("page_key", "text_sha256")


@dataclass(frozen=True)
class Turnover:
    """What changed in the corpus. A chunk is identified by page and text; another id is not a change.

    Attributes:
        chunks_before: Chunks of the earlier run.
        chunks_after: Chunks now.
        chunks_kept: Chunks with the same page and text.
        pages_added: Pages by canonical form, sorted.
        pages_removed: Pages without chunks now, sorted.
        pages_changed: Pages with changed chunks, sorted.
    """

    chunks_before: int
    chunks_after: int
    chunks_kept: int
    pages_added: Sequence[str]
    pages_removed: Sequence[str]
    pages_changed: Sequence[str]

    @property
    def share(self) -> float:
        """Chunks of the earlier run that are gone / chunks of the earlier run; 0 if it had none."""
        return 1 - self.chunks_kept / self.chunks_before if self.chunks_before else 0.0

    @property
    def chunks_added(self) -> int:
        """New chunks."""
        return self.chunks_after - self.chunks_kept

    @property
    def chunks_removed(self) -> int:
        """Removed chunks."""
        return self.chunks_before - self.chunks_kept

    @property
    def voids_chunk_labels(self) -> bool:
        """Whether labels on chunks are no longer valid."""
        return self.share >= MOST

    def facts(self) -> dict[str, Any]:
        """As JSON values, the pages counted."""
        return {
            "share": self.share,
            "chunks_before": self.chunks_before,
            "chunks_after": self.chunks_after,
            "chunks_added": self.chunks_added,
            "chunks_removed": self.chunks_removed,
            "pages_added": len(self.pages_added),
            "pages_removed": len(self.pages_removed),
            "pages_changed": len(self.pages_changed),
        }


def turnover(before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]) -> Turnover:
    """Compare two snapshots."""
    old, new = _chunks_by_page(before), _chunks_by_page(after)
    both = old.keys() & new.keys()
    return Turnover(
        chunks_before=sum(chunks.total() for chunks in old.values()),
        chunks_after=sum(chunks.total() for chunks in new.values()),
        chunks_kept=sum((old[page] & new[page]).total() for page in both),
        pages_added=sorted(new.keys() - old.keys()),
        pages_removed=sorted(old.keys() - new.keys()),
        pages_changed=sorted(page for page in both if old[page] != new[page]),
    )


def _chunks_by_page(rows: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """Texts of each page with their counts; points without a page count as one page."""
    pages: dict[str, Counter[str]] = {}
    for row in rows:
        pages.setdefault(row["page_key"] or "", Counter())[row["text_sha256"] or ""] += 1
    return pages


#: Columns of the snapshot that are needed.
CHUNK_COLUMNS = ("point_id", "page_key", "chunk_index", "text_sha256")

_Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class ChunkChange:
    """One chunk that differs.

    Attributes:
        page: Canonical form of its page; None for a point without one.
        chunk_index: Its index; None if it has none.
        before: Its point id then; None if it is new.
        after: Its point id now; None if it is gone.
    """

    page: str | None
    chunk_index: int | None
    before: str | None
    after: str | None


def chunk_changes(before: Iterable[_Row], after: Iterable[_Row]) -> list[ChunkChange]:
    """The chunks that differ, by page and index.

    Returns:
        Chunks whose text is in only one of the snapshots for their page. An old and a new text with the same index of a
        page are one changed chunk. Another point id is not a change.
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
    """Rows whose text the others lack, with multiplicity."""
    left, found = Counter(row["text_sha256"] for row in others), []
    for row in rows:
        if left[row["text_sha256"]]:
            left[row["text_sha256"]] -= 1
        else:
            found.append(row)
    return found
