"""Limits of bytes and of total time for clients of httpx, which by itself only limits each read."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ragval_pipeline.sources.http.bounded import ACCEPTED, Body, EncodingError, TooLargeError, seconds_for

#: Bytes of an answer: a thousand vectors of 4,096 numbers, written as text, are 90 MB.
MAX_ANSWER = 128 * 2**20
#: Type of the error of an answer with more bytes.
TOO_LARGE = "AnswerTooLargeError"


def paced(timeout_s: float, *, max_bytes: int = MAX_ANSWER) -> Mapping[str, list[Any]]:
    """Event hooks for a client whose bodies have limits.

    Args:
        timeout_s: Seconds that a body may take in addition to those for its bytes at ``SLOWEST_BYTES_PER_S``; ten times
            as many in all.
        max_bytes: Maximum of its bytes, before and after they are decompressed.
    """
    import httpx

    class AnswerTooLargeError(httpx.RequestError):
        """An error of the request, not of the transport: asking again gives the same."""

    class PacedStream(httpx.SyncByteStream):
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
        client: A synchronous client of httpx.
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
