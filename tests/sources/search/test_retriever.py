from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from ragval_pipeline import Retriever
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.sources.search.retriever import RetrievalResponse, ValidationError
from ragval_pipeline.suite.model import Suite
from tests.support.cohere_server import CohereStandIn, hashed_vector, unused_url
from tests.support.qdrant_server import QdrantStandIn

CANARY = "CANARY-7b1d"
SIZE = 64
WHOLE_WAY = ["VALIDATING", "EMBEDDING", "SEARCHING", "FORMATTING", "COMPLETE"]
TEXTS = ("robots walk on two legs", "cameras see depth", "speech becomes action")
MD5 = hashlib.md5(b"https://x.org/a_0").hexdigest()


@pytest.fixture
def cohere() -> Iterator[CohereStandIn]:
    with CohereStandIn(dimension=SIZE) as server:
        yield server


@pytest.fixture
def qdrant() -> Iterator[QdrantStandIn]:
    """Three chunks: an int id, an MD5 id and a UUID."""
    with QdrantStandIn(api_key=CANARY) as server:
        client = QdrantClient(url=server.url, api_key=CANARY, check_compatibility=False)
        client.create_collection("book", vectors_config=models.VectorParams(size=SIZE, distance=models.Distance.COSINE))
        ids: list[Any] = [7, MD5, "00000000-0000-0000-0000-0000000000AB"]
        points = [
            models.PointStruct(id=name, vector=hashed_vector(text, SIZE), payload=payload(text, number))
            for number, (name, text) in enumerate(zip(ids, TEXTS, strict=True))
        ]
        client.upsert("book", points, wait=True)
        client.close()
        server.asked.clear()
        yield server


def payload(text: str, number: int) -> dict[str, Any]:
    return {
        "url": f"https://x.org/{number}", "title": f"Page {number}", "chunk_index": number, "content": text,
        "token_count": 5, "embedded_at": "2025-12-27T10:00:00" if number else 1766829600,
    }  # fmt: skip


def suite_of(cohere: str, qdrant: str, **retry: Any) -> Suite:
    names = {"text": "content", "source_url": "url", "title": "title", "chunk_index": "chunk_index"}
    return Suite.model_validate(
        {
            "suite": "book",
            "qdrant": {"url": qdrant, "api_key": CANARY, "collection": "book", "timeout_s": 5},
            "payload": {"fields": {**names, "token_count": "token_count", "embedded_at": "embedded_at"}},
            "embedding": {"provider": "cohere", "base_url": cohere, "api_key": CANARY, "model": "their-model"},
            "retrieval": {"top_k": 2, "min_similarity": 0.5},
            "retry": {"max": 0, "delay_s": 0.01, **retry},
            "queries": [],
        }
    )


@pytest.fixture
def suite(cohere: CohereStandIn, qdrant: QdrantStandIn) -> Suite:
    return suite_of(cohere.url, qdrant.url)


def search(suite: Suite, text: str = TEXTS[0], **more: Any) -> RetrievalResponse:
    return Retriever(suite).search(text, **more)


def test_a_response_has_every_field_of_the_seed(suite: Suite) -> None:
    response = search(suite).model_dump()
    assert set(response) == {
        "query", "results", "total_found", "search_time_ms", "status", "message", "states", "retries",
    }  # fmt: skip
    assert set(response["results"][0]) == {
        "chunk_id", "content", "source_url", "source_title", "chunk_index", "token_count", "similarity_score",
        "embedded_at",
    }  # fmt: skip


def test_a_search_that_finds_something_is_a_success(suite: Suite) -> None:
    response = search(suite)
    [result] = response.results
    assert (response.status, response.total_found, response.states) == ("success", 1, WHOLE_WAY)
    assert (result.content, result.source_url, result.source_title) == (TEXTS[0], "https://x.org/0", "Page 0")
    assert (result.chunk_index, result.token_count, result.embedded_at) == (0, 5, "2025-12-27T10:00:00.000Z")
    assert result.similarity_score == pytest.approx(1.0, abs=1e-5)
    assert response.search_time_ms > 0
    assert "1 of 2" in response.message


def test_whole_numbers_stay_and_md5_sums_come_back_dashed(suite: Suite) -> None:
    found = {hit.content: hit.chunk_id for hit in search(suite, " ".join(TEXTS), top_k=3, score_threshold=0).results}
    assert found[TEXTS[0]] == "7"
    assert found[TEXTS[1]] == "-".join((MD5[:8], MD5[8:12], MD5[12:16], MD5[16:20], MD5[20:]))
    assert found[TEXTS[2]] == "00000000-0000-0000-0000-0000000000ab"


def test_top_k_and_threshold_are_the_suites_unless_given(suite: Suite) -> None:
    everything = " ".join(TEXTS)
    assert len(search(suite, everything).results) == 2
    assert len(search(suite, everything, top_k=1).results) == 1
    assert search(suite, everything, score_threshold=0.99).results == []


def test_nothing_above_the_threshold_is_no_match_and_says_the_best_score(suite: Suite) -> None:
    response = search(suite, "quantum banking law", score_threshold=1.0)
    assert (response.status, response.results, response.total_found) == ("no_matches", [], 0)
    assert response.states == WHOLE_WAY
    assert "the best scores" in response.message


@pytest.mark.parametrize(
    ("text", "more", "says"),
    [
        ("", {}, "must not be empty"),
        (" \n\t ", {}, "must not be empty"),
        ("\u200b\ufeff \u2060", {}, "must not be empty"),
        (None, {}, "must not be empty"),
        ("x" * 8001, {}, "8001 characters"),
        ("x", {"top_k": 0}, "from 1 to 50"),
        ("x", {"top_k": 51}, "from 1 to 50"),
        ("x", {"top_k": True}, "from 1 to 50"),
        ("x", {"top_k": 2.0}, "from 1 to 50"),
        ("x", {"score_threshold": -0.01}, "from 0.0 to 1.0"),
        ("x", {"score_threshold": 1.01}, "from 0.0 to 1.0"),
        ("x", {"score_threshold": True}, "from 0.0 to 1.0"),
        ("x", {"score_threshold": float("nan")}, "from 0.0 to 1.0"),
    ],
)
def test_wrong_input_is_refused_before_any_call(
    suite: Suite, cohere: CohereStandIn, qdrant: QdrantStandIn, text: Any, more: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValidationError, match=says):
        search(suite, text, **more)
    assert (cohere.requests, qdrant.asked) == ([], [])


def test_a_suite_may_ask_for_more_hits_than_a_caller(cohere: CohereStandIn, qdrant: QdrantStandIn) -> None:
    settings = suite_of(cohere.url, qdrant.url)
    generous = settings.model_copy(update={"retrieval": settings.retrieval.model_copy(update={"top_k": 60})})
    assert search(generous, " ".join(TEXTS), score_threshold=0).total_found == len(TEXTS)
    with pytest.raises(ValidationError, match="from 1 to 50"):
        search(generous, top_k=60)


def test_8000_characters_and_50_results_are_allowed(suite: Suite) -> None:
    assert search(suite, "x" * 8000, top_k=50, score_threshold=1.0).status == "no_matches"


def test_special_characters_and_other_languages_are_searched_for(suite: Suite) -> None:
    assert search(suite, "روبوٹ کیسے چلتا ہے؟ 🤖 'DROP' \\", score_threshold=0).status == "success"


def test_a_text_of_8000_characters_is_searched_for_where_production_cuts_it(suite: Suite) -> None:
    text = (f"{TEXTS[0]} " * 400)[:8000]
    refused = search(suite, text, score_threshold=0)
    assert (refused.status, refused.states[-1]) == ("error", "EmbeddingError")
    cutting = suite.model_copy(update={"embedding": suite.embedding.model_copy(update={"long_queries": "cut"})})
    assert search(cutting, text, score_threshold=0).status == "success"


def test_an_embedder_that_fails_is_an_error_and_qdrant_is_not_asked(
    suite: Suite, cohere: CohereStandIn, qdrant: QdrantStandIn
) -> None:
    cohere.fail("401", message=f"invalid api token {CANARY}")
    response = search(suite)
    assert (response.status, response.results, response.total_found) == ("error", [], 0)
    assert response.states == ["VALIDATING", "EMBEDDING", "EmbeddingError"]
    assert qdrant.asked == []
    assert CANARY not in response.model_dump_json()
    assert "\n" not in response.message


def test_an_embedder_that_is_not_there_is_an_embedding_error(qdrant: QdrantStandIn) -> None:
    response = search(suite_of(unused_url(), qdrant.url))
    assert response.states[-1] == "EmbeddingError"
    assert CANARY not in response.model_dump_json()


@pytest.mark.parametrize("fault", ["503", "401", "reset", "echo", "truncated"])
def test_a_qdrant_that_fails_is_a_search_error(suite: Suite, qdrant: QdrantStandIn, fault: str) -> None:
    qdrant.fail(fault)
    response = search(suite)
    assert (response.status, response.results) == ("error", [])
    assert response.states == ["VALIDATING", "EMBEDDING", "SEARCHING", "SearchError"]
    assert CANARY not in response.model_dump_json()


def test_a_qdrant_that_is_not_there_is_a_search_error_after_embedding(cohere: CohereStandIn) -> None:
    response = search(suite_of(cohere.url, unused_url()))
    assert response.states[-2:] == ["SEARCHING", "SearchError"]
    assert "Qdrant" in response.message
    assert len(cohere.requests) == 1


def test_an_embedded_folder_that_is_not_there_is_a_search_error_in_a_with_too(
    cohere: CohereStandIn, tmp_path: Path
) -> None:
    settings = suite_of(cohere.url, "http://x").model_dump(mode="json", exclude_unset=True)
    settings["qdrant"] = {"path": str(tmp_path / "none"), "collection": "book"}
    settings["embedding"]["api_key"] = CANARY
    with Retriever(Suite.model_validate(settings)) as retriever:
        assert retriever.search("robots").states[-1] == "SearchError"


def test_a_missing_collection_is_a_search_error_with_similar_names(
    cohere: CohereStandIn, qdrant: QdrantStandIn
) -> None:
    suite = suite_of(cohere.url, qdrant.url)
    other = suite.model_copy(update={"qdrant": suite.qdrant.model_copy(update={"collection": "books"})})
    response = search(other)
    assert response.status == "error"
    assert "Did you mean book?" in response.message


def test_an_embedder_that_does_not_fit_the_collection_is_an_error(qdrant: QdrantStandIn) -> None:
    with CohereStandIn(dimension=SIZE * 2) as other:
        response = search(suite_of(other.url, qdrant.url))
    assert response.status == "error"
    assert response.states[-1] in {"EmbeddingError", "SearchError"}


def test_a_failed_call_is_tried_again_and_counted(cohere: CohereStandIn, qdrant: QdrantStandIn) -> None:
    cohere.fail("503", times=1)
    qdrant.fail("503", times=1, path="/points/query")
    response = search(suite_of(cohere.url, qdrant.url, max=3))
    assert (response.status, response.retries) == ("success", 2)


def test_used_in_a_with_it_searches_again_and_again_on_one_connection(suite: Suite) -> None:
    with Retriever(suite) as retriever:
        first = retriever.search(TEXTS[0])
        second = retriever.search(TEXTS[1])
        again = retriever.search(TEXTS[0])
    assert [hit.content for hit in second.results] == [TEXTS[1]]
    assert first.results == again.results
    assert Retriever(suite).search(TEXTS[0]).results == first.results


def test_a_failure_in_a_with_does_not_spoil_the_next_search(suite: Suite, qdrant: QdrantStandIn) -> None:
    with Retriever(suite) as retriever:
        qdrant.fail("503")
        assert retriever.search(TEXTS[0]).status == "error"
        qdrant.heal()
        assert retriever.search(TEXTS[0]).status == "success"


def test_of_distances_the_smaller_reaches_the_threshold(cohere: CohereStandIn, qdrant: QdrantStandIn) -> None:
    client = QdrantClient(url=qdrant.url, api_key=CANARY, check_compatibility=False)
    space = models.VectorParams(size=SIZE, distance=models.Distance.EUCLID)
    client.create_collection("far", vectors_config=space)
    rows = [models.PointStruct(id=n, vector=hashed_vector(text, SIZE), payload={}) for n, text in enumerate(TEXTS)]
    client.upsert("far", rows, wait=True)
    client.close()
    suite = suite_of(cohere.url, qdrant.url)
    far = suite.model_copy(update={"qdrant": suite.qdrant.model_copy(update={"collection": "far"})})
    assert [hit.chunk_id for hit in search(far, score_threshold=0.1).results] == ["0"]


def test_fields_of_another_type_are_null(suite: Suite, qdrant: QdrantStandIn) -> None:
    client = QdrantClient(url=qdrant.url, api_key=CANARY, check_compatibility=False)
    odd = {"url": 5, "title": ["x"], "chunk_index": True, "content": None, "token_count": "5"}
    client.upsert("book", [models.PointStruct(id=7, vector=hashed_vector(TEXTS[0], SIZE), payload=odd)], wait=True)
    client.close()
    [result] = search(suite).results
    values = result.model_dump(exclude={"chunk_id", "similarity_score"})
    assert set(values.values()) == {None}


def test_settings_that_are_wrong_by_themselves_are_refused_at_once(cohere: CohereStandIn) -> None:
    settings = suite_of(cohere.url, "http://x").model_dump(mode="json", exclude_unset=True)
    settings["qdrant"]["api_key"] = settings["embedding"]["api_key"] = None
    with pytest.raises(SuiteError, match="needs a key"):
        Retriever(Suite.model_validate(settings))
