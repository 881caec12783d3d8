"""What the embedder's and the reranker's calls of a measurement cost, within the run's budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from ragval_pipeline.suite.model import Suite

if TYPE_CHECKING:
    from ragval_pipeline.measuring.place import RunPlace
    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.sources.embedders.budget import Budget
    from ragval_pipeline.sources.search.rerank import RerankCost, Reranker


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
            return {"cost": {"usd": 0.0, **reranked}} if (reranked := self._reranking()) else {}
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
