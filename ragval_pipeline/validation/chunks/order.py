"""The points of each page by the chunk index that their payload claims."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.sources.site.urls import is_http_url, without_fragment

#: Snapshot columns that ``collect_order`` needs.
COLUMNS = ("point_id", "page_key", "source_url", "chunk_index", "embedded_at", "model")


@dataclass
class PageOrder:
    """The chunks of one page: its first stored spelling, without one of several fragments, points by index, models."""

    url: str
    points: dict[int, list[tuple[str, str | None]]] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)

    def spelt(self, url: str) -> None:
        """Take in how another point of the page spells it."""
        if url != self.url and without_fragment(url) == without_fragment(self.url):
            self.url = without_fragment(url)


def collect_order(rows: Iterable[Mapping[str, Any]]) -> dict[str, PageOrder]:
    """Points by page and index; points without page or index belong nowhere, and a negative index is none."""
    pages: dict[str, PageOrder] = {}
    for row in rows:
        if row["page_key"] is not None and row["chunk_index"] is not None and row["chunk_index"] >= 0:
            page = pages.setdefault(row["page_key"], PageOrder(row["source_url"]))
            page.spelt(row["source_url"])
            # Facts of the same points are held beside these, and points share their models and times.
            point_id, embedded_at = sys.intern(row["point_id"]), row["embedded_at"] and sys.intern(row["embedded_at"])
            page.points.setdefault(row["chunk_index"], []).append((point_id, embedded_at))
            if row["model"] is not None:
                page.models[point_id] = sys.intern(row["model"])
    return pages


def without_strays(pages: Mapping[str, PageOrder]) -> dict[str, PageOrder]:
    """The pages without those that are no address, in an index whose pages are addresses.

    What several points hold in place of an address is no page that they share: it is named as an invalid value.
    """
    addresses = {key: page for key, page in pages.items() if is_http_url(page.url)}
    return addresses or dict(pages)
