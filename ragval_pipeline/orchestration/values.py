"""What the assets of a suite hand on: what was read or measured, with a stamp of run and state of the world."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.measurement import Measurement


class Stamp(BaseModel):
    """Where a value comes from.

    Attributes:
        run_id: Run that made it.
        made: When, UTC, ISO 8601 with Z.
        runs: Every run that it rests on, its own included, sorted.
        states: Fingerprint of each thing that it rests on (``suite``, ``site``, ``pages``, ``collection``), as it was
            when it was read.
        lacking: Those of these things that could not be read, because their system failed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    run_id: str
    made: str
    runs: tuple[str, ...]
    states: dict[str, str] = {}
    lacking: tuple[str, ...] = ()


class Value(BaseModel):
    """What an asset hands on."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    stamp: Stamp


class SitemapUrls(Value):
    """The pages of the site."""

    inventory: SiteInventory


class PageSnapshot(Value):
    """The copies of the site's pages."""

    pages: PageCopiesManifest


class PayloadSnapshot(Value):
    """The points of the collection, and the pages that they were assigned to."""

    inventory: SiteInventory
    manifest: SnapshotManifest


class ChunkFacts(Value):
    """The facts of chunks and pages, and the points that they are of."""

    index: PayloadSnapshot
    facts: FactsManifest


class Measured(Value):
    """What one asset measured, part by part."""

    parts: tuple[Measurement, ...] = ()

    @property
    def failed(self) -> list[Measurement]:
        """The parts whose system failed or that crashed: what a retry measures again."""
        return [part for part in self.parts if part.failure and part.failure.kind in {"unreachable", "crashed"}]


class QueryResults(Measured):
    """The answers to the test queries, and the snapshot of the index that gave them: they are compared together."""

    index: PayloadSnapshot
