"""One validation at work: suite, run, systems, and what was read and measured so far."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragval_pipeline.measuring.names import QUERY_VALIDATION_RESULTS, SITEMAP_URLS
from ragval_pipeline.measuring.place import RunPlace
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from ragval_pipeline.errors import SystemFailure
    from ragval_pipeline.measuring.cost import CountedEmbedding
    from ragval_pipeline.sources.kept.evidence import Earlier
    from ragval_pipeline.sources.site.inventory import SiteInventory
    from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
    from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
    from ragval_pipeline.validation.belonging import Partitions
    from ragval_pipeline.validation.facts.manifest import FactsManifest
    from ragval_pipeline.validation.secrets import Secrets


@dataclass
class Read:
    """What a validation has read so far; None for what it has not.

    Attributes:
        inventory: The pages of the site.
        manifest: The snapshot of the collection.
        state: Fingerprint of the collection when the snapshot was taken.
        pages: The copies of the site's pages.
        facts: The facts of chunks and pages.
        partitions: The partitions of the collection; None also if nothing asked for them yet.
        earlier: An earlier run whose evidence is read where nothing has changed.
        secrets: What nobody should read in the collection: kept in memory alone.
    """

    inventory: SiteInventory | None = None
    manifest: SnapshotManifest | None = None
    state: str | None = None
    pages: PageCopiesManifest | None = None
    facts: FactsManifest | None = None
    partitions: Partitions | None = None
    earlier: Earlier | None = None
    secrets: Secrets | None = None


@dataclass(frozen=True)
class Task:
    """One validation at work: what it was given, and what it has read and measured so far.

    Attributes:
        suite: The resolved suite.
        place: The run's folders.
        log: Of the run.
        qdrant: Opens the collection, as ``open_reader`` takes it.
        embedder: Opens the embedder, by ``embedder_for(suite)``.
        has_ended: Whether a run of an id has ended; None: not known.
        read: What was read so far.
        measured: Measured parts, by asset.
        failed: Why assets could not be made.
        there: Assets whose results exist, including a site known to be unreadable.
        observed: What was found in an outside system, by its name, until it is told.
        embedding: The counted embedder; ``None`` for work that embeds nothing.
        before: Parts of the asset at work that were already measured, by name.
    """

    suite: Suite
    place: RunPlace
    log: logging.Logger
    qdrant: Any
    embedder: Any
    has_ended: Callable[[str], bool | None]
    read: Read = field(default_factory=Read)
    measured: dict[str, tuple[Measurement, ...]] = field(default_factory=dict)
    failed: dict[str, Measurement] = field(default_factory=dict)
    there: set[str] = field(default_factory=set)
    observed: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    embedding: CountedEmbedding | None = None
    before: Mapping[str, Measurement] = field(default_factory=dict)

    @property
    def inventory(self) -> SiteInventory:
        """The pages of the site."""
        assert self.read.inventory is not None
        return self.read.inventory

    @property
    def manifest(self) -> SnapshotManifest:
        """The snapshot of the collection."""
        assert self.read.manifest is not None
        return self.read.manifest

    @property
    def pages(self) -> PageCopiesManifest:
        """The copies of the site's pages."""
        assert self.read.pages is not None
        return self.read.pages

    @property
    def facts(self) -> FactsManifest:
        """The facts of chunks and pages."""
        assert self.read.facts is not None
        return self.read.facts

    @property
    def partitions(self) -> Partitions | None:
        """The partitions of the collection; None if the suite names no field that holds them."""
        path = self.suite.qdrant.partition_by
        if path is not None and self.read.partitions is None:
            from ragval_pipeline.sources.snapshot.reader import Snapshot
            from ragval_pipeline.suite.queries.load import load_queries
            from ragval_pipeline.validation.belonging import COLUMNS, Partitions, tagged_points
            from ragval_pipeline.validation.retrieval.hits import pages_stated

            key = self.inventory.folder().key
            queries = load_queries(self.suite)
            expected = {query.id: pages_stated(query, key) for query in queries}
            filters = {query.id: query.filter for query in queries}
            points = tagged_points(Snapshot(self.manifest).rows(COLUMNS))
            self.read.partitions = Partitions.of(path, points, expected, filters)
        return self.read.partitions

    @property
    def secrets(self) -> Secrets:
        """What nobody should read in the collection, by what was read so far; looked for once the pages are there."""
        from ragval_pipeline.sources.site.page_copies.copies import PageCopies
        from ragval_pipeline.sources.snapshot.reader import Snapshot
        from ragval_pipeline.validation.secrets import NO_SECRETS, look_for_secrets

        read = self.read
        if read.secrets is not None or read.manifest is None:
            return read.secrets or NO_SECRETS
        found = look_for_secrets(Snapshot(read.manifest), PageCopies(read.pages) if read.pages else None)
        if read.pages is not None:
            read.secrets = found
        return found

    @property
    def answers(self) -> Measurement:
        """Results of the test queries."""
        return self.measured[QUERY_VALIDATION_RESULTS][0]

    def parts_of(self, names: Iterable[str]) -> list[Measurement]:
        """All measured parts of some assets."""
        return [part for name in names for part in self.measured.get(name, ())]

    def read_no_site(self, failure: SystemFailure) -> None:
        """Go on without the site: what needs no page is still measured, and the rest says why not."""
        from ragval_pipeline.sources.site.inventory import unread_inventory

        source = self.suite.source
        assert source is not None
        self.read.inventory = unread_inventory(source.location, source.host_aliases, failure)
        self.there.add(SITEMAP_URLS)
