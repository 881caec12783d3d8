from __future__ import annotations

import logging
import traceback

import numpy as np
import pytest

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.sources.embedders.cohere import CohereEmbedder
from ragval_pipeline.suite.sections import RetrySettings
from tests.support.cohere_server import CohereStandIn, hashed_vector

KEY = "canary-3f9a-key"
QUICK = RetrySettings(max=2, delay_s=0.01, deadline_s=20)


@pytest.fixture
def cohere():
    with CohereStandIn(delay_s=1.0) as standin:
        yield standin


def embedder(cohere: CohereStandIn, **settings) -> CohereEmbedder:
    defaults = {"model": "embed-english-v3.0", "api_key": KEY, "base_url": cohere.url, "policy": QUICK, "timeout_s": 10}
    return CohereEmbedder(**{**defaults, **settings})


def failure(cohere: CohereStandIn, **settings) -> SystemFailure:
    with pytest.raises(SystemFailure) as caught:
        embedder(cohere, **settings).embed(["some words", "more words"], input_type="search_query")
    assert caught.value.code == "embedder.unreachable"
    assert caught.value.system == "embedder"
    return caught.value


def test_200_texts_are_three_calls_of_96_96_and_8_with_rows_in_order(cohere):
    texts = [f"text number {n}" for n in range(200)]
    batch = embedder(cohere).embed(texts, input_type="search_document")
    assert [len(request.body["texts"]) for request in cohere.requests] == [96, 96, 8]
    assert [text for request in cohere.requests for text in request.body["texts"]] == texts
    assert batch.vectors.shape == (200, 1024)
    assert batch.vectors.dtype == np.float32
    assert np.allclose(batch.vectors, [hashed_vector(text) for text in texts])
    assert (batch.calls, batch.inputs, batch.tries, batch.waited_s) == (3, 200, 3, 0.0)
    assert batch.billed_tokens == 600.0
    assert batch.elapsed_s > 0


def test_what_goes_over_the_wire(cohere):
    embedder(cohere).embed(["a question"], input_type="search_query")
    embedder(cohere).embed(["a chunk"], input_type="search_document")
    query, document = cohere.requests
    assert query.path == "/v2/embed"
    assert query.headers["authorization"] == f"Bearer {KEY}"
    assert query.body == {
        "model": "embed-english-v3.0",
        "texts": ["a question"],
        "input_type": "search_query",
        "embedding_types": ["float"],
        "truncate": "NONE",
    }
    assert (document.body["input_type"], document.body["truncate"]) == ("search_document", "END")


def test_a_dimension_is_asked_for_only_where_the_model_lets_one_choose(cohere):
    version_4 = embedder(cohere, model="embed-v4.0", dimension=256)
    assert version_4.embed(["a"], input_type="search_query").vectors.shape == (1, 256)
    embedder(cohere, dimension=1024).embed(["a"], input_type="search_query")
    assert cohere.requests[0].body["output_dimension"] == 256
    assert "output_dimension" not in cohere.requests[1].body


def test_an_unknown_model_learns_its_dimension_from_the_first_answer(cohere):
    unknown = embedder(cohere, model="their-new-model")
    assert unknown.dimension is None
    unknown.embed(["a"], input_type="search_query")
    assert unknown.dimension == 1024


def test_no_texts_make_no_call(cohere):
    batch = embedder(cohere).embed([], input_type="search_query")
    assert (batch.vectors.shape, batch.calls, cohere.requests) == ((0, 1024), 0, [])


def test_an_answer_without_billing_leaves_the_tokens_unknown():
    with CohereStandIn(billed=False) as cohere:
        assert embedder(cohere).embed(["a"], input_type="search_query").billed_tokens is None


@pytest.mark.parametrize("status", ["408", "409", "429", "500", "503"])
def test_a_passing_error_is_tried_again_and_the_tries_are_counted(cohere, status):
    cohere.fail(status, times=2)
    batch = embedder(cohere).embed(["a"], input_type="search_query")
    assert len(cohere.requests) == 3
    assert (batch.calls, batch.tries, batch.inputs) == (1, 3, 1)
    assert 0.02 <= batch.waited_s < 1


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("400", "embedding.model"),
        ("401", "Check the key in embedding.api_key"),
        ("403", "rights of the key"),
        ("404", "Check embedding.model"),
        ("422", "embedding.dimension"),
        ("498", "does not accept"),
        ("418", "embedding.base_url"),
    ],
)
def test_an_error_that_will_not_pass_is_tried_once_and_says_what_to_do(cohere, status, remedy):
    cohere.fail(status)
    error = failure(cohere)
    assert len(cohere.requests) == 1
    assert (error.attempts, error.subject) == (1, f"HTTP {status}")
    assert remedy in error.remedy
    assert f"answered HTTP {status}" in str(error)
    assert cohere.url.removeprefix("http://") in str(error)


def test_a_misspelt_model_is_answered_with_the_near_name(cohere):
    cohere.fail("404")
    assert "Did you mean the model embed-english-v3.0?" in failure(cohere, model="embed-english-v3").remedy
    assert "Did you mean" not in failure(cohere, model="embed-english-v3.0").remedy


def test_an_over_long_query_is_an_error_and_an_over_long_chunk_is_cut_as_ingestion_cut_it():
    with CohereStandIn(max_words=5) as cohere:
        model = embedder(cohere)
        long_text = "one two three four five six"
        with pytest.raises(SystemFailure, match="too many tokens") as caught:
            model.embed([long_text], input_type="search_query")
        assert "Shorten the query" in caught.value.remedy
        chunk = model.embed([long_text], input_type="search_document").vectors[0]
        assert np.allclose(chunk, hashed_vector("one two three four five"))


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("short", "2 texts were sent, 1 vectors were returned"),
        ("empty", "2 texts were sent, 0 vectors were returned"),
        ("wrong_dimension", "1023 dimensions instead of 1024"),
        ("nan", "vector 2 of 2 holds NaN"),
        ("ragged", "not a list of equally long lists"),
        ("no_embeddings", "has no float embeddings"),
        ("html_ok", "something that is not an embedding"),
    ],
)
def test_a_malformed_answer_is_a_failure_and_never_a_vector(cohere, mode, words):
    cohere.fail(mode)
    error = failure(cohere)
    assert error.subject == "malformed answer"
    assert words in str(error)
    assert len(cohere.requests) == 1
    assert (error.details["status"], error.attempts) == (200, 1)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"null",
        b'"text"',
        b"7",
        b"{}",
        b"{",
        b"",
        b"\xff\xfe\xfd",
        b'{"embeddings": []}',
        b'{"embeddings": {"float": null}, "response_type": "embeddings_by_type"}',
        b'{"embeddings": {"float": "abc"}, "response_type": "embeddings_by_type"}',
        b'{"embeddings": {"float": [["a", "b"], []]}, "response_type": "embeddings_by_type"}',
        b'{"embeddings": {"float": {"0": [1]}}, "meta": [], "response_type": "embeddings_by_type"}',
    ],
)
def test_no_body_with_status_200_gets_past_the_check(cohere, body):
    cohere.fail("raw")
    cohere.raw_body = body
    assert failure(cohere).subject == "malformed answer"


@pytest.mark.parametrize("key", [None, "", "   ", "\n"])
def test_a_blank_key_is_a_suite_error_before_any_call(cohere, key, monkeypatch):
    monkeypatch.setenv("CO_API_KEY", "the SDK would take this one")
    with pytest.raises(SuiteError) as caught:
        embedder(cohere, api_key=key)
    assert caught.value.key == "embedding.api_key"
    assert cohere.requests == []


@pytest.mark.parametrize("status", ["401", "429", "500"])
def test_neither_the_key_nor_a_header_is_in_a_message_a_traceback_or_a_log(cohere, status, caplog):
    caplog.set_level(logging.DEBUG)
    echo = f"bad key {KEY} " + "x" * 180 + KEY
    cohere.fail(status, message=echo, headers={"X-Canary": "canary-header"})
    model = embedder(cohere)
    with pytest.raises(SystemFailure) as caught:
        model.embed(["a"], input_type="search_query")
    error = caught.value
    shown = "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(model) + repr(model._endpoint)
    assert "canary" not in shown
    assert "bad key [key]" in str(error)
    assert "canary" not in str(error.__context__)
    assert caplog.records  # httpx does log its calls
    assert not any(KEY in record.getMessage() for record in caplog.records)


def test_lone_surrogates_do_not_break_a_call(cohere):
    embedder(cohere).embed(["broken \ud800 text"], input_type="search_document")
    assert cohere.requests[0].body["texts"] == ["broken \ufffd text"]


def test_the_sdks_environment_variable_is_read_when_the_embedder_is_made(cohere, monkeypatch):
    monkeypatch.setenv("CO_API_URL", cohere.url)
    embedder(cohere, base_url=None).embed(["a"], input_type="search_query")
    assert len(cohere.requests) == 1


def test_a_closed_embedder_opens_again_when_it_is_asked(cohere):
    model = embedder(cohere)
    model.embed(["a"], input_type="search_query")
    model.close()
    model.close()
    model.embed(["b"], input_type="search_query")
    assert len(cohere.requests) == 2
