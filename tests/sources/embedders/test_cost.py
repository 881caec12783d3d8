from __future__ import annotations

import numpy as np

from ragval_pipeline.sources.embedders.base import EmbeddingBatch, EmbeddingCost


def test_costs_add_up_field_by_field():
    batch = EmbeddingBatch(
        vectors=np.zeros((2, 3), np.float32),
        calls=1,
        inputs=2,
        billed_tokens=9.0,
        tries=3,
        waited_s=0.5,
        cache_hits=4,
    )
    assert batch + batch == EmbeddingCost(2, 4, 18.0, 8, 6, 1.0)


def test_unknown_billing_stays_unknown_and_does_not_hide_what_is_known():
    unknown, known = EmbeddingCost(calls=1), EmbeddingCost(calls=1, billed_tokens=5.0)
    assert (unknown + unknown).billed_tokens is None
    assert (unknown + known).billed_tokens == 5.0
    assert (known + unknown).billed_tokens == 5.0
