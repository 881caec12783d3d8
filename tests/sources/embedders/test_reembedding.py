from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.sources.embedders.base import EmbeddingBatch
from ragval_pipeline.sources.embedders.cohere import CohereEmbedder
from ragval_pipeline.sources.embedders.reembedding import cut_short, embed_each, embed_like, too_long
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
from tests.support.cohere_server import CohereStandIn


def vector(size: int) -> VectorFacts:
    return VectorFacts(name=None, size=size, distance="Cosine")


def test_vectors_that_fit_the_collection_come_as_they_are() -> None:
    batch = embed_like(StaticEmbedder(), vector(256))(["a robot", "a page"], "search_document")
    assert batch.vectors.shape == (2, 256)


def test_a_dimension_that_is_known_beforehand_costs_no_call() -> None:
    class Unused(StaticEmbedder):
        def embed(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("was called")

    with pytest.raises(NotMeasurableError, match=r"128 dimensions, but .* returns 256"):
        embed_like(Unused(), vector(128))(["a robot"], "search_document")


def test_a_model_that_can_give_the_collections_dimension_is_set_to_it() -> None:
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


@pytest.mark.parametrize(("times", "problem"), [(0, "a vector of zeros"), (1, "the same vector")])
def test_a_model_that_embeds_all_texts_alike_gave_a_malformed_answer(times: int, problem: str) -> None:
    class Alike(StaticEmbedder):
        def embed(self, texts: Any, **_: Any) -> EmbeddingBatch:
            return EmbeddingBatch(vectors=np.full((len(texts), 256), times, dtype=np.float32))

    with pytest.raises(SystemFailure, match=f"each of 3 different texts was embedded to {problem}"):
        embed_each(Alike(), vector(256), ["a robot", "a page", "an arm"], "search_query")
    assert embed_each(Alike(), vector(256), ["a robot", "a page"], "search_query").refused.keys() in (
        set(), {"a robot", "a page"},
    )  # fmt: skip


QUERIES = [f"Where is part {number} of the valve described?" for number in range(120)]


def cohere_at(server: CohereStandIn, **settings: Any) -> CohereEmbedder:
    return CohereEmbedder(
        **{"model": "embed-english-v3.0", "api_key": "a-test-key", "base_url": server.url, **settings}
    )


def test_what_the_provider_refuses_is_found_by_halving_and_the_rest_is_embedded() -> None:
    # By the offline estimate these may be short enough; the provider counts otherwise.
    long = ["the " * 400, "and " * 450]
    with CohereStandIn(max_words=300) as server:
        found = embed_each(cohere_at(server), vector(1024), [long[0], *QUERIES, long[1]], "search_query")
        assert len(server.requests) < 25
    assert set(found.refused) == set(long)
    assert all("too many tokens" in reason for reason in found.refused.values())
    assert set(found.vectors) == set(QUERIES)


def test_what_is_surely_too_long_is_not_sent() -> None:
    essay = "How far does the robot's arm reach over the table? " * 200
    with CohereStandIn() as server:
        found = embed_each(cohere_at(server), vector(1024), [essay, *QUERIES[:3]], "search_query")
        sent = [text for request in server.requests for text in request.body["texts"]]
    assert sorted(sent) == sorted(QUERIES[:3])
    assert list(found.refused) == [essay]
    assert "embed-english-v3.0 reads 512" in found.refused[essay]


def test_a_query_that_may_be_cut_is_sent_and_named_with_what_the_model_reads_of_it() -> None:
    essay = "How far does the robot's arm reach over the table? " * 200
    with CohereStandIn() as server:
        embedder = cohere_at(server, cut_queries=True)
        found = embed_each(embedder, vector(1024), [essay, *QUERIES[:3]], "search_query")
        assert {request.body["truncate"] for request in server.requests} == {"END"}
        whole = cohere_at(server)
        assert (list(too_long(whole, [essay], "search_query")), cut_short(whole, [essay])) == ([essay], {})
    assert (set(found.vectors), found.refused) == ({essay, *QUERIES[:3]}, {})
    [told] = cut_short(embedder, [essay, *QUERIES]).values()
    assert told.endswith(" tokens, of which embed-english-v3.0 reads the first 512")
    assert cut_short(StaticEmbedder(), [essay]) == {}, "it reads texts of any length"


def test_a_request_that_is_wrong_by_itself_is_the_failure_of_all_after_two_calls() -> None:
    with CohereStandIn() as server:
        server.fail("400")
        with pytest.raises(SystemFailure, match="HTTP 400"):
            embed_each(cohere_at(server), vector(1024), QUERIES[:50], "search_query")
        assert len(server.requests) == 2


def test_documents_are_never_too_long_for_they_are_cut() -> None:
    with CohereStandIn(max_words=50) as server:
        found = embed_each(cohere_at(server), vector(1024), ["valve " * 4000], "search_document")
    assert found.refused == {}
