"""Joining the answers of several calls into one. What lives here: nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ragval_pipeline.sources.embedders.base import EmbeddingBatch
from ragval_pipeline.sources.embedders.cost import add_billed


def joined(batches: Sequence[EmbeddingBatch]) -> EmbeddingBatch:
    """One batch with the rows of all, in order, and the sums of what they took. At least one batch is needed."""
    import numpy as np

    if len(batches) == 1:
        return batches[0]
    return EmbeddingBatch(
        vectors=np.concatenate([batch.vectors for batch in batches]),
        calls=sum(batch.calls for batch in batches),
        inputs=sum(batch.inputs for batch in batches),
        billed_tokens=reduce(add_billed, (batch.billed_tokens for batch in batches)),
        tries=sum(batch.tries for batch in batches),
        waited_s=sum(batch.waited_s for batch in batches),
        elapsed_s=sum(batch.elapsed_s for batch in batches),
        cache_hits=sum(batch.cache_hits for batch in batches),
    )
