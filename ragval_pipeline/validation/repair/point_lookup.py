"""Facts from the snapshot about the points in findings, for the remedies."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest

logger = logging.getLogger(__name__)

#: Snapshot columns for ``PointFacts``.
FACTS = ("page_url", "source_url", "embedded_at", "text_sha256", "model", "chunk_index")
_COLUMNS = ("point_id", *FACTS, "token_count")


@dataclass(frozen=True)
class PointFacts:
    """One point: its sitemap page, its source as stored, embedding time and model, its text's hash, and its number."""

    page_url: str | None = None
    source_url: str | None = None
    embedded_at: str | None = None
    text_sha256: str | None = None
    model: str | None = None
    chunk_index: int | None = None


@dataclass(frozen=True)
class PointLookup:
    """Facts of the requested points, ids of the points of the requested sources, and all token counts.

    Attributes:
        points: Point id to facts, of the requested points and sources.
        ids_of: Source URL as stored to the ids of its points.
        token_counts: Stored token counts of all points that have one.
    """

    points: dict[str, PointFacts] = field(default_factory=dict)
    ids_of: dict[str, list[str]] = field(default_factory=dict)
    token_counts: list[int] = field(default_factory=list)

    def of(self, point_id: str) -> PointFacts:
        """Facts of a point; all None if unknown."""
        return self.points.get(point_id, PointFacts())

    def texts_of(self, source_urls: Iterable[str]) -> set[str | None]:
        """Hashes of the texts of these sources."""
        return {self.of(point_id).text_sha256 for url in source_urls for point_id in self.ids_of.get(url, ())}


def look_up_points(manifest: SnapshotManifest | None, names: Collection[str]) -> PointLookup:
    """Read the snapshot for the points and sources in ``names``.

    Without the snapshot the lookup is empty, so that the report is still written.
    """
    lookup = PointLookup()
    if manifest is None:
        return lookup
    from ragval_pipeline.sources.snapshot.reader import Snapshot

    wanted = frozenset(names)
    try:
        for row in Snapshot(manifest).rows(_COLUMNS):
            _note(lookup, wanted, row)
    except (OSError, KeyError) as error:
        logger.warning("the snapshot cannot be read, so the report has no hints from it: %s", error)
    return lookup


def _note(lookup: PointLookup, wanted: frozenset[str], row: Mapping[str, Any]) -> None:
    if row["token_count"] is not None:
        lookup.token_counts.append(row["token_count"])
    if row["point_id"] in wanted or row["source_url"] in wanted:
        lookup.points[row["point_id"]] = PointFacts(*(row[name] for name in FACTS))
    if row["source_url"] in wanted:
        lookup.ids_of.setdefault(row["source_url"], []).append(row["point_id"])
