"""Limits of bytes and of total time for SDKs that use httpx or requests, which by themselves only limit each read."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.http.bounded import ACCEPTED, Body, EncodingError, TooLargeError

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
    session.headers["Accept-Encoding"] = ACCEPTED
    session.hooks["response"] = [limit]
    return session
