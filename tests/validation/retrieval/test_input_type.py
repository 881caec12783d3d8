from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ragval_pipeline.sources.embedders.base import EmbeddingBatch
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.retrieval.diagnosis import QueryEmbedding


class Own:
    """An embedder that tells queries and documents apart, or does not."""

    model = "own"

    def __init__(self, provider: str, *, apart: bool) -> None:
        self.provider, self.apart, self.calls = provider, apart, 0

    def embed(self, texts: Sequence[str], *, input_type: str) -> EmbeddingBatch:
        self.calls += 1
        other = self.apart and input_type == "search_query"
        return EmbeddingBatch(vectors=np.array([[1.0, 0.5 if other else 0.0]] * len(texts), dtype=np.float32))


def test_queries_as_queries_are_right_and_cost_no_call() -> None:
    embedder: Any = Own("cohere", apart=True)
    assert find_all(QueryEmbedding(embedder, "search_query", "t")) == []
    assert embedder.calls == 0


@pytest.mark.parametrize(("provider", "apart", "calls"), [("cohere", False, 0), ("mine:embed", True, 2)])
def test_queries_as_documents_are_named_where_the_model_tells_them_apart(
    provider: str, apart: bool, calls: int
) -> None:
    embedder: Any = Own(provider, apart=apart)
    [finding] = find_all(QueryEmbedding(embedder, "search_document", "t"))
    assert (finding.code, [entry.name for entry in finding.subjects]) == (
        "embedder.input_type",
        ["embedding.query_input_type"],
    )
    assert finding.remedy.index("assistant embeds its questions") < finding.remedy.index("embedding.query_input_type")
    assert embedder.calls == calls


def test_where_both_are_embedded_alike_nothing_is_said() -> None:
    other: Any = Own("mine:embed", apart=False)
    assert find_all(QueryEmbedding(other, "search_document", "t")) == []
    assert find_all(QueryEmbedding(StaticEmbedder(), "search_document", "What is a topic in ROS 2?")) == []
