from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import SecretStr
from qdrant_client import models

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.stores.qdrant import asking
from ragval_pipeline.sources.stores.qdrant.connect import open_client
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.sections import QdrantSettings, RetrySettings
from tests.support.qdrant_server import QdrantStandIn

KEY = "very-secret-key"
QUICK = RetrySettings(max=2, delay_s=0.01, deadline_s=20)


@contextlib.contextmanager
def reading(
    url: str, *, policy: RetrySettings = QUICK, key: str | None = KEY, timeout_s: float = 5, **more: Any
) -> Iterator[CollectionReader]:
    settings = QdrantSettings(
        url=url, api_key=SecretStr(key) if key else None, collection="docs", timeout_s=timeout_s, **more
    )
    with open_client(settings) as client:
        yield CollectionReader(client, collection="docs", place=url, policy=policy)


@pytest.fixture
def server() -> Iterator[QdrantStandIn]:
    with QdrantStandIn(api_key=KEY, slow_s=2.5) as running:
        with reading(running.url) as reader:
            client = reader._client
            client.create_collection("docs", vectors_config=models.VectorParams(size=2, distance="Cosine"))
            client.upsert("docs", [models.PointStruct(id=1, vector=[1.0, 0.0], payload={"a": 1})])
        yield running


def failure_of(reader: CollectionReader) -> SystemFailure:
    with pytest.raises(SystemFailure) as caught:
        list(reader.pages(None))
    message = str(caught.value)
    assert caught.value.exit_code == 3
    assert caught.value.system == "Qdrant"
    assert "\n" not in message
    assert KEY not in message + repr(caught.value.details)
    return caught.value


@pytest.mark.parametrize(
    ("fault", "said", "tries"),
    [
        ("401", "refused the key (401): simulated 401", 1),
        ("403", "does not let the key do this (403): simulated 403", 1),
        ("400", "answered with status 400: simulated 400", 1),
        ("429", "limits requests (429)", 3),
        ("500", "answered with status 500: simulated 500", 3),
        ("503", "answered with status 503", 3),
        ("302", "redirects (status 302)", 1),
        ("html404", "answered with status 404, which Qdrant does not do", 1),
        ("reset", "broke off its answer", 3),
        ("html", "answered something that is not Qdrant's", 1),
        ("truncated", "answered something that is not Qdrant's", 1),
        ("schema", "answered something that is not Qdrant's", 1),
        ("null", "answered something that is not Qdrant's", 1),
        ("echo", "answered with status 500: no shard for ***", 3),
    ],
)
def test_a_fault_is_named_counted_and_kept_to_one_line(
    server: QdrantStandIn, fault: str, said: str, tries: int
) -> None:
    server.fail(fault)
    with reading(server.url) as reader:
        failure = failure_of(reader)
        assert reader.attempts.tries == tries
    assert failure.code == "index.unreachable"
    assert said in str(failure)
    assert failure.attempts == tries
    assert server.count("/scroll") - 0 == tries
    assert ("tried 3 times" in str(failure)) is (tries == 3)
    assert server.url in str(failure)
    assert failure.remedy


def test_a_missing_collection_is_not_tried_again(server: QdrantStandIn) -> None:
    server.engine.drop({}, "docs")
    with reading(server.url) as reader:
        failure = failure_of(reader)
        assert reader.attempts.tries == 1
    assert failure.code == "index.collection_missing"


@pytest.mark.parametrize("fault", ["429", "500", "502", "503", "504", "reset"])
def test_a_passing_fault_is_overcome(server: QdrantStandIn, fault: str) -> None:
    server.fail(fault, times=2, path="/scroll")
    with reading(server.url) as reader:
        assert [entry.id for page in reader.pages(None) for entry in page] == ["1"]
        assert reader.attempts.tries == 3


def test_the_servers_own_hint_is_waited_for(server: QdrantStandIn) -> None:
    server.fail("429", times=1, path="/scroll", headers={"Retry-After": "1"})
    with reading(server.url) as reader:
        list(reader.pages(None))
        assert reader.attempts.tries == 2
        assert reader.attempts.waited_s == 1.0


def test_a_hint_beyond_the_deadline_is_not_waited_for(server: QdrantStandIn) -> None:
    server.fail("429", headers={"Retry-After": "3600"})
    with reading(server.url) as reader:
        failure = failure_of(reader)
        assert reader.attempts.waited_s == 0.0
    assert "limits requests (429) and asks to wait 3,600 s. Wait, or raise retry.max and retry" in str(failure)
    assert failure.attempts == 1


def test_a_hint_that_is_a_date_is_read(server: QdrantStandIn) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=3600), usegmt=True)
    server.fail("429", headers={"Retry-After": soon})
    with reading(server.url) as reader:
        failure = failure_of(reader)
    assert "limits requests (429)" in str(failure)
    assert failure.attempts == 1


@pytest.mark.parametrize("key", [f"{KEY}\nx", f"{KEY}-ключ", f"{KEY} {KEY}"])
def test_a_key_that_no_header_can_carry_is_named_and_never_shown(
    server: QdrantStandIn, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        pytest.raises(SystemFailure, match="could not be sent the key") as caught,
        reading(server.url, key=key) as reader,
    ):
        reader.count()
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in caplog.text


def test_a_line_break_at_the_end_of_a_key_is_no_part_of_it(server: QdrantStandIn) -> None:
    with reading(server.url, key=f" {KEY}\r\n") as reader:
        assert reader.count() == 1


def test_aliases_that_cannot_be_listed_for_another_reason_are_a_failure(server: QdrantStandIn) -> None:
    server.fail("500", path="/aliases")
    with reading(server.url) as reader, pytest.raises(SystemFailure, match="status 500"):
        reader.facts()


def test_a_field_that_the_server_refuses_is_a_failure_with_its_words(server: QdrantStandIn) -> None:
    with reading(server.url) as reader:
        reader._equal = {'"': "x"}
        failure = failure_of(reader)
    assert "status 400" in str(failure)
    assert failure.attempts == 1


def test_a_mistake_in_a_program_is_not_blamed_on_qdrant() -> None:
    class Client:
        def count(self) -> None:
            """Takes no arguments."""

    with pytest.raises(TypeError):
        CollectionReader(Client(), collection="c", place="x", policy=QUICK).count()  # type: ignore[arg-type]


def test_a_proxy_of_the_environment_is_named_where_it_may_be_to_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx
    from qdrant_client.http.exceptions import ResponseHandlingException

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "inner.example")
    refused = ResponseHandlingException(httpx.ConnectError("[Errno 111] Connection refused"))
    told = {
        host: str(asking.failure_of(refused, place=f"http://{host}:6333", tries=1))
        for host in ("outer.example", "inner.example")
    }
    assert "through the proxy of HTTP_PROXY" in told["outer.example"]
    assert "proxy" not in told["inner.example"]


def test_a_negative_count_is_not_qdrants(server: QdrantStandIn) -> None:
    server.engine.collections["docs"].counted_twice = -5
    with reading(server.url) as reader, pytest.raises(SystemFailure, match="not Qdrant's"):
        reader.count()
