from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from qdrant_client import QdrantClient

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.sections import RetrySettings


class Refusing(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Answers every call with one status."""

    def __init__(self, code: grpc.StatusCode, metadata: tuple[tuple[str, str], ...]) -> None:
        self.code, self.metadata, self.calls = code, metadata, 0

    def service(self, details: Any) -> Any:
        def refuse(request: bytes, context: grpc.ServicerContext) -> bytes:
            self.calls += 1
            context.set_trailing_metadata(self.metadata)
            return context.abort(self.code, "simulated")

        return grpc.unary_unary_rpc_method_handler(refuse)


@contextlib.contextmanager
def reading(code: grpc.StatusCode, *metadata: tuple[str, str]) -> Iterator[tuple[CollectionReader, Refusing]]:
    handler = Refusing(code, metadata)
    server = grpc.server(ThreadPoolExecutor(2), handlers=(handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    client = QdrantClient(host="127.0.0.1", grpc_port=port, prefer_grpc=True, timeout=5, check_compatibility=False)
    policy = RetrySettings(max=2, delay_s=0.01, deadline_s=10)
    try:
        yield CollectionReader(client, collection="docs", place="127.0.0.1", policy=policy), handler
    finally:
        client.close()
        server.stop(None).wait()


@pytest.mark.parametrize(
    ("code", "said", "calls"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, "refused the key (UNAUTHENTICATED): simulated", 1),
        (grpc.StatusCode.PERMISSION_DENIED, "does not let the key do this (PERMISSION_DENIED): simulated", 1),
        (grpc.StatusCode.UNAVAILABLE, "failed with gRPC status UNAVAILABLE: simulated", 3),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "limits requests (RESOURCE_EXHAUSTED)", 3),
        (grpc.StatusCode.INVALID_ARGUMENT, "failed with gRPC status INVALID_ARGUMENT: simulated", 2),
    ],
)
def test_a_grpc_status_is_named_and_counted(code: grpc.StatusCode, said: str, calls: int) -> None:
    """After a request that was wrong the collection is asked once whether its strict mode is the reason."""
    with reading(code) as (reader, handler):
        with pytest.raises(SystemFailure) as caught:
            reader.count()
        assert handler.calls == calls
    assert caught.value.code == "index.unreachable"
    assert said in str(caught.value)
    assert caught.value.attempts == reader.attempts.tries
    assert "\n" not in str(caught.value)


def test_a_grpc_not_found_is_a_missing_collection() -> None:
    with reading(grpc.StatusCode.NOT_FOUND) as (reader, _), pytest.raises(SystemFailure) as caught:
        reader.count()
    assert caught.value.code == "index.collection_missing"


def test_a_grpc_hint_is_waited_for() -> None:
    with reading(grpc.StatusCode.RESOURCE_EXHAUSTED, ("retry-after", "3600")) as (reader, handler):
        with pytest.raises(SystemFailure, match=r"limits requests \(429\)"):
            reader.count()
        assert handler.calls == 1
