"""Opening and closing connections to Qdrant, and the reader of a suite's collection."""

from __future__ import annotations

import logging
import math
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeAlias

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.index.unreachable import RULE as INDEX_UNREACHABLE
from ragval_pipeline.sources.stores.qdrant.asking import failure_of, holds_secrets
from ragval_pipeline.sources.stores.qdrant.reader import CollectionReader
from ragval_pipeline.suite.sections import QdrantSettings, RetrySettings

if TYPE_CHECKING:
    from pathlib import Path

    import httpx
    from qdrant_client import QdrantClient

_log = logging.getLogger(__name__)
#: Timeout of the gRPC port in seconds.
_KNOCKS_S = 3.0


def place_of(settings: QdrantSettings) -> str:
    """Where the collection is, without credentials: for messages and reports."""
    if settings.path is not None:
        return str(settings.path)
    from yarl import URL

    try:
        return str(URL(settings.url or "").with_user(None).with_query(None).with_fragment(None)).rstrip("/")
    except ValueError:
        return "the server of qdrant.url"


@contextmanager
def open_client(settings: QdrantSettings) -> Iterator[QdrantClient]:
    """A client for ``settings``, always closed at the end.

    Raises:
        SystemFailure: The embedded folder does not exist or is open in another process, or the URL is unusable.
    """
    kept = _kept.get()
    if kept is not None:
        same = _place_and_access(settings)
        if same not in kept:
            kept[same] = _client(settings)
        yield kept[same]
        return
    with closing(_client(settings)) as client:
        yield client


#: What a client is opened by.
_Access: TypeAlias = "tuple[Path | str | None, str | None, bool, int, float]"
#: Open clients, while they are kept.
_kept: ContextVar[dict[_Access, QdrantClient] | None] = ContextVar("_kept", default=None)


@contextmanager
def keeping_clients() -> Iterator[None]:
    """A client that is opened meanwhile stays open until the end.

    Each opening of an embedded Qdrant reads all of its points; each client of a server reads the certificates of the
    world and connects anew.
    """
    clients: dict[_Access, QdrantClient] = {}
    token = _kept.set(clients)
    try:
        yield
    finally:
        _kept.reset(token)
        for client in clients.values():
            client.close()


def _place_and_access(settings: QdrantSettings) -> _Access:
    key = settings.api_key.get_secret_value() if settings.api_key else None
    place = settings.url if settings.path is None else settings.path.resolve()
    return place, key, settings.prefer_grpc, settings.grpc_port, settings.timeout_s


def _client(settings: QdrantSettings) -> QdrantClient:
    from qdrant_client import QdrantClient

    place, key = place_of(settings), _key(settings)
    if settings.path is not None and not (settings.path / "meta.json").is_file():
        # Opening it would create an empty one: ragval never writes.
        raise SystemFailure(
            f"there is no embedded Qdrant in {place}",
            code=INDEX_UNREACHABLE.code,
            system="Qdrant",
            subject=place,
            remedy="Run the ingestion first, or correct qdrant.path.",
        )
    with warnings.catch_warnings():
        # "Api key is used with an insecure connection": the user's decision, and noise in every step.
        warnings.simplefilter("ignore", UserWarning)
        try:
            if settings.path is not None:
                return QdrantClient(path=str(settings.path))

            from ragval_pipeline.sources.http.paced import MAX_ANSWER, pace_connections, paced

            client = QdrantClient(
                url=settings.url,
                api_key=key,
                prefer_grpc=settings.prefer_grpc and _offers_grpc(settings),
                grpc_port=settings.grpc_port,
                grpc_options={"grpc.max_receive_message_length": MAX_ANSWER},
                timeout=math.ceil(settings.timeout_s),
                check_compatibility=False,
                event_hooks=paced(settings.timeout_s),
            )
            pace_connections(client.http.client._client, settings.timeout_s)
            client.http.client.add_middleware(_apart_from_its_stream)
            return client
        except (RuntimeError, ValueError, OSError) as error:
            raise failure_of(error, place=place, tries=1) from (None if holds_secrets(error) else error)


def _apart_from_its_stream(request: httpx.Request, send: Callable[[httpx.Request], httpx.Response]) -> httpx.Response:
    """A response that is freed as soon as it is not needed.

    httpx's responses and their streams refer to each other. A page of vectors is megabytes in a handful of objects,
    which the garbage collector frees late, or never while another thread reads it.
    """
    from httpx import ByteStream

    response = send(request)
    response.stream = ByteStream(b"")
    return response


def _offers_grpc(settings: QdrantSettings) -> bool:
    """Whether something listens on the gRPC port: REST gives the same results, only slower."""
    from yarl import URL

    host = URL(settings.url or "").host
    try:
        socket.create_connection((host or "", settings.grpc_port), min(settings.timeout_s, _KNOCKS_S)).close()
    except OSError as error:
        _log.warning(
            "%s does not answer on the gRPC port %d (%s): asked over REST; see qdrant.grpc_port",
            place_of(settings), settings.grpc_port, error.strerror or type(error).__name__,
        )  # fmt: skip
        return False
    return True


def _key(settings: QdrantSettings) -> str | None:
    """The key stripped for use in a header: secrets from files often end with a line break."""
    key = settings.api_key.get_secret_value().strip() if settings.api_key else ""
    if any(not "!" <= char <= "~" for char in key):
        # httpx would write a refused key into its debug log.
        place = place_of(settings)
        raise SystemFailure(
            f"{place} could not be sent the key",
            code=INDEX_UNREACHABLE.code,
            system="Qdrant",
            subject=place,
            remedy="Check qdrant.api_key: it contains spaces or characters that cannot be sent in a header.",
        )
    return key or None


def reader_of_settings(client: QdrantClient, settings: QdrantSettings, *, policy: RetrySettings) -> CollectionReader:
    """Reads the settings' collection through ``client``: its vector, its filter, retries by ``policy``."""
    return CollectionReader(
        client,
        collection=settings.collection,
        place=place_of(settings),
        vector_name=settings.vector_name,
        equal=settings.filter,
        policy=policy,
        concurrency=settings.concurrency,
        batch=settings.batch,
    )
