from __future__ import annotations

import contextlib
from contextlib import closing
from functools import partial

import httpx
import pytest
from cohere.core.api_error import ApiError
from cohere.core.parse_error import ParsingError

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.embedders import failures
from ragval_pipeline.sources.embedders.cohere import CohereEmbedder
from ragval_pipeline.sources.embedders.failures import Endpoint
from ragval_pipeline.sources.embedders.http_apis import http_embedder
from ragval_pipeline.suite.sections import RetrySettings
from tests.support.http_host import raw_server

ENDPOINT = Endpoint("https://gateway.example/cohere", "embed-english-v3.0", "canary-key")
CERTIFICATE = httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")


def fault_of(error):
    return CohereEmbedder(model="embed-english-v3.0", api_key="canary-key")._fault(error)


def classify(error):
    return failures.verdict_of(error, fault_of(error))


def failure_of(error, endpoint, *, attempts):
    return failures.failure_of(error, fault_of(error), endpoint, attempts=attempts)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 501, 502, 503, 504, 529])
def test_a_status_that_may_pass_is_worth_another_try(status):
    verdict = classify(ApiError(status_code=status, headers={"retry-after": "3"}))
    assert (verdict.retry, verdict.retry_after_s) == (True, 3.0)


@pytest.mark.parametrize(
    ("error", "retry", "subject"),
    [
        (httpx.ConnectError("[Errno 111] Connection refused"), True, "connection refused"),
        (httpx.ConnectError("[Errno -2] Name or service not known"), True, "no connection"),
        (httpx.ConnectTimeout("canary-key"), True, "timed out"),
        (httpx.ReadTimeout("canary-key"), True, "timed out"),
        (httpx.PoolTimeout("canary-key"), True, "timed out"),
        (httpx.ReadError("canary-key"), True, "connection broken"),
        (httpx.WriteError("canary-key"), True, "connection broken"),
        (httpx.RemoteProtocolError("canary-key"), True, "connection broken"),
        (CERTIFICATE, False, "TLS certificate rejected"),
        (httpx.LocalProtocolError("Illegal header value b'Bearer canary-key'"), False, "LocalProtocolError"),
        (httpx.UnsupportedProtocol("canary-key"), False, "UnsupportedProtocol"),
        (httpx.TooManyRedirects("canary-key"), False, "TooManyRedirects"),
        (httpx.InvalidURL("canary-key"), False, "InvalidURL"),
        (ParsingError(status_code=200, headers={"x": "canary-key"}, body="canary-key"), False, "malformed answer"),
        (UnicodeDecodeError("utf-8", b"canary-key", 0, 1, "canary-key"), True, "malformed answer"),
    ],
)
def test_every_broken_call_has_a_name_a_verdict_and_no_secret(error, retry, subject):
    failure = failure_of(error, ENDPOINT, attempts=2)
    assert classify(error).retry is retry
    assert failure.subject == subject
    assert failure.attempts == 2
    assert str(failure).startswith("embedder: Cohere at gateway.example")
    assert "canary" not in str(failure)
    assert failure.remedy.endswith(".")


def test_our_own_mistakes_are_not_tried_again():
    assert not classify(RuntimeError()).retry
    assert not classify(KeyboardInterrupt()).retry


@pytest.mark.parametrize(
    ("body", "quoted"),
    [
        ({"message": "invalid\n  api   token"}, ": invalid api token (tried"),
        ({"message": "x" * 150 + " canary-key " + "y" * 100}, "[key]"),
        ({"message": "x" * 195 + "canary-key"}, "x" * 195 + "[key]"),
        ({"message": "z" * 1000}, "z" * 200 + "..."),
        ("plain words", ": plain words (tried"),
    ],
)
def test_the_providers_words_are_quoted_short_on_one_line_and_without_the_key(body, quoted):
    text = str(failure_of(ApiError(status_code=401, body=body), ENDPOINT, attempts=2))
    assert quoted in text
    assert "canary" not in text
    assert "\n" not in text
    assert len(text) < 500


@pytest.mark.parametrize("status", [400, 404])
def test_a_model_that_its_maker_retired_says_that_the_index_can_not_be_searched_any_more(status):
    retired = Endpoint(None, "embed-english-v2.0", "canary-key")
    told = str(failure_of(ApiError(status_code=status, body="model not found"), retired, attempts=1))
    assert "embed-english-v2.0 was retired on 2026-04-04" in told
    assert "Embed all texts again with another model, such as embed-v4.0" in told
    own = Endpoint("https://gateway.example/cohere", "embed-english-v2.0", "canary-key")
    assert "retired" not in str(failure_of(ApiError(status_code=status, body="model not found"), own, attempts=1))


def test_an_answer_without_embeddings_is_named_with_its_host():
    def sign_in(connection, over):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<html>\r\n\r")
        with contextlib.suppress(OSError):
            connection.recv(65536)

    for kind in (CohereEmbedder, partial(http_embedder, "openai")):
        with raw_server(sign_in) as server:
            embedder = kind(model="m", api_key="k", base_url=server.url, policy=RetrySettings(max=0), timeout_s=5)
            with closing(embedder), pytest.raises(SystemFailure) as caught:
                embedder.embed(["a"], input_type="search_query")
        assert server.url.removeprefix("http://") in str(caught.value)
        assert caught.value.details["status"] == 200
