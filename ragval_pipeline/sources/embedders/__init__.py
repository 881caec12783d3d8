"""Embedders: turning texts into vectors exactly as the collection's ingestion did."""

from __future__ import annotations

from ragval_pipeline.sources.embedders.opening import open_embedder

__all__ = ["open_embedder"]
