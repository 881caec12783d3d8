"""Single calls to Qdrant, with retries and readable one-line failures."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.index.collection_missing import RULE as COLLECTION_MISSING
from ragval_pipeline.rules.index.unreachable import RULE as INDEX_UNREACHABLE
from ragval_pipeline.sources.calls import (
    GIVE_UP,
    TRY_AGAIN,
    Attempts,
    Verdict,
    asks_to_wait,
    call_with_retries,
    wait_hint,
)
from ragval_pipeline.sources.http.hosts import of_proxy, proxy_hint
from ragval_pipeline.sources.http.paced import TOO_LARGE
from ragval_pipeline.suite.sections import RetrySettings
from ragval_pipeline.text.characters import encodable
from ragval_pipeline.text.printing import LISTED, nearest

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


#: Words of a limit that waiting does not change, of Qdrant's rate limiter and of gRPC.
_TOO_MUCH = ("split your request", "larger than max")
_TIMEOUTS = frozenset({408, 504, "DEADLINE_EXCEEDED"})


class TooMuchAtOnceError(SystemFailure):
    """A call failed that may succeed with fewer searches, ids or points."""


_RETRYABLE_STATUS = frozenset({408, 429, 500, 502, 503, 504})
_RETRYABLE_RPC = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"})
_NO_SCORE = (
    "gives hits without a score",
    "Look for zero vectors (vector.zero) or vectors with non-finite numbers, and re-embed them.",
)
_FORBIDDEN = "Give the key the required permission: to read the collection, or to manage aliases for a promotion."
_WRONG_REQUEST = "Check qdrant.filter, qdrant.vector_name and payload.fields."
#: Maximum characters quoted from Qdrant's message.
_SHOWN = 200
_NOT_QDRANT = ("answered something that is not Qdrant's", "Check that qdrant.url is the URL of Qdrant.")

_OF_ANOTHER_SHAPE = frozenset(
    {"ValidationError", "JSONDecodeError", "AssertionError", "UnicodeDecodeError", "RecursionError"}
)

#: Words in a transport error's text, and their meaning.
_TRANSPORT = (
    (("already accessed",), "is open in another process",
     "Wait until it ends, or use a Qdrant server: an embedded Qdrant allows one process only."),
    (("certificate", "ssl"), "has a TLS problem", "Check https in qdrant.url and the certificate."),
    (("name or service not known", "getaddrinfo", "nodename", "name resolution"),
     "has a host name that does not resolve", "Check qdrant.url."),
    (("proxyerror",), "is not reached: the proxy refuses", "Check the proxy's address and its login."),
    (("refused",), "refused the connection", "Start Qdrant or correct qdrant.url."),
    (("timeout", "timed out"), "did not answer in time", "Raise qdrant.timeout_s or look at the server's load."),
    (("localprotocolerror", "unicodeencodeerror"), "could not be sent the request",
     "Check qdrant.url and qdrant.api_key: they contain characters that cannot be sent in a request."),
    (("remoteprotocolerror", "readerror", "decodingerror"), "broke off its answer",
     "Check the server's log and any proxy in between."),
)  # fmt: skip


def classify(error: BaseException) -> Verdict:
    """Whether to retry a failed read, and after how many seconds according to the server."""
    if _asks_for_less(error):
        return GIVE_UP
    if _rate_limited(error):
        return Verdict(retry=True, retry_after_s=_hint(error))
    if _status(error) in _RETRYABLE_STATUS or _rpc_code(error) in _RETRYABLE_RPC:
        return TRY_AGAIN
    return TRY_AGAIN if _of_the_wire(error) else GIVE_UP


def is_missing_collection(error: BaseException) -> bool:
    """Whether Qdrant answered that the collection does not exist; other 404s do not count."""
    if _rpc_code(error) == "NOT_FOUND":
        return True
    if _status(error) == 404:
        return "doesn't exist" in _said(error) or "not found" in _said(error).lower()
    return type(error) is ValueError and "not found" in str(error)


def failure_of(error: BaseException, *, place: str, tries: int, key: str | None = None) -> SystemFailure:
    """The readable failure.

    The ``key`` that was sent is removed from the message even if the server repeats it.
    """
    problem, remedy = _explain(error)
    problem += of_proxy(place, _status(error) or 0)
    if _of_the_wire(error):
        remedy += proxy_hint(place)
    if key:
        problem = problem.replace(key, "***")
    size = TOO_LARGE if is_too_large(error) else None
    kind = TooMuchAtOnceError if _is_of_size(error) else SystemFailure
    return kind(
        f"{place} {problem}",
        code=INDEX_UNREACHABLE.code,
        system="Qdrant",
        subject=place,
        remedy=remedy,
        attempts=max(tries, 1),
        details={
            "status": _status(error) or _rpc_code(error) or size,
            "error": type(_root(error)).__name__,
        },
    )


def is_defect(error: BaseException) -> bool:
    """Whether the error is a programming error rather than a failure of Qdrant or the network."""
    return isinstance(error, TypeError | AttributeError | KeyError | NameError)


def is_too_large(error: BaseException) -> bool:
    """Whether an answer was cut off because of its size."""
    return type(_root(error)).__name__ == TOO_LARGE


def holds_secrets(error: BaseException) -> bool:
    """Whether the exception's text may quote the key: header errors do, and tracebacks would show it."""
    return type(_root(error)).__name__ in {"LocalProtocolError", "UnicodeEncodeError", "InvalidURL"}


def _explain(error: BaseException) -> tuple[str, str]:
    status, code, said = _status(error), _rpc_code(error), _said(error)
    told = f": {said[:_SHOWN].rstrip('.')}" if said else ""
    refused = _explain_key(status or code, said, told) or _explain_limit(error, status or code, told)
    if refused is not None:
        return refused
    if status is not None:
        return _explain_status(status, told)
    if code is not None:
        remedy = _WRONG_REQUEST if code == "INVALID_ARGUMENT" else "Check qdrant.url and qdrant.grpc_port."
        return f"failed with gRPC status {code}{told}", remedy
    return _explain_transport(error)


def _explain_key(status: int | str | None, said: str, told: str) -> tuple[str, str] | None:
    """The refusal of a key; Qdrant answers 403 to an expired token."""
    if status not in {401, 403, "UNAUTHENTICATED", "PERMISSION_DENIED"}:
        return None
    if "expired" in said.lower():
        return f"refused the key ({status}){told}", "Create a new token for qdrant.api_key."
    if status in {401, "UNAUTHENTICATED"}:
        return f"refused the key ({status}){told}", "Check qdrant.api_key."
    return f"does not let the key do this ({status}){told}", _FORBIDDEN


def _explain_limit(error: BaseException, status: int | str | None, told: str) -> tuple[str, str] | None:
    if _asks_for_less(error):
        remedy = "Lower qdrant.batch, or raise the read rate limit of the collection's strict mode."
        return f"limits requests ({status}){told}", remedy
    if _rate_limited(error):
        remedy = "Wait, or raise retry.max and retry.deadline_s, or the server's limits."
        return f"limits requests ({status}){asks_to_wait(_hint(error))}{told}", remedy
    return None


def _explain_transport(error: BaseException) -> tuple[str, str]:
    root = _root(error)
    if is_too_large(error):
        remedy = "Check that qdrant.url is the URL of Qdrant, and the size of the payloads."
        return f"sends an answer that is too large: {root}", remedy
    if _lacks_scores_alone(root):
        return _NO_SCORE
    if type(root).__name__ in _OF_ANOTHER_SHAPE:
        return _NOT_QDRANT
    text = f"{type(root).__name__} {root}".lower()
    for words, problem, remedy in _TRANSPORT:
        if any(word in text for word in words):
            return problem, remedy
    return f"cannot be read ({type(root).__name__})", "Check qdrant.url or qdrant.path, and the network."


def _lacks_scores_alone(error: BaseException) -> bool:
    """Whether a response is valid except for the scores of its hits: JSON writes NaN and infinity as null."""
    errors: Any = getattr(error, "errors", None)
    found = errors() if callable(errors) else []
    return bool(found) and all(isinstance(entry, dict) and entry.get("loc", ())[-1:] == ("score",) for entry in found)


def _explain_status(status: int, told: str) -> tuple[str, str]:
    if 300 <= status < 400:
        return f"redirects (status {status})", "Set qdrant.url to the URL that it redirects to."
    if status == 404 and not told:
        return "answered with status 404, which Qdrant does not do", "Check that qdrant.url is the URL of Qdrant."
    return f"answered with status {status}{told}", _WRONG_REQUEST if status == 400 else "Look at the server's log."


def _status(error: BaseException) -> int | None:
    if type(error).__name__ in {"ResourceExhaustedResponse", "QdrantException"}:
        return 429
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _said(error: BaseException) -> str:
    """Qdrant's message in an error, on one line; empty if the response is not Qdrant's."""
    if _rpc_code(error) is not None:
        details = getattr(error, "details", None)
        said = details() if callable(details) else None
    else:
        content = getattr(error, "content", b"") or b""
        try:
            said = json.loads(content)["status"]["error"]
        except (ValueError, KeyError, TypeError, RecursionError):
            said = _plain_text(error, content)
    return " ".join(encodable(said).split()) if isinstance(said, str) else ""


def _plain_text(error: BaseException, content: bytes) -> str:
    """The text of a refusal without JSON, as Qdrant sends about keys and tokens."""
    kind = str((getattr(error, "headers", None) or {}).get("content-type", ""))
    # Qdrant sends it without a type, proxies with one.
    if _status(error) not in {401, 403} or (kind and not kind.startswith("text/plain")):
        return ""
    return content[:_SHOWN].decode("utf-8", "replace")


def _rate_limited(error: BaseException) -> bool:
    return _status(error) == 429 or _rpc_code(error) == "RESOURCE_EXHAUSTED"


def _asks_for_less(error: BaseException) -> bool:
    """Whether the server's limit is below the size of this very request: waiting does not help."""
    return _rate_limited(error) and _hint(error) is None and any(words in _said(error).lower() for words in _TOO_MUCH)


def _is_of_size(error: BaseException) -> bool:
    """Whether a smaller request may succeed."""
    status = _status(error) or _rpc_code(error)
    is_slow = status in _TIMEOUTS or "timeout" in type(_root(error)).__name__.lower()
    return is_slow or status == 413 or is_too_large(error) or _asks_for_less(error)


def _hint(error: BaseException) -> float | None:
    """Seconds that the server asks to wait; qdrant-client quotes a date that it cannot parse in its message."""
    seconds = getattr(error, "retry_after_s", None)
    if isinstance(seconds, int | float):
        return float(seconds)
    _, found, value = str(error).partition("not a valid integer:")
    return wait_hint({"retry-after": value}) if found else None


def _rpc_code(error: BaseException) -> str | None:
    code: Any = getattr(error, "code", None)
    if callable(code) and "Rpc" in "".join(cls.__name__ for cls in type(error).__mro__):
        return str(getattr(code(), "name", code()))
    return None


def _of_the_wire(error: BaseException) -> bool:
    names = {cls.__name__ for cls in type(_root(error)).__mro__}
    return bool(names & {"TransportError", "DecodingError"}) and "LocalProtocolError" not in names


def _root(error: BaseException) -> BaseException:
    source = getattr(error, "source", None)
    return source if isinstance(source, BaseException) else error


_log = logging.getLogger(__name__)
T = TypeVar("T")


class Asking:
    """Calls a client for one collection, and counts tries over all calls; safe to use from several threads."""

    def __init__(self, client: QdrantClient, *, collection: str, place: str, policy: RetrySettings) -> None:
        self._client = client
        self._collection = collection
        self._place = place
        self._policy = policy
        self._lock = threading.Lock()
        self.attempts = Attempts()

    def __call__(self, call: Callable[[], T], *, divisible: bool = False) -> T:
        """The result of ``call``.

        ``divisible``: the caller asks for less if this fails because of its size, so a timeout is not repeated.

        Raises:
            SystemFailure: ``index.collection_missing`` with near names, or ``index.unreachable``; TooMuchAtOnceError if
                a smaller request may succeed.
        """
        attempts = Attempts()

        def judged(error: BaseException) -> Verdict:
            return GIVE_UP if divisible and _is_of_size(error) else classify(error)

        try:
            return call_with_retries(call, policy=self._policy, classify=judged, attempts=attempts)
        except Exception as error:
            if is_defect(error):
                raise
            if is_missing_collection(error):
                raise self._missing() from error
            raise self.failure(error, attempts.tries) from (None if holds_secrets(error) else error)
        finally:
            with self._lock:
                self.attempts.tries += attempts.tries
                self.attempts.waited_s += attempts.waited_s

    def failure(self, error: BaseException, tries: int = 1) -> SystemFailure:
        """The readable failure of an error."""
        return failure_of(error, place=self._place, tries=tries, key=self._key())

    def pages(self, ask_page: Callable[[Any], tuple[T, Any]], start: Any = None) -> Iterator[T]:
        """All pages of a scroll.

        Args:
            ask_page: The page at an offset and the next offset; None is the start, and the end.
            start: The first offset.

        Raises:
            SystemFailure: As ``ask_page``; ``index.unreachable``: the scroll repeats.
        """
        offset: Any = start
        seen: set[str] = set()
        while True:
            page, offset = ask_page(offset)
            yield page
            if offset is None:
                return
            if str(offset) in seen:
                raise SystemFailure(
                    f"{self._place} returns the same page of points again and again",
                    code=INDEX_UNREACHABLE.code,
                    system="Qdrant",
                    subject=self._place,
                    remedy="Check the server and any proxy in between: a scroll must continue from next_page_offset.",
                )
            seen.add(str(offset))

    def _missing(self) -> SystemFailure:
        try:
            names = sorted(entry.name for entry in self._client.get_collections().collections)
        except Exception as error:  # noqa: BLE001  near names are a courtesy; the failure itself is already known
            _log.debug("no collection names: %s", type(error).__name__)
            names = []
        near = nearest(self._collection, names, count=1)
        more = ", ..." if len(names) > LISTED else ""
        listed = f"; it has: {', '.join(names[:LISTED])}{more}" if names else ""
        remedy = "Set qdrant.collection to one of these." if names else "Run the ingestion first."
        return SystemFailure(
            f"{self._place} has no collection {self._collection}{listed}",
            code=COLLECTION_MISSING.code,
            system="Qdrant",
            subject=self._collection,
            remedy=f"Did you mean {near[0]}?" if near else remedy,
            details={"collections": names[:20]},
        )

    def _key(self) -> str | None:
        key = getattr(getattr(self._client, "_client", None), "_api_key", None)
        return key if isinstance(key, str) else None
