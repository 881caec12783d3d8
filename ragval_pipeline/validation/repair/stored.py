"""What is stored, as far as a plan of repairs needs it: some points and their ids."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.validation.thresholds import FEWEST

#: Snapshot columns for ``PointFacts``.
FACTS = ("page_key", "page_url", "source_url", "embedded_at", "text_sha256", "model", "chunk_index")


@dataclass(frozen=True, slots=True)
class PointFacts:
    """One point: its page, its source as stored, embedding time and model, its text's hash, and its number."""

    page_key: str | None = None
    page_url: str | None = None
    source_url: str | None = None
    embedded_at: str | None = None
    text_sha256: str | None = None
    model: str | None = None
    chunk_index: int | None = None


@dataclass(frozen=True)
class PointLookup:
    """Facts of the requested points, and ids of the points of the requested sources and pages.

    Attributes:
        points: Point id to facts, of the requested points, sources and pages.
        ids_of: Source URL as stored to the ids of its points.
        of_page: Page key to the ids of its points.
        has_fresh_ids: Whether an ingestion gives its points ids that no other one gives.
    """

    points: dict[str, PointFacts] = field(default_factory=dict)
    ids_of: dict[str, list[str]] = field(default_factory=dict)
    of_page: dict[str, list[str]] = field(default_factory=dict)
    has_fresh_ids: bool = False

    def of(self, point_id: str) -> PointFacts:
        """Facts of a point; all None if unknown."""
        return self.points.get(point_id, PointFacts())

    def texts_of(self, source_urls: Iterable[str]) -> set[str | None]:
        """Hashes of the texts of these sources."""
        return {self.of(point_id).text_sha256 for url in source_urls for point_id in self.ids_of.get(url, ())}

    def replaced_by(self, page: str) -> list[str]:
        """The points of a page, by its key, that stay beside those that an ingestion of it writes."""
        return list(filter(self.is_left, self.of_page.get(page, ())))

    def is_left(self, name: str) -> bool:
        """Whether no ingestion writes a point again, since each gives its points new ids."""
        return self.has_fresh_ids and is_fresh(name)


def lookup_of(rows: Iterable[Mapping[str, Any]], names: Collection[str]) -> PointLookup:
    """The lookup of ``names`` among rows with ``point_id`` and ``FACTS``, of all points."""
    points: dict[str, PointFacts] = {}
    ids_of: dict[str, list[str]] = {}
    of_page: dict[str, list[str]] = {}
    wanted, ids = frozenset(names), IdCount()
    for row in rows:
        name, source, key = row["point_id"], row["source_url"], row["page_key"]
        ids.add(name)
        if not wanted.isdisjoint((name, source, key)):
            points[name] = PointFacts(*(row[column] for column in FACTS))
        if source in wanted:
            ids_of.setdefault(source, []).append(name)
        if key in wanted:
            of_page.setdefault(key, []).append(name)
    return PointLookup(points, ids_of, of_page, ids.are_fresh)


@dataclass
class IdCount:
    """How the ingestion makes ids, from all of them.

    UUIDs of version 4 are random, those of versions 1, 6 and 7 have the time in them. A hash that is cut to the length
    of a UUID may look like one of these, but few of its neighbours do.
    """

    fresh: int = 0
    other: int = 0

    def add(self, name: str) -> None:
        """Count an id."""
        if is_fresh(name):
            self.fresh += 1
        else:
            self.other += 1

    @property
    def are_fresh(self) -> bool:
        """Whether ids are new with every ingestion."""
        return self.fresh >= FEWEST and self.fresh > self.other


def is_fresh(name: str) -> bool:
    """Whether an id is random, or made from the time: no other ingestion gives it."""
    try:
        return uuid.UUID(name).version in {1, 4, 6, 7}  # definition
    except ValueError:
        return False
