"""The context of one asset's work: suite, run, input values, resources, cost and progress so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import dagster as dg

from ragval_pipeline.orchestration.names import SITEMAP_URLS, resource_key
from ragval_pipeline.orchestration.run_place import RunPlace
from ragval_pipeline.orchestration.values import (
    ChunkFacts,
    Measured,
    PageSnapshot,
    PayloadSnapshot,
    QueryResults,
    Stamp,
    Value,
)
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.sources.embedders.budget import Budget
    from ragval_pipeline.sources.site.inventory import SiteInventory
    from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
    from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
    from ragval_pipeline.validation.facts.manifest import FactsManifest


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
    """The resource ``embedder`` for one step, which records the cost of its calls.

    Embedders that do not count their cost are left out.
    """

    def __init__(self, resource: Any, budget: Budget | None = None) -> None:
        self._resource = resource
        self._budget = budget
        self._opened: list[Any] = []
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

    def section(self) -> dict[str, Any]:
        """``{"cost": ...}`` of all calls so far, failed ones included; empty if not counted."""
        costs = [cost for embedder in self._opened if (cost := getattr(embedder, "cost", None)) is not None]
        if not costs:
            return {}
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
            }
        }


def budget_of(suite: Suite, place: RunPlace) -> Budget | None:
    """The budget of a run, shared by all its steps; None if the suite sets no limit."""
    from ragval_pipeline.sources.embedders.budget import Budget

    limits = suite.budget
    if not limits.is_limited:
        return None
    return Budget(calls=limits.calls, tokens=limits.tokens, ledger=place.work / "budget")


V = TypeVar("V", bound=Value)


@dataclass(frozen=True)
class Task:
    """One step of a run.

    Attributes:
        context: The step's context.
        suite: The resolved suite.
        place: The run's folders.
        values: Input values by asset name.
        embedding: The counted embedder; ``None`` for work that embeds nothing.
        before: Parts of this asset already measured, by name.
    """

    context: dg.AssetExecutionContext
    suite: Suite
    place: RunPlace
    values: Mapping[str, Value]
    embedding: CountedEmbedding | None = None
    before: Mapping[str, Measurement] = field(default_factory=dict)

    def key(self, name: str) -> dg.AssetKey:
        """The key of another asset of the same suite."""
        return dg.AssetKey([*self.context.asset_key.path[:-1], name])

    @property
    def qdrant(self) -> Any:
        """The resource of the collection."""
        return self.resource("qdrant")

    def resource(self, name: str) -> Any:
        """A resource of the suite that the asset requires."""
        return getattr(self.context.resources, resource_key(self.suite.suite, name))

    @property
    def inventory(self) -> SiteInventory:
        """The pages of the site."""
        own: Any = self.values.get(SITEMAP_URLS)
        return own.inventory if own is not None else self.index.inventory

    @property
    def index(self) -> PayloadSnapshot:
        """The points of the collection, read separately or with the query results."""
        holder = self._find(ChunkFacts) or self._find(QueryResults)
        index = holder.index if holder else self._find(PayloadSnapshot)
        assert index is not None
        return index

    @property
    def manifest(self) -> SnapshotManifest:
        """The snapshot of the collection."""
        return self.index.manifest

    @property
    def pages(self) -> PageCopiesManifest:
        """The copies of the site's pages."""
        made = self._find(ChunkFacts)
        if made is not None:
            return made.facts.copies
        found = self._find(PageSnapshot)
        assert found is not None
        return found.pages

    @property
    def facts(self) -> FactsManifest:
        """The facts of chunks and pages."""
        made = self._find(ChunkFacts)
        assert made is not None
        return made.facts

    @property
    def measured(self) -> list[Measurement]:
        """All measured parts of the asset's inputs."""
        return [part for value in self.values.values() if isinstance(value, Measured) for part in value.parts]

    @property
    def answers(self) -> Measurement:
        """Results of the test queries."""
        found = self._find(QueryResults)
        assert found is not None
        return found.parts[0]

    def stamp(self, **own: str | None) -> Stamp:
        """The stamp of this step's value.

        ``own`` are fingerprints of what it has read; None for what it could not read.
        """
        from ragval_pipeline.text.times import utc_text

        runs, states, lacking = {self.place.run_id}, dict[str, str](), set[str]()
        for value in self.values.values():
            runs |= set(value.stamp.runs)
            states |= value.stamp.states
            lacking |= set(value.stamp.lacking)
        return Stamp(
            run_id=self.place.run_id,
            made=utc_text(datetime.now(UTC)),
            runs=tuple(sorted(runs)),
            states=states | {name: state for name, state in own.items() if state is not None},
            lacking=tuple(sorted(lacking | {name for name, state in own.items() if state is None})),
        )

    def _find(self, kind: type[V]) -> V | None:
        return next((value for value in self.values.values() if isinstance(value, kind)), None)
