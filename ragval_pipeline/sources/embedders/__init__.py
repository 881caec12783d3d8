"""Embedders: turning texts into vectors exactly as the collection's ingestion did.

What lives here: the names that other rooms use. What does not: any provider (one file each).
"""

from __future__ import annotations

from ragval_pipeline.sources.embedders.base import (
    Embedder,
    EmbeddingBatch,
    EmbeddingCost,
    InputType,
    check_batch,
)
from ragval_pipeline.sources.embedders.cache import CachingEmbedder
from ragval_pipeline.sources.embedders.configuration import check_configuration
from ragval_pipeline.sources.embedders.models import known_dimension, known_limit
from ragval_pipeline.sources.embedders.opening import open_embedder

__all__ = [
    "CachingEmbedder",
    "Embedder",
    "EmbeddingBatch",
    "EmbeddingCost",
    "InputType",
    "check_batch",
    "check_configuration",
    "known_dimension",
    "known_limit",
    "open_embedder",
]
