"""A total time limit for SDKs that use httpx, which by itself only limits each read."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ragval_pipeline.sources.http.fetch import SLOWEST_BYTES_PER_S


def paced(timeout_s: float, client: type[Any]) -> Mapping[str, list[Any]]:
    """Event hooks for a client whose bodies may exceed the time limit only while they keep arriving.

    Args:
        timeout_s: Seconds that a body may take in addition to those for its bytes at ``SLOWEST_BYTES_PER_S``.
        client: The class that takes the hooks: ``httpx.Client``, or that of another copy of httpx, such as OpenAI's.
    """
    root = next(base for base in client.__mro__ if base.__name__ == "Client")
    httpx: Any = sys.modules[root.__module__.partition(".")[0]]

    class PacedStream(httpx.SyncByteStream):  # type: ignore[misc]
        """The bytes of a body as they arrive."""

        def __init__(self, response: Any) -> None:
            self._stream, self._request = response.stream, response.request
            self._deadline = time.monotonic() + timeout_s

        def __iter__(self) -> Iterator[bytes]:
            received = 0
            for part in self._stream:
                received += len(part)
                if time.monotonic() > self._deadline + received / SLOWEST_BYTES_PER_S:
                    raise httpx.ReadTimeout("the answer came too slowly: timed out", request=self._request)
                yield part

        def close(self) -> None:
            self._stream.close()

    def limit(response: Any) -> None:
        response.stream = PacedStream(response)

    return {"response": [limit]}
