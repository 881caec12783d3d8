"""The context of a validation's work: suite, run, resources, and what was read and measured so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dagster as dg

from ragval_pipeline.orchestration.names import QUERY_VALIDATION_RESULTS, SITEMAP_URLS, asset_key, resource_key
from ragval_pipeline.orchestration.run_place import RunPlace
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from ragval_pipeline.errors import SystemFailure
    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.sources.embedders.budget import Budget
    from ragval_pipeline.sources.kept.evidence import Earlier
    from ragval_pipeline.sources.search.rerank import RerankCost, Reranker
    from ragval_pipeline.sources.site.inventory import SiteInventory
    from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
    from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
    from ragval_pipeline.validation.belonging import Partitions
    from ragval_pipeline.validation.facts.manifest import FactsManifest
    from ragval_pipeline.validation.secrets import Secrets


#: Called with the asset's name, done and total (None: not known).
Observer = Callable[[str, int, int | None], None]

_observer: ContextVar[Observer | None] = ContextVar("ragval_progress", default=None)


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Report progress of runs started inside the block to ``observer``."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def progress_of(asset: str) -> Callable[[int, int | None], None]:
    """A callback that reports the progress of one asset."""
    observer = _observer.get()

    def report(done: int, total: int | None) -> None:
        if observer is not None:
            observer(asset, done, total)

    return report


def expect_steps(count: int) -> None:
    """Give the observer the total number of steps, if it has a method ``expect``."""
    expect = getattr(_observer.get(), "expect", None)
    if expect is not None:
        expect(count)


def check_observer() -> None:
    """Let the observer end the run by raising, if it has a method ``check``."""
    check = getattr(_observer.get(), "check", None)
    if check is not None:
        check()


class CountedEmbedding:
    """The resource ``embedder`` for one measurement, which records the cost of its calls.

    Embedders that do not count their cost are left out.
    """

    def __init__(self, resource: Any, budget: Budget | None = None) -> None:
        self._resource = resource
        self._budget = budget
        self._opened: list[Any] = []
        self._reranked: list[RerankCost] = []
        self._base_url: str | None = getattr(resource, "base_url", None)

    @contextmanager
    def embedder_for(self, suite: Suite) -> Iterator[Embedder]:
        """The resource's embedder."""
        with self._resource.embedder_for(suite) as embedder:
            self._opened.append(embedder)
            self._base_url = self._base_url or suite.embedding.base_url
            layer: Any = embedder
            while layer is not None and self._budget is not None:
                if hasattr(layer, "budget"):
                    layer.budget = self._budget
                layer = getattr(layer, "inner", None)
            yield embedder

    @contextmanager
    def reranker_for(self, suite: Suite) -> Iterator[Reranker]:
        """The suite's reranker, within the run's budget; its cost is counted."""
        from ragval_pipeline.sources.search.rerank import open_reranker

        reranker = open_reranker(suite, budget=self._budget, keep=True)
        self._reranked.append(reranker.cost)
        with closing(reranker):
            yield reranker

    def _reranking(self) -> dict[str, Any]:
        """Calls and billed searches of reranking; empty if there was none."""
        searches = [cost.searches for cost in self._reranked if cost.searches is not None]
        calls = sum(cost.calls for cost in self._reranked)
        return {"rerank_calls": calls, "rerank_searches": sum(searches) if searches else None} if calls else {}

    def section(self) -> dict[str, Any]:
        """``{"cost": ...}`` of all calls so far, failed ones included; empty if not counted."""
        costs = [cost for embedder in self._opened if (cost := getattr(embedder, "cost", None)) is not None]
        if not costs:
            return {"cost": {"usd": 0.0, **found}} if (found := self._reranking()) else {}
        from ragval_pipeline.sources.embedders.models import PRICES_OF, price_of

        total = sum(costs[1:], costs[0])
        price = price_of(self._opened[0].provider, self._opened[0].model, self._base_url)
        return {
            "cost": {
                "embedding_calls": total.tries,
                "embedding_inputs": total.inputs,
                "billed_tokens": total.billed_tokens,
                "cache_hits": total.cache_hits,
                "seconds": total.elapsed_s,
                "usd": total.usd(price),
                "prices_of": PRICES_OF if price else None,
                **self._reranking(),
            }
        }


def budget_of(suite: Suite, place: RunPlace) -> Budget | None:
    """The budget of a run, shared by all its measurements; None if the suite sets no limit."""
    from ragval_pipeline.sources.embedders.budget import Budget

    limits = suite.budget
    if not limits.is_limited:
        return None
    return Budget(calls=limits.calls, tokens=limits.tokens, ledger=place.work / "budget")


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
        context: The step's context.
        suite: The resolved suite.
        place: The run's folders.
        prefix: Prefix of all asset keys before the suite's name.
        read: What was read so far.
        measured: Measured parts, by asset.
        failed: Why assets could not be made.
        there: Assets whose results exist, including a site known to be unreadable.
        observations: Observations of outside systems that were not yielded yet.
        embedding: The counted embedder; ``None`` for work that embeds nothing.
        before: Parts of the asset at work that were already measured, by name.
    """

    context: dg.AssetExecutionContext
    suite: Suite
    place: RunPlace
    prefix: tuple[str, ...] = ()
    read: Read = field(default_factory=Read)
    measured: dict[str, tuple[Measurement, ...]] = field(default_factory=dict)
    failed: dict[str, Measurement] = field(default_factory=dict)
    there: set[str] = field(default_factory=set)
    observations: list[dg.AssetObservation] = field(default_factory=list)
    embedding: CountedEmbedding | None = None
    before: Mapping[str, Measurement] = field(default_factory=dict)

    def key(self, name: str) -> dg.AssetKey:
        """The key of an asset of the suite."""
        return asset_key(self.suite.suite, name, self.prefix)

    def observe(self, name: str, metadata: Mapping[str, Any]) -> None:
        """Record on the page of an outside system what was found there."""
        seen = dg.AssetObservation(self.key(name), partition=self.suite.partition, metadata=metadata)
        self.observations.append(seen)

    @property
    def qdrant(self) -> Any:
        """The resource of the collection."""
        return self.resource("qdrant")

    def resource(self, name: str) -> Any:
        """A resource of the suite."""
        return getattr(self.context.resources, resource_key(self.suite.suite, name))

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
