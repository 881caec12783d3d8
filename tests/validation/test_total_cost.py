from __future__ import annotations

from typing import Any

from ragval_pipeline.validation.assemble import total_cost
from ragval_pipeline.validation.measurement import Measurement


def spent(calls: int, inputs: int, billed: float | None, hits: int = 0) -> Measurement:
    section: dict[str, Any] = {
        "embedding_calls": calls, "embedding_inputs": inputs, "billed_tokens": billed, "cache_hits": hits,
    }  # fmt: skip
    return Measurement(asset="any", sections={"cost": section})


def test_what_every_step_spent_is_added_up() -> None:
    cost = total_cost([spent(1, 20, 300.0), Measurement(asset="free"), spent(3, 200, 9000.0, hits=4)])
    assert (cost.embedding_calls, cost.embedding_inputs, cost.billed_tokens, cost.cache_hits) == (4, 220, 9300.0, 4)
