"""Embedding stored texts again, held to the collection's dimension.

What lives here: the calls. What does not: comparing the vectors (``validation/vectors``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragval_pipeline.sources.answers import dimension_mismatch
from ragval_pipeline.sources.embedders.base import Embedder, EmbeddingBatch, InputType
from ragval_pipeline.sources.qdrant.facts import VectorFacts


def embed_like(embedder: Embedder, vector: VectorFacts) -> Callable[[Sequence[str], InputType], EmbeddingBatch]:
    """A function that embeds texts, and refuses when its vectors do not fit the collection.

    Args:
        embedder: Embeds.
        vector: What the collection's vectors are like.

    Returns:
        From texts and input type to a batch whose vectors have the collection's dimension. It raises
        ``NotMeasurableError`` (``vector.dimension``), without a call where the dimension is known beforehand.
    """

    def embed(texts: Sequence[str], input_type: InputType) -> EmbeddingBatch:
        if embedder.dimension is not None and embedder.dimension != vector.size:
            raise dimension_mismatch(vector, embedder.dimension, embedder)
        batch = embedder.embed(list(texts), input_type=input_type)
        if texts and batch.vectors.shape[1] != vector.size:
            raise dimension_mismatch(vector, int(batch.vectors.shape[1]), embedder)
        return batch

    return embed
