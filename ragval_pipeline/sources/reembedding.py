"""Embedding stored texts again, held to the collection's dimension.

What lives here: the calls. What does not: comparing the vectors (``validation/vectors``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.sources.answers import dimension_mismatch
from ragval_pipeline.sources.embedders.base import Embedder, InputType
from ragval_pipeline.sources.qdrant.facts import VectorFacts

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Vectors


def embed_like(embedder: Embedder, vector: VectorFacts) -> Callable[[Sequence[str], InputType], Vectors]:
    """A function that embeds texts, and refuses when its vectors do not fit the collection.

    Args:
        embedder: Embeds.
        vector: What the collection's vectors are like.

    Returns:
        From texts and input type to a float32 array of shape (number of texts, dimension of the collection). It raises
        ``NotMeasurableError`` (``vector.dimension``) without a call where the dimension is known beforehand.
    """

    def embed(texts: Sequence[str], input_type: InputType) -> Vectors:
        if embedder.dimension is not None and embedder.dimension != vector.size:
            raise dimension_mismatch(vector, embedder.dimension, embedder)
        vectors = embedder.embed(list(texts), input_type=input_type).vectors
        if texts and vectors.shape[1] != vector.size:
            raise dimension_mismatch(vector, int(vectors.shape[1]), embedder)
        return vectors

    return embed
