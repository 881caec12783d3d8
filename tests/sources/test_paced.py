"""Answers that drip: every read is in time, and the whole never ends."""

import contextlib
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import closing

import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.embedders.cohere import CohereEmbedder
from ragval_pipeline.sources.embedders.http_apis import http_embedder
from ragval_pipeline.sources.stores.qdrant.connect import open_client, reader_of_settings
from ragval_pipeline.suite.sections import QdrantSettings, RetrySettings
from tests.support.http_host import raw_server

ONCE = RetrySettings(max=0)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
#: Drips after which the server hangs up: an answer that nobody limits ends, too, and is told as another failure.
DRIPS = 200


def drip(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(HEAD)
    for _ in range(DRIPS):
        if over.wait(0.05):
            return
        connection.sendall(b" ")


def qdrant(url: str) -> None:
    settings = QdrantSettings(url=url, collection="docs", timeout_s=0.2, prefer_grpc=False)
    with open_client(settings) as client:
        reader_of_settings(client, settings, policy=ONCE).facts()


def cohere(url: str) -> None:
    embedder = CohereEmbedder(model="embed-english-v3.0", api_key="k", base_url=url, policy=ONCE, timeout_s=0.2)
    with closing(embedder):
        embedder.embed(["a"], input_type="search_query")


def openai(url: str) -> None:
    embedder = http_embedder("openai", model="m", api_key="k", base_url=f"{url}/v1", policy=ONCE, timeout_s=0.2)
    with closing(embedder):
        embedder.embed(["a"], input_type="search_query")


@pytest.mark.parametrize("ask", [qdrant, cohere, openai])
def test_an_answer_that_drips_is_one_that_does_not_come_in_time(ask: Callable[[str], None]) -> None:
    with raw_server(drip) as server, pytest.raises(SystemFailure, match=r"in time|timed out") as told:
        ask(server.url)
    assert "broke off" not in str(told.value)


@pytest.mark.parametrize("ask", [qdrant, cohere, openai])
def test_one_that_keeps_coming_may_take_longer(ask: Callable[[str], None]) -> None:
    def pour(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(HEAD)
        for _ in range(10):
            over.wait(0.05)
            connection.sendall(b" " * 10_000)

    with raw_server(pour) as server, pytest.raises(SystemFailure) as told:
        ask(server.url)
    assert "time" not in str(told.value), "blanks are no answer, but all of them were read"


@pytest.mark.parametrize("ask", [qdrant, cohere, openai])
def test_a_bomb_is_refused_and_never_unpacked(ask: Callable[[str], None]) -> None:
    packed = zlib.compressobj(9, wbits=31)
    blank = b" " * 2**20
    body = b"".join([*(packed.compress(blank) for _ in range(300)), packed.flush()])
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}"

    def send(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(f"{head}\r\n\r\n".encode() + body)
        with contextlib.suppress(OSError):
            connection.recv(65536)  # a request in two parts: closing with one unread would break the connection

    with raw_server(send) as server:
        tracemalloc.start()
        with pytest.raises(SystemFailure, match="larger than 128 MiB") as told:
            ask(server.url)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 160 * 2**20
    assert told.value.attempts == 1


def drip_headers(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    for _ in range(DRIPS):
        if over.wait(0.05):
            return
        connection.sendall(b"a")


@pytest.mark.parametrize("ask", [qdrant, cohere, openai])
def test_headers_that_drip_do_not_come_in_time(ask: Callable[[str], None]) -> None:
    started = time.monotonic()
    with raw_server(drip_headers) as server, pytest.raises(SystemFailure, match=r"in time|timed out"):
        ask(server.url)
    assert time.monotonic() - started < 0.025 * DRIPS
