"""Limits of bytes and of total time for SDKs that use httpx or requests, which by themselves only limit each read."""

from __future__ import annotations

import io
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.http.bounded import ACCEPTED, Body, EncodingError, TooLargeError, seconds_for

if TYPE_CHECKING:
    import requests

#: Bytes of an answer: a thousand vectors of 4,096 numbers, written as text, are 90 MB.
MAX_ANSWER = 128 * 2**20
#: Type of the error of an answer with more bytes, each HTTP library has its own.
TOO_LARGE = "AnswerTooLargeError"


def paced(timeout_s: float, client: type[Any], *, max_bytes: int = MAX_ANSWER) -> Mapping[str, list[Any]]:
    """Event hooks for a client whose bodies have limits.

    Args:
        timeout_s: Seconds that a body may take in addition to those for its bytes at ``SLOWEST_BYTES_PER_S``; ten times
            as many in all.
        client: The class that takes the hooks: ``httpx.Client``, or that of another copy of httpx, such as OpenAI's.
        max_bytes: Maximum of its bytes, before and after they are decompressed.
    """
    root = next(base for base in client.__mro__ if base.__name__ == "Client")
    httpx: Any = sys.modules[root.__module__.partition(".")[0]]

    class AnswerTooLargeError(httpx.RequestError):  # type: ignore[misc]
        """An error of the request, not of the transport: asking again gives the same."""

    class PacedStream(httpx.SyncByteStream):  # type: ignore[misc]
        """The decoded bytes of a body as they arrive."""

        def __init__(self, response: Any) -> None:
            self._stream, self._request = response.stream, response.request
            self._encoding = response.headers.pop("content-encoding", "")
            self._started = time.monotonic()

        def __iter__(self) -> Iterator[bytes]:
            try:
                body = Body(self._encoding, max_bytes=max_bytes)
                for part in self._stream:
                    pieces = body.decoded(part)
                    if time.monotonic() > self._started + body.seconds(timeout_s):
                        raise httpx.ReadTimeout("the answer came too slowly: timed out", request=self._request)
                    yield from pieces
                body.end()
            except TooLargeError:
                shown = f"the answer is larger than {max_bytes / 2**20:g} MiB"
                raise AnswerTooLargeError(shown, request=self._request) from None
            except EncodingError as error:
                raise httpx.DecodingError(str(error), request=self._request) from None

        def close(self) -> None:
            self._stream.close()

    def offer(request: Any) -> None:
        request.headers["accept-encoding"] = ACCEPTED

    def limit(response: Any) -> None:
        response.stream = PacedStream(response)

    return {"request": [offer], "response": [limit]}


def pace_connections(client: Any, timeout_s: float) -> None:
    """Limit the time of whole answers, headers included, on every connection that a client will open.

    Event hooks see an answer when its headers are complete, which a server can put off byte by byte: only the
    connection can be limited before. httpx offers no way to choose it, so a version that keeps its connections
    elsewhere limits the bodies alone.

    Args:
        client: A synchronous client of httpx, or of another copy of it.
        timeout_s: As for ``paced``, counted from the first byte of the answer.
    """
    transports = [getattr(client, "_transport", None), *getattr(client, "_mounts", {}).values()]
    for pool in (getattr(transport, "_pool", None) for transport in transports):
        if (backend := getattr(pool, "_network_backend", None)) is not None:
            pool._network_backend = _paced_backend(backend, timeout_s)  # type: ignore[union-attr]


def _paced_backend(backend: Any, timeout_s: float) -> Any:
    httpcore: Any = sys.modules[type(backend).__module__.partition(".")[0]]

    class Stream(httpcore.NetworkStream):  # type: ignore[misc]
        """A connection; each write of a request begins a new answer."""

        def __init__(self, stream: Any) -> None:
            self._stream, self._received = stream, 0
            self._since: float | None = None
            self.close, self.get_extra_info = stream.close, stream.get_extra_info

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            self._since, self._received = None, 0
            self._stream.write(buffer, timeout)

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            part: bytes = self._stream.read(max_bytes, timeout)
            now = time.monotonic()
            since = self._since = now if self._since is None else self._since
            self._received += len(part)
            if now > since + seconds_for(self._received, timeout_s):
                raise httpcore.ReadTimeout("the answer came too slowly: timed out")
            return part

        def start_tls(self, *settings: Any, **more: Any) -> Any:
            return Stream(self._stream.start_tls(*settings, **more))

    class Backend(httpcore.NetworkBackend):  # type: ignore[misc]
        """Opens such connections."""

        def connect_tcp(self, *place: Any, **more: Any) -> Any:
            return Stream(backend.connect_tcp(*place, **more))

        def connect_unix_socket(self, *place: Any, **more: Any) -> Any:
            return Stream(backend.connect_unix_socket(*place, **more))

        def sleep(self, seconds: float) -> None:
            backend.sleep(seconds)

    return Backend()


def paced_session(timeout_s: float, *, max_bytes: int = MAX_ANSWER) -> requests.Session:
    """A session of requests whose bodies have the same limits; arguments as for ``paced``."""
    import requests
    import urllib3

    class AnswerTooLargeError(requests.RequestException):
        """Its name is that of ``TOO_LARGE``."""

    def limit(response: requests.Response, **_: Any) -> None:
        kept, started = bytearray(), time.monotonic()
        try:
            body = Body(response.headers.get("content-encoding", ""), max_bytes=max_bytes)
            read = getattr(response.raw, "read1", response.raw.read)  # since urllib3 2
            while part := read(1 << 16, decode_content=False):
                for piece in body.decoded(part):
                    kept += piece
                if time.monotonic() > started + body.seconds(timeout_s):
                    raise requests.ReadTimeout("the answer came too slowly: timed out")
            body.end()
        except TooLargeError:
            raise AnswerTooLargeError(f"the answer is larger than {max_bytes / 2**20:g} MiB") from None
        except EncodingError as error:
            raise requests.exceptions.ContentDecodingError(str(error)) from None
        except urllib3.exceptions.HTTPError as error:
            raise requests.exceptions.ChunkedEncodingError(str(error)) from None
        response.raw.close()
        response.raw = urllib3.HTTPResponse(io.BytesIO(bytes(kept)), preload_content=False)

    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _paced_adapter(timeout_s))
    session.headers["Accept-Encoding"] = ACCEPTED
    session.hooks["response"] = [limit]
    return session


def _paced_adapter(timeout_s: float) -> Any:
    """An adapter whose connections are shut down when the headers of an answer take twice the time limit.

    The first byte may take ``timeout_s``, as the rest may.
    """
    import urllib3
    from requests.adapters import HTTPAdapter

    @contextmanager
    def limited(connection: Any) -> Iterator[None]:
        late, sock = threading.Event(), connection.sock

        def give_up() -> None:
            late.set()
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

        watch = threading.Timer(2 * timeout_s, give_up)
        watch.daemon = True
        watch.start()
        try:
            yield
        finally:
            watch.cancel()
            if late.is_set():  # what came before the end looks like headers, or like a broken connection
                raise TimeoutError("the answer came too slowly: timed out")

    class Plain(urllib3.connection.HTTPConnection):
        def getresponse(self) -> Any:
            with limited(self):
                return super().getresponse()

    class Encrypted(urllib3.connection.HTTPSConnection):
        def getresponse(self) -> Any:
            with limited(self):
                return super().getresponse()

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Encrypted

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *sizes: Any, **more: Any) -> None:
            super().init_poolmanager(*sizes, **more)
            self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}

        def proxy_manager_for(self, *proxy: Any, **more: Any) -> Any:
            manager = super().proxy_manager_for(*proxy, **more)
            manager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}
            return manager

    return Adapter()
