"""Fetching one address over http(s), with retries and failures that say what happened."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.http.attempt import ClosedError, Fetched, HttpConnection, TooLargeError
from ragval_pipeline.sources.http.failures import Failure, explain, is_of_the_wire, retry_after_s
from ragval_pipeline.sources.http.hosts import RefusedHostError, SuiteHosts
from ragval_pipeline.sources.retry import GIVE_UP, Attempts, RetryPolicy, Verdict, call_with_retries
from ragval_pipeline.sources.site.urls import is_http_url, without_userinfo

if TYPE_CHECKING:
    import httpx

__all__ = ["Fetched", "HttpFetcher"]

BUSY = frozenset({429, 500, 502, 503, 504})


class _BusyError(Exception):
    """An answer that asks to come again."""

    def __init__(self, answer: Fetched) -> None:
        super().__init__(answer.status)
        self.answer = answer


class HttpFetcher:
    """Fetches addresses; safe to use from several threads; use it in a ``with``, or close it.

    User name and password in an address serve every later address of the same host, and are shown nowhere.

    Args:
        timeout_s: Limit in seconds for each step and for a whole try; a body may take longer while it keeps coming.
        policy: Retries of broken connections and of the statuses 429, 500, 502, 503 and 504.
        max_bytes: Limit of a body after its Content-Encoding was undone.
        hosts: What may be read; None: everything.
        transport: Seam for tests: any async httpx transport, e.g. ``httpx.MockTransport``.
    """

    def __init__(
        self,
        *,
        timeout_s: float = 30,
        policy: RetryPolicy | None = None,
        max_bytes: int = 64 * 2**20,
        hosts: SuiteHosts | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._policy = policy or RetryPolicy()
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
        """Close all connections for good; fetches in other threads, and waits between their tries, end at once."""
        with self._lock:
            self._closed.set()
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def fetch(self, url: str, *, system: str, headers: Mapping[str, str] | None = None) -> Fetched:
        """Get an address, following up to ten redirects.

        Args:
            url: The http(s) address.
            system: What it is in the user's words, for the failure: ``sitemap`` or ``page host``.
            headers: Of the request, besides the usual ones.

        Returns:
            The last answer, whatever its status.

        Raises:
            SystemFailure: ``source.unreachable`` when no complete answer came; ``source.malformed`` when the answer
                is too large or wrongly encoded.
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
                subject=without_userinfo(url),
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
                return Verdict(retry=True, retry_after_s=retry_after_s(error.answer.headers.get("retry-after")))
            failure = self._failure(url, error)
            return Verdict(retry=failure.retry) if failure else GIVE_UP

        return call_with_retries(once, policy=self._policy, classify=classify, attempts=attempts, sleep=self._pause)

    def _failure(self, url: str, error: BaseException) -> Failure | None:
        """Put an error of the wire into words; None for a fault of our own, which must stay a crash."""
        if not is_http_url(url):
            return Failure("not an http(s) address", "Check the address", retry=False)
        if isinstance(error, TooLargeError):
            problem = f"the answer is larger than {self._max_bytes / 2**20:g} MiB"
            return Failure(problem, "Check that the address is right", retry=False, code="source.malformed")
        if isinstance(error, RefusedHostError):
            details: dict[str, object] = {"redirects_to": without_userinfo(error.target)} if error.target else {}
            remedy = "Name the host in source.host_aliases if it serves the same site"
            return Failure(error.problem, remedy, retry=False, code="source.malformed", details=details)
        return explain(error, timeout_s=self._timeout_s) if is_of_the_wire(error) else None

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
