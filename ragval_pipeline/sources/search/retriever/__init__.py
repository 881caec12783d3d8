"""One search as your assistant would make it (profile ``retrieval-pipeline``): the names that others use."""

from __future__ import annotations

from ragval_pipeline.sources.search.retriever.entities import (
    RetrievalResponse,
    SearchQuery,
    SearchResult,
    ValidationError,
)
from ragval_pipeline.sources.search.retriever.retriever import Retriever

__all__ = ["RetrievalResponse", "Retriever", "SearchQuery", "SearchResult", "ValidationError"]
