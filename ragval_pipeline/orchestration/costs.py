"""What a step spends on embedding, as the report's section ``cost``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragval_pipeline.orchestration.run_place import RunPlace
    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.sources.embedders.budget import Budget
    from ragval_pipeline.suite.model import Suite


class CountedEmbedding:
    """The resource ``embedder`` for one step, which knows afterwards what the step's calls cost.

    Args:
        resource: Anything with ``embedder_for(suite)``. Embedders that do not count what they spend are left out.
        budget: What the run may spend; None: as much as it takes.
    """

    def __init__(self, resource: Any, budget: Budget | None = None) -> None:
        self._resource = resource
        self._budget = budget
        self._opened: list[Any] = []
        self._base_url: str | None = getattr(resource, "base_url", None)

    @contextmanager
    def embedder_for(self, suite: Suite) -> Iterator[Embedder]:
        """As the resource opens it."""
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
        """``{"cost": ...}`` of all calls up to now, failed ones included; empty when nobody counted."""
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
    """The budget of a run, which all its steps share; None when the suite sets no limit."""
    from ragval_pipeline.sources.embedders.budget import Budget

    limits = suite.budget
    if limits.calls is None and limits.tokens is None:
        return None
    return Budget(calls=limits.calls, tokens=limits.tokens, ledger=place.work / "budget")
