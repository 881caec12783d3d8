"""One try of one GET: the client, its limits, and the answer as it came."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeVar

from yarl import URL

from ragval_pipeline.sources.http.hosts import ASKED, SuiteHosts
from ragval_pipeline.sources.site.urls import host_of, without_userinfo

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
MAX_REDIRECTS = 10
# A body may take longer than the time limit as long as it keeps coming at this rate: large sitemaps do, drips do not.
SLOWEST_BYTES_PER_S = 16 * 1024
KEPT_HEADERS = ("cache-control", "content-type", "etag", "last-modified", "retry-after", "x-robots-tag")


@dataclass(frozen=True)
class Fetched:
    """An answer, whatever its status.

    Addresses hold no user name or password. ``redirects`` are the addresses that redirected, the requested one first.
    ``headers`` has lower-case names, and only those that callers judge by. ``attempts`` counts the tries it took.
    """

    url: str
    final_url: str
    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    redirects: tuple[str, ...] = ()
    attempts: int = 1

    @property
    def ok(self) -> bool:
        """Say whether the status is a 2xx."""
        return 200 <= self.status < 300


class TooLargeError(Exception):
    """The body has more bytes than the limit."""


class ClosedError(RuntimeError):
    """The connection was closed, perhaps while it was asked."""

    def __init__(self) -> None:
        super().__init__("the fetcher is closed")


class HttpConnection:
    """An async client on an event loop in a thread of its own.

    Only an event loop can cut off a server that drips its headers, or a name server that hangs: a blocking socket
    knows no time limit for the whole.

    Args:
        timeout_s: Limit in seconds for each step, and for the whole unless the body keeps coming.
        max_bytes: Limit of a body after its Content-Encoding was undone.
        transport: Seam for tests.
        hosts: What may be read; None: everything.
    """

    def __init__(
        self,
        *,
        timeout_s: float,
        max_bytes: int,
        transport: httpx.AsyncBaseTransport | None,
        hosts: SuiteHosts | None = None,
    ) -> None:
        import httpx

        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._logins: dict[str | None, tuple[str, str]] = {}
        self._client = httpx.AsyncClient(
            timeout=timeout_s,
            follow_redirects=True,
            max_redirects=MAX_REDIRECTS,
            headers={"User-Agent": f"ragval/{_version()}"},
            transport=transport,
            event_hooks={"request": [hosts.before], "response": [hosts.after]} if hosts else None,
        )
        self._lock, self._closed = threading.Lock(), False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ragval-http", daemon=True)
        self._thread.start()

    def get(self, url: str, headers: Mapping[str, str]) -> Fetched:
        """Get an address once; raises what httpx, asyncio or the socket raise, and ``TooLargeError``."""
        return self._run(self._get(url, headers))

    def close(self) -> None:
        """Break off what still runs, close the connections and end the thread."""
        with self._lock:
            self._closed = True
            ended = asyncio.run_coroutine_threadsafe(self._shut(), self._loop)
        ended.result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        with self._lock:
            if self._closed:
                work.close()
                raise ClosedError
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise ClosedError from None
        except BaseException:
            future.cancel()  # Ctrl-C leaves nothing running; no effect on work that has ended
            raise

    async def _shut(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._client.aclose()

    async def _get(self, url: str, headers: Mapping[str, str]) -> Fetched:
        import httpx

        body, started = bytearray(), self._loop.time()
        shown, login = without_userinfo(url), self._login(url)
        async with (
            asyncio.timeout_at(started + self._timeout_s) as limit,
            self._client.stream(
                "GET",
                shown,
                auth=login or httpx.USE_CLIENT_DEFAULT,
                headers=dict(headers),
                extensions={ASKED: shown},
            ) as response,
        ):
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > self._max_bytes:
                    raise TooLargeError
                limit.reschedule(started + self._timeout_s + len(body) / SLOWEST_BYTES_PER_S)
        return _fetched(shown, response, bytes(body))

    def _login(self, url: str) -> tuple[str, str] | None:
        """Return the login of the address, or the one that an earlier address of this host brought."""
        parsed = URL(url)
        if parsed.user is not None:
            self._logins[host_of(url)] = (parsed.user, parsed.password or "")
        return self._logins.get(host_of(url))


def _fetched(url: str, response: httpx.Response, body: bytes) -> Fetched:
    return Fetched(
        url=url,
        final_url=without_userinfo(str(response.url)),
        status=response.status_code,
        content_type=response.headers.get("content-type", ""),
        body=body,
        headers={name: response.headers[name] for name in KEPT_HEADERS if name in response.headers},
        redirects=tuple(without_userinfo(str(hop.url)) for hop in response.history),
    )


def _version() -> str:
    try:
        return metadata.version("ragval-pipeline")
    except metadata.PackageNotFoundError:  # running from a checkout that is not installed
        return "0"
