"""The pages of the index, collected slice by slice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ragval_pipeline.sources.site.urls import without_fragment
from ragval_pipeline.text.times import parse_time
from ragval_pipeline.validation.thresholds import CLOCK_SKEW

#: Why nothing is compared with the pages of the site.
NO_PAGES = "no point says which page it is from"
#: Snapshot columns that ``collect_pages`` needs.
COLUMNS = ("page_key", "source_url", "embedded_at", "chunk_index", "text_sha256")


@dataclass
class IndexedPage:
    """One page of the index.

    Attributes:
        key: Canonical form of its URL.
        spellings: Number of points by stored address.
        newest: Latest embedding time, aware UTC, or None.
        chunks: Chunks by stored address, each as a hash of its position and text.
        texts: Those without a position, each as a hash of its text.
    """

    key: str
    spellings: dict[str, int] = field(default_factory=dict)
    newest: datetime | None = None
    chunks: dict[str, set[int]] = field(default_factory=dict)
    texts: dict[str, set[int]] = field(default_factory=dict)

    def chunks_of(self, spelling: str) -> set[int]:
        """The chunks of a stored address that can be told from those of others.

        A page may repeat a text. Without positions a text is the same chunk only if one of two addresses has all that
        the other has, and more than one.
        """
        own = self.texts.get(spelling, set())
        others = (texts for other, texts in self.texts.items() if other != spelling)
        is_copied = any(own <= other or other <= own for other in others if min(len(own), len(other)) > 1)
        return self.chunks.get(spelling, set()) | (own if is_copied else set())

    @property
    def spelling(self) -> str:
        """The stored address of most points, the first by name among equals; without fragment, if it has several."""
        bare: dict[str, int] = {}
        for spelling, points in self.spellings.items():
            address = without_fragment(spelling) if len(self.spellings) > 1 else spelling
            bare[address] = bare.get(address, 0) + points
        return min(bare, key=lambda spelling: (-bare[spelling], spelling))

    @property
    def points(self) -> int:
        """Number of points of the page."""
        return sum(self.spellings.values())

    def add(self, spelling: str, points: int, embedded_at: datetime | None) -> None:
        """Count points of one address."""
        self.spellings[spelling] = self.spellings.get(spelling, 0) + points
        if embedded_at is not None and (self.newest is None or embedded_at > self.newest):
            self.newest = embedded_at


def collect_pages(rows: Iterable[Mapping[str, Any]], *, now: datetime | None = None) -> dict[str, IndexedPage]:
    """Indexed pages by canonical form; points without a source URL are ignored.

    ``rows`` have ``COLUMNS``; embedding times after ``now`` are ignored.
    """
    pages: dict[str, IndexedPage] = {}
    latest = now + CLOCK_SKEW if now else None
    for row in rows:
        key = row["page_key"]
        if key is not None:
            page = pages.get(key)
            if page is None:
                page = pages[key] = IndexedPage(key)
            moment = parse_time(row["embedded_at"])
            page.add(row["source_url"], 1, None if moment and latest and moment > latest else moment)
            if (text := row.get("text_sha256")) is not None:
                chunks = page.texts if row["chunk_index"] is None else page.chunks
                chunks.setdefault(row["source_url"], set()).add(hash((row["chunk_index"], text)))
    return pages
