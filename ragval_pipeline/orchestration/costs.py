"""What a step spends on embedding, as the report's section ``cost``.

What lives here: the section of one step, whatever became of the step. What does not: counting calls (``sources``) and
adding up the steps (``validation/assemble``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragval_pipeline.orchestration.names import resource_key

if TYPE_CHECKING:
    import dagster as dg

    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.suite.model import Suite


class CountedEmbedding:
    """The resource ``embedder`` for one step, which knows afterwards what the step's calls cost.

    Args:
        resource: Anything with ``embedder_for(suite)``. Embedders that do not count what they spend are left out.
    """

    def __init__(self, resource: Any) -> None:
        self._resource = resource
        self._opened: list[Any] = []

    @contextmanager
    def embedder_for(self, suite: Suite) -> Iterator[Embedder]:
        """As the resource opens it."""
        with self._resource.embedder_for(suite) as embedder:
            self._opened.append(embedder)
            yield embedder

    def section(self) -> dict[str, Any]:
        """``{"cost": ...}`` of all calls up to now, failed ones included; empty when nobody counted."""
        costs = [cost for embedder in self._opened if (cost := getattr(embedder, "cost", None)) is not None]
        if not costs:
            return {}
        total = sum(costs[1:], costs[0])
        return {
            "cost": {
                "embedding_calls": total.tries,
                "embedding_inputs": total.inputs,
                "billed_tokens": total.billed_tokens,
                "cache_hits": total.cache_hits,
            }
        }


def counted_embedding(context: dg.AssetExecutionContext, suite: Suite) -> CountedEmbedding:
    """The suite's embedder resource for the step of ``context``."""
    return CountedEmbedding(getattr(context.resources, resource_key(suite.suite, "embedder")))
