"""Fetching one address over http(s), with limits, retries and clear failures."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from importlib import metadata
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.source.malformed import RULE as SOURCE_MALFORMED
from ragval_pipeline.sources.calls import GIVE_UP, Attempts, Verdict, call_with_retries, wait_hint
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.sources.http.bounded import ACCEPTED, Body, EncodingError, TooLargeError
from ragval_pipeline.sources.http.failures import Failure, explain, is_of_the_wire
from ragval_pipeline.sources.http.hosts import (
    ASKED,
    RefusedHostError,
    Routes,
    SuiteHosts,
    login_for,
    login_in,
    proxy_hint,
)
from ragval_pipeline.suite.sections import RetrySettings
from ragval_pipeline.text.printing import shown_url, without_login

if TYPE_CHECKING:
    import httpx


T = TypeVar("T")
MAX_REDIRECTS = 10
KEPT_HEADERS = ("cache-control", "content-type", "etag", "last-modified", "retry-after", "x-robots-tag")


@dataclass(frozen=True)
class Fetched:
    """A response, whatever its status.

    Addresses have no user name or password, and are otherwise as they were asked. ``headers`` has lower-case names, and
    only those that callers need. ``attempts`` counts the tries.
    """

    url: str
    final_url: str
    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    attempts: int = 1

    @property
    def ok(self) -> bool:
        """Say whether the status is a 2xx."""
        return 200 <= self.status < 300


class ClosedError(RuntimeError):
    """The connection was closed, perhaps during the request."""

    def __init__(self) -> None:
        super().__init__("the fetcher is closed")


class HttpConnection:
    """An async client on an event loop in its own thread.

    Only an event loop can cut off a server that sends its headers slowly, or a name server that hangs: a blocking
    socket has no total time limit.

    Args:
        timeout_s: Limit in seconds for each step, and for the whole unless the body keeps arriving.
        max_bytes: Limit of a body after decoding its Content-Encoding.
        transport: For tests.
        hosts: Allowed hosts; None: all.
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
        self._logins = dict(hosts.logins) if hosts else {}
        routes: Any = transport or Routes(timeout_s=timeout_s, hosts=hosts)
        self._client = httpx.AsyncClient(
            timeout=timeout_s,
            follow_redirects=True,
            max_redirects=MAX_REDIRECTS,
            headers={"User-Agent": f"ragval/{_version()}", "Accept-Encoding": ACCEPTED},
            transport=routes,
            event_hooks={"request": [hosts.before]} if hosts else None,
        )
        self._lock, self._closed = threading.Lock(), False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ragval-http", daemon=True)
        self._thread.start()

    def get(self, url: str, headers: Mapping[str, str]) -> Fetched:
        """Get an address once; raises errors of httpx, asyncio or the socket, and ``TooLargeError``."""
        return self._run(self._get(url, headers))

    def close(self) -> None:
        """Cancel running requests, close the connections and end the thread."""
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
            future.cancel()  # Ctrl-C leaves nothing running; no effect on finished work
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
        plain_url, login = without_login(url), self._login(url)
        async with (
            asyncio.timeout_at(started + self._timeout_s) as limit,
            self._client.stream(
                "GET",
                plain_url,
                auth=login or httpx.USE_CLIENT_DEFAULT,
                headers=dict(headers),
                extensions={ASKED: plain_url},
            ) as response,
        ):
            # A transport may answer with a body that is decoded already.
            encoding = "" if response.is_stream_consumed else response.headers.get("content-encoding", "")
            decoder = Body(encoding, max_bytes=self._max_bytes)
            async for part in response.aiter_bytes() if response.is_stream_consumed else response.aiter_raw():
                for piece in decoder.decoded(part):
                    body += piece
                limit.reschedule(started + decoder.seconds(self._timeout_s))
            decoder.end()
        return _fetched(plain_url, response, bytes(body))

    def _login(self, url: str) -> tuple[str, str] | None:
        """The login in the address, or in an earlier address of this host."""
        own = login_in(url)
        if own is not None:
            self._logins.update(own)
        return login_for(url, self._logins)


def _fetched(url: str, response: httpx.Response, body: bytes) -> Fetched:
    return Fetched(
        url=url,
        final_url=without_login(str(response.url)),
        status=response.status_code,
        content_type=response.headers.get("content-type", ""),
        body=body,
        headers={name: response.headers[name] for name in KEPT_HEADERS if name in response.headers},
    )


def _version() -> str:
    try:
        return metadata.version("ragval-pipeline")
    except metadata.PackageNotFoundError:  # running from a checkout that is not installed
        return "0"


BUSY = frozenset({429, 500, 502, 503, 504})


class _BusyError(Exception):
    """A response that asks to retry later."""

    def __init__(self, answer: Fetched) -> None:
        super().__init__(answer.status)
        self.answer = answer


class HttpFetcher:
    """Fetches addresses; safe to use from several threads; use it in a ``with``, or close it.

    User name and password in an address are used for all later addresses of the same host, and never shown.

    Args:
        timeout_s: Limit in seconds for each step and for a whole try; a body may take up to ten times as long while it
            keeps arriving.
        policy: Retries of broken connections and of the statuses 429, 500, 502, 503 and 504.
        max_bytes: Limit of a body after decoding its Content-Encoding.
        hosts: Allowed hosts; None: all.
        transport: For tests: any async httpx transport, e.g. ``httpx.MockTransport``.
    """

    def __init__(
        self,
        *,
        timeout_s: float = 30,
        policy: RetrySettings | None = None,
        max_bytes: int = 64 * 2**20,
        hosts: SuiteHosts | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._policy = policy or RetrySettings()
        self._max_bytes = max_bytes
        self._transport, self._hosts = transport, hosts
        self._lock = threading.Lock()
        self._connection: HttpConnection | None = None
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; fetches in other threads, and waits between their tries, end at once."""
        with self._lock:
            self._closed.set()
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def fetch(self, url: str, *, system: str, headers: Mapping[str, str] | None = None) -> Fetched:
        """Get an address, following up to ten redirects.

        ``system`` is its name in failures: ``sitemap`` or ``page host``.

        Returns:
            The last response, whatever its status.

        Raises:
            SystemFailure: ``source.unreachable`` without a complete response; ``source.malformed`` if the response is
                too large or wrongly encoded.
        """
        attempts = Attempts()
        try:
            answer = self._fetch_with_retries(url, attempts, headers or {})
        except _BusyError as busy:
            answer = busy.answer
        except Exception as error:
            failure = self._failure(url, error)
            if failure is None:
                raise
            raise SystemFailure(
                failure.problem,
                code=failure.code,
                system=system,
                subject=shown_url(url),
                remedy=failure.remedy,
                attempts=attempts.tries,
                details=failure.details,
            ) from error
        return replace(answer, attempts=attempts.tries)

    def _fetch_with_retries(self, url: str, attempts: Attempts, headers: Mapping[str, str]) -> Fetched:
        def once() -> Fetched:
            answer = self._connected().get(url, headers)
            if answer.status in BUSY:
                raise _BusyError(answer)
            return answer

        def classify(error: BaseException) -> Verdict:
            if isinstance(error, _BusyError):
                return Verdict(retry=True, retry_after_s=wait_hint(error.answer.headers))
            failure = self._failure(url, error)
            return Verdict(retry=failure.retry) if failure else GIVE_UP

        return call_with_retries(once, policy=self._policy, classify=classify, attempts=attempts, sleep=self._pause)

    def _failure(self, url: str, error: BaseException) -> Failure | None:
        """Describe a network error; None for a defect of ragval, which must stay a crash."""
        if not is_http_url(url):
            return Failure("not an http(s) URL", "Check the address", retry=False)
        if isinstance(error, EncodingError):
            problem = "the answer's Content-Encoding cannot be decoded"
            return Failure(problem, "Check the server's compression.", retry=False, code=SOURCE_MALFORMED.code)
        if isinstance(error, TooLargeError):
            problem = f"the answer is larger than {self._max_bytes / 2**20:g} MiB"
            return Failure(problem, "Check that the URL is right.", retry=False, code=SOURCE_MALFORMED.code)
        if isinstance(error, RefusedHostError):
            details: dict[str, object] = {"redirects_to": shown_url(error.target)} if error.target else {}
            remedy = "Add the host to source.host_aliases if it serves the same site."
            return Failure(error.problem, remedy, retry=False, code=SOURCE_MALFORMED.code, details=details)
        if not is_of_the_wire(error):
            return None
        failure = explain(error, timeout_s=self._timeout_s)
        hint = proxy_hint(url)
        return replace(failure, remedy=f"{failure.remedy}{hint}") if hint else failure

    def _pause(self, seconds: float) -> None:
        self._closed.wait(seconds)

    def _connected(self) -> HttpConnection:
        with self._lock:
            if self._closed.is_set():
                raise ClosedError
            if self._connection is None:
                self._connection = HttpConnection(
                    timeout_s=self._timeout_s,
                    max_bytes=self._max_bytes,
                    transport=self._transport,
                    hosts=self._hosts,
                )
            return self._connection
