"""What went wrong when Qdrant was asked: one line for people, and whether another try is worth it.

What lives here: every exception of qdrant-client, httpx and gRPC that a read can raise. What does not: retrying.
"""

from __future__ import annotations

from typing import Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.retry import GIVE_UP, TRY_AGAIN, Verdict

_RETRYABLE_STATUS = frozenset({429, 500, 502, 503, 504})
_RETRYABLE_RPC = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"})

#: Words in a transport error's text, and what they mean to a person.
_TRANSPORT = (
    (("already accessed",), "is open in another process",
     "Wait until it ends, or use a Qdrant server: an embedded one has one user."),
    (("timeout", "timed out"), "did not answer in time", "Raise qdrant.timeout_s or look at the server's load."),
    (("certificate", "ssl"), "has a TLS problem", "Check https in qdrant.url and the certificate."),
    (("name or service not known", "getaddrinfo", "nodename", "resolution"),
     "has a host name that does not resolve", "Check qdrant.url."),
    (("refused",), "refused the connection", "Start Qdrant or correct qdrant.url."),
)  # fmt: skip


def classify(error: BaseException) -> Verdict:
    """Whether a failed read is worth another try, and after how many seconds by the server's own hint."""
    retry_after = getattr(error, "retry_after_s", None)
    if retry_after is not None:
        return Verdict(retry=True, retry_after_s=float(retry_after))
    if _status(error) in _RETRYABLE_STATUS or _rpc_code(error) in _RETRYABLE_RPC:
        return TRY_AGAIN
    return TRY_AGAIN if _transport_error(error) else GIVE_UP


def is_missing_collection(error: BaseException) -> bool:
    """Whether the answer was that there is no such collection; local mode says so with a ``ValueError``."""
    if _status(error) == 404 or _rpc_code(error) == "NOT_FOUND":
        return True
    return isinstance(error, ValueError) and "not found" in str(error)


def failure_of(error: BaseException, *, place: str, tries: int) -> SystemFailure:
    """The failure that a person reads.

    Args:
        error: What qdrant-client raised.
        place: The server's URL or the embedded folder, without credentials.
        tries: How many times it was tried.
    """
    problem, remedy = _explain(error)
    return SystemFailure(
        f"{place} {problem}",
        code="index.unreachable",
        system="Qdrant",
        subject=place,
        remedy=remedy,
        attempts=max(tries, 1),
        details={"status": _status(error), "error": type(_root(error)).__name__},
    )


def _explain(error: BaseException) -> tuple[str, str]:
    status, code = _status(error), _rpc_code(error)
    if status in {401, 403} or code in {"UNAUTHENTICATED", "PERMISSION_DENIED"}:
        return f"refused the key ({status or code})", "Check qdrant.api_key."
    if status is not None:
        return f"answered with status {status}", "Look at the server's log."
    if code is not None:
        return f"failed with gRPC status {code}", "Check qdrant.url and the gRPC port."
    if isinstance(error, ValueError) and not _transport_error(error):
        return "answered something that is not Qdrant's", "Check that qdrant.url is Qdrant's own address."
    root = _root(error)
    text = f"{type(root).__name__} {root}".lower()
    for words, problem, remedy in _TRANSPORT:
        if any(word in text for word in words):
            return problem, remedy
    return f"does not answer ({type(root).__name__})", "Check qdrant.url and the network."


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _rpc_code(error: BaseException) -> str | None:
    code: Any = getattr(error, "code", None)
    if callable(code) and "Rpc" in "".join(cls.__name__ for cls in type(error).__mro__):
        return str(getattr(code(), "name", code()))
    return None


def _transport_error(error: BaseException) -> bool:
    names = {cls.__name__ for cls in type(_root(error)).__mro__}
    return "TransportError" in names


def _root(error: BaseException) -> BaseException:
    source = getattr(error, "source", None)
    return source if isinstance(source, BaseException) else error


def is_defect(error: BaseException) -> bool:
    """Whether the error is a mistake in a program rather than something that Qdrant or the network did."""
    return isinstance(error, TypeError | AttributeError | KeyError | NameError | AssertionError)
