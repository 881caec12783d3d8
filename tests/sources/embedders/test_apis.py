from __future__ import annotations

import logging
import traceback
from functools import partial
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.embedders.http_apis import http_embedder
from ragval_pipeline.sources.embedders.reembedding import is_refusal
from ragval_pipeline.suite.sections import RetrySettings
from tests.support.api_standins import OpenAIStandIn, VoyageStandIn
from tests.support.cohere_server import hashed_vector, unused_url

KEY = "canary-key"
FAST = RetrySettings(max=2, delay_s=0.0, deadline_s=20)
APIS = {
    "openai": (OpenAIStandIn, partial(http_embedder, "openai"), "their-model"),
    "voyage": (VoyageStandIn, partial(http_embedder, "voyage"), "their-model"),
}


@pytest.fixture(params=APIS)
def api(request):
    stand_in, embedder, model = APIS[request.param]
    with stand_in(dimension=64) as server:

        def made(**settings):
            chosen = {"model": model, "api_key": KEY, "base_url": server.url, "policy": FAST, **settings}
            return embedder(sleep=server.slept.append, **chosen)

        server.slept = []
        server.made = made
        server.provider = request.param
        yield server


def failed(embedder, *texts, input_type="search_query"):
    with pytest.raises(SystemFailure) as caught:
        embedder.embed(texts or ["a robot"], input_type=input_type)
    assert caught.value.code == "embedder.unreachable"
    return caught.value


def test_many_texts_are_several_calls_with_rows_in_order_and_tokens_added_up(api):
    texts = [f"robot number {number}" for number in range(100)]
    batch = api.made().embed(texts, input_type="search_document")
    assert np.allclose(batch.vectors, [hashed_vector(text, 64) for text in texts])
    assert batch.calls == len(api.requests) == {"openai": 4, "voyage": 2}[api.provider]
    assert (batch.inputs, batch.billed_tokens) == (100, 300.0)


def test_long_texts_are_split_into_calls_before_one_is_too_large(api):
    texts = [f"{number} " + "x" * 60_000 for number in range(5)]
    batch = api.made().embed(texts, input_type="search_document")
    assert batch.calls == len(api.requests) >= 3
    assert np.allclose(batch.vectors, [hashed_vector(text, 64) for text in texts])


def test_what_goes_over_the_wire(api):
    model = {"openai": "text-embedding-3-small", "voyage": "voyage-3.5"}[api.provider]
    for input_type in ("search_query", "search_document"):
        api.made(model=model, dimension=256).embed(["a robot"], input_type=input_type)
    bodies = [request.body for request in api.requests]
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in api.requests)
    if api.provider == "openai":
        sent = {"input": ["a robot"], "model": model, "dimensions": 256, "encoding_format": "float"}
        assert bodies == [sent, sent]
    else:
        assert [(body["input_type"], body["truncation"]) for body in bodies] == [("query", False), ("document", True)]
        assert [body["output_dimension"] for body in bodies] == [256, 256]


@pytest.mark.parametrize("mode", ["429", "500", "503", "html", "reset", "half"])
def test_what_may_pass_is_tried_again_and_the_tries_are_counted(api, mode):
    api.fail(mode, times=1)
    batch = api.made().embed(["a robot"], input_type="search_query")
    assert (batch.calls, batch.tries, len(api.requests)) == (1, 2, 2)


@pytest.mark.parametrize(
    ("mode", "message", "tries", "remedy"),
    [
        ("429", None, 3, "rate limit"),
        ("503", None, 3, "try again later"),
        ("401", "bad key canary-key", 1, "Check the key"),
        ("400", "this model is unknown", 1, "embedding.model"),
        ("422", "input should be valid", 1, "embedding.dimension"),
    ],
)
def test_an_error_that_stays_ends_with_its_status_and_what_to_do(api, mode, message, tries, remedy):
    api.fail(mode, message=message)
    failure = failed(api.made())
    assert (failure.attempts, len(api.requests)) == (tries, tries)
    assert failure.details == {"provider": api.provider, "model": "their-model", "status": int(mode)}
    assert remedy in failure.remedy
    assert KEY not in str(failure)


def test_a_wait_that_is_longer_than_the_deadline_is_quoted_and_not_waited_for(api):
    api.fail("429", headers={"Retry-After": "3600"})
    failure = failed(api.made())
    assert (failure.attempts, len(api.requests)) == (1, 1)
    assert "HTTP 429 and asks to wait 3,600 s" in failure.problem
    assert "retry.deadline_s" in failure.remedy


def test_a_used_up_quota_is_not_waited_for():
    with OpenAIStandIn() as server:
        server.fail("429", message="You exceeded your current quota", headers={"Retry-After": "60"})
        failure = failed(http_embedder("openai", model="m", api_key=KEY, base_url=server.url, policy=FAST))
        assert len(server.requests) == 1
        assert "billing" in failure.remedy
        assert "wait" not in failure.problem


def test_a_query_that_is_too_long_is_refused_and_says_so(api):
    api.max_words = 5
    failure = failed(api.made(), "one two three four five six")
    assert is_refusal(failure)
    assert failure.remedy.startswith("Shorten the query")
    if api.provider == "voyage":
        cut = api.made().embed(["one two three four five six"], input_type="search_document").vectors
        assert np.allclose(cut, [hashed_vector("one two three four five", 64)])


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("short", "1 vectors were returned"),
        ("empty", ""),
        ("nan", "NaN or infinity"),
        ("ragged", "equally long"),
        ("wrong_dimension", "63 dimensions instead of 64"),
        ("no_embeddings", ""),
        ("html_ok", ""),
    ],
)
def test_a_malformed_answer_is_a_failure_and_never_a_vector(api, mode, words):
    api.fail(mode)
    failure = failed(api.made(dimension=64), "a robot", "another robot")
    assert failure.subject == "malformed answer"
    assert failure.details["status"] == 200
    assert words in failure.problem
    assert urlsplit(api.url).netloc in failure.problem


def test_who_does_not_answer_is_named(api):
    failure = failed(api.made(base_url=f"{unused_url()}/v1"))
    assert (failure.subject, failure.attempts) == ("connection refused", 3)
    api.delay_s = 1.0
    api.fail("slow")
    failure = failed(api.made(timeout_s=0.1, policy=RetrySettings(max=0)))
    assert (failure.subject, failure.details["status"]) == ("timed out", None)


@pytest.mark.parametrize("mode", ["401", "429", "500", "reset", "html_ok"])
def test_neither_key_nor_password_is_in_a_message_a_traceback_or_a_log(api, mode, caplog):
    caplog.set_level(logging.DEBUG)
    api.fail(mode, message=f"no {KEY}", headers={"x-echo": KEY})
    failure = failed(api.made(base_url=api.url.replace("http://", "http://user:canary-password@")))
    shown = "".join(traceback.format_exception(failure))
    assert "canary" not in shown
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("ragval")]
    assert not [line for line in ours if "canary" in line]


def test_azure_gets_its_version_with_every_request_and_a_closed_embedder_opens_again():
    with OpenAIStandIn(dimension=64) as server:
        embedder = http_embedder(
            "openai", model="my-deployment", api_key=KEY, base_url=f"{server.url}?api-version=2024-10-21"
        )
        for _ in range(2):
            embedder.embed(["a robot"], input_type="search_query")
            embedder.close()
        assert [request.path for request in server.requests] == ["/v1/embeddings?api-version=2024-10-21"] * 2


def test_what_an_account_of_openai_has_beside_its_key_goes_with_every_request(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    with OpenAIStandIn(dimension=64) as server:
        http_embedder("openai", model="m", api_key=KEY, base_url=server.url).embed(["a"], input_type="search_query")
        assert server.requests[0].headers["openai-organization"] == "org-1"
        assert "openai-project" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("provider", "key", "host"),
    [
        ("voyage", "pa-1", "api.voyageai.com"),
        ("voyage", "al-1", "ai.mongodb.com"),
        ("openai", "sk-1", "api.openai.com"),
    ],
)
def test_a_key_goes_to_the_host_that_issued_it(provider, key, host, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    embedder = http_embedder(provider, model="m", api_key=key)
    asked = []

    def send(request):
        asked.append(request.url)
        return httpx.Response(200, json={"data": [{"embedding": [1.0], "index": 0}], "usage": {}})

    embedder.__dict__["_client"] = httpx.Client(transport=httpx.MockTransport(send))
    assert embedder.embed(["a"], input_type="search_query").billed_tokens is None
    assert str(asked[0]) == f"https://{host}/v1/embeddings"
