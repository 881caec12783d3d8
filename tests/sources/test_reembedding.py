from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.errors import NotMeasurableError
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.qdrant.facts import VectorFacts
from ragval_pipeline.sources.reembedding import embed_like


def vector(size: int) -> VectorFacts:
    return VectorFacts(name=None, size=size, distance="Cosine")


def test_vectors_that_fit_the_collection_come_as_they_are() -> None:
    batch = embed_like(StaticEmbedder(), vector(256))(["a robot", "a page"], "search_document")
    assert batch.vectors.shape == (2, 256)


def test_a_dimension_that_is_known_beforehand_costs_no_call() -> None:
    class Unused(StaticEmbedder):
        def embed(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("was called")

    with pytest.raises(NotMeasurableError, match=r"128 dimensions and .* makes 256"):
        embed_like(Unused(), vector(128))(["a robot"], "search_document")


def test_a_model_that_gives_the_collections_dimension_too_is_told_to() -> None:
    class Wide(StaticEmbedder):
        dimension, model = 1536, "embed-v4.0"

    with pytest.raises(NotMeasurableError) as caught:
        embed_like(Wide(), vector(1024))(["a robot"], "search_document")
    assert caught.value.remedy.startswith("Set embedding.dimension: 1024")


def test_a_dimension_that_only_the_answer_tells_is_refused_too() -> None:
    class Unknown(StaticEmbedder):
        dimension = None

    with pytest.raises(NotMeasurableError) as caught:
        embed_like(Unknown(), vector(128))(["a robot"], "search_document")
    assert caught.value.code == "vector.dimension"
    assert caught.value.details["found"] == 256
    assert embed_like(Unknown(), vector(128))([], "search_document").vectors.shape[0] == 0
