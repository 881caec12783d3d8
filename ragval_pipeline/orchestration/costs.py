"""What a step spent on embedding, as the report's section ``cost``.

What lives here: the section of one step. What does not: adding up the steps (``validation/assemble``).
"""

from __future__ import annotations

from typing import Any


def cost_section(embedder: Any) -> dict[str, Any]:
    """``{"cost": ...}`` of an embedder that counts what it spends; empty for one that does not."""
    cost = getattr(embedder, "cost", None)
    if cost is None:
        return {}
    return {
        "cost": {
            "embedding_calls": cost.calls,
            "embedding_inputs": cost.inputs,
            "billed_tokens": cost.billed_tokens,
            "cache_hits": cost.cache_hits,
        }
    }
