"""What a failed call to Cohere means: whether to try again, and what to tell a person.

What lives here: reading the exceptions of the Cohere SDK and of httpx below it. What does not: making calls
(``cohere_v2``), and waiting (``sources/retry``). Nothing here shows a header or the key: the SDK's own messages hold
response headers, and httpx quotes a header that it cannot send.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.embedders.base import MALFORMED
from ragval_pipeline.sources.embedders.hints import wait_hint
from ragval_pipeline.sources.embedders.models import COHERE_MODELS
from ragval_pipeline.sources.retry import GIVE_UP, TRY_AGAIN, Verdict
from ragval_pipeline.suite.nearest import nearest

DEFAULT_HOST = "api.cohere.com"
QUOTE_CHARS = 200
RETRIED_STATUS = (408, 409, 429)

_REQUEST = "Check embedding.model, embedding.dimension and the texts."
_REMEDIES = {
    400: _REQUEST,
    401: "Check the key in embedding.api_key.",
    402: "Check the billing of the account that the key in embedding.api_key belongs to.",
    403: "Check the rights of the key in embedding.api_key, and embedding.base_url.",
    404: "Check embedding.model and embedding.base_url.",
    422: _REQUEST,
    429: "The key's rate limit or monthly quota is used up: wait, lower embedding.identity_sample, "
    "or use a production key.",
    498: "A text or the key holds a token that Cohere does not accept: check embedding.api_key and the texts.",
}
_TOO_LONG = "Shorten the query, or choose a model that reads more in embedding.model."
_LATER = "The provider has trouble: try again later, or raise retry.max and retry.deadline_s."
_NO_ANSWER = "Check embedding.base_url and the network, proxy and firewall on the way there."
_NOT_COHERE = "Check embedding.base_url: what answers there is not Cohere's API."
_CERTIFICATE = "Check embedding.base_url and the trusted certificates (SSL_CERT_FILE)."


@dataclass(frozen=True)
class Endpoint:
    """Whom a message is about.

    Args:
        base_url: As the suite gives it; None: Cohere's own.
        model: Model that was asked for.
        api_key: Blanked out in everything that is quoted.
    """

    base_url: str | None
    model: str
    api_key: str = field(repr=False)

    @property
    def name(self) -> str:
        """``Cohere at HOST``, without path, user name or password."""
        host = urlsplit(self.base_url).netloc.rpartition("@")[2] if self.base_url else DEFAULT_HOST
        return f"Cohere at {host}"


def expected_errors() -> tuple[type[Exception], ...]:
    """What a call through the SDK raises when the other side is at fault."""
    import httpx
    from cohere.core.api_error import ApiError
    from cohere.core.parse_error import ParsingError

    return ApiError, ParsingError, httpx.RequestError, httpx.InvalidURL, UnicodeDecodeError


def classify(error: BaseException) -> Verdict:
    """Whether another try is worth it: 408, 409, 429, 5xx, broken connections and time-outs are."""
    import httpx
    from cohere.core.api_error import ApiError

    if isinstance(error, ApiError):
        if not _worth_retrying(error.status_code or 0):
            return GIVE_UP
        return Verdict(retry=True, retry_after_s=wait_hint(error.headers))
    # UnicodeDecodeError is how the SDK fails on a gateway's error page that is not UTF-8.
    passing = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError, UnicodeDecodeError)
    return TRY_AGAIN if isinstance(error, passing) and not _is_certificate_fault(error) else GIVE_UP


def failure_of(error: Exception, endpoint: Endpoint, *, attempts: int) -> SystemFailure:
    """The failure to raise for ``error``, one of ``expected_errors``."""
    status = getattr(error, "status_code", None)
    if status is None:
        subject, remedy = _transport_fault(error)
        problem = f"{endpoint.name}: {subject}"
    elif 200 <= status < 300:
        subject, remedy = MALFORMED, _NOT_COHERE
        problem = f"{endpoint.name} answered HTTP {status} with something that is no embedding"
    else:
        quoted = _quote(getattr(error, "body", None), endpoint.api_key)
        subject, remedy = f"HTTP {status}", _status_remedy(status, quoted, endpoint.model)
        problem = f"{endpoint.name} answered HTTP {status}" + (f": {quoted}" if quoted else "")
    return SystemFailure(
        problem,
        code="embedder.unreachable",
        system="embedder",
        subject=subject,
        remedy=remedy,
        attempts=max(attempts, 1),
        details=details_of(endpoint, status),
    )


def details_of(endpoint: Endpoint, status: int | None) -> dict[str, object]:
    """What a finding says of a failed call; the status is null when no HTTP answer came."""
    return {"provider": "cohere", "model": endpoint.model, "status": status}


def _worth_retrying(status: int) -> bool:
    return status in RETRIED_STATUS or status >= 500


def _is_certificate_fault(error: BaseException) -> bool:
    return "CERTIFICATE_VERIFY_FAILED" in str(error)


def _transport_fault(error: Exception) -> tuple[str, str]:
    """Subject and remedy of an error of httpx. Its text is never quoted: it may hold a header."""
    import httpx

    if _is_certificate_fault(error):
        return "TLS certificate rejected", _CERTIFICATE
    if isinstance(error, UnicodeDecodeError):
        return MALFORMED, _NOT_COHERE
    if isinstance(error, httpx.TimeoutException):
        return "timed out", _NO_ANSWER
    if isinstance(error, httpx.ConnectError):
        refused = "refused" in str(error).lower()
        return ("connection refused" if refused else "no connection"), _NO_ANSWER
    if isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError)):
        return "connection broken", _NO_ANSWER
    return type(error).__name__, _NO_ANSWER


def _status_remedy(status: int, quoted: str, model: str) -> str:
    if status in (400, 422) and "too many tokens" in quoted.lower():
        return _TOO_LONG
    if status >= 500 or status in (408, 409):
        return _LATER
    remedy = _REMEDIES.get(status, _NO_ANSWER)
    meant = nearest(model, COHERE_MODELS, count=1) if status in (400, 404, 422) else []
    return f"{remedy} Did you mean the model {meant[0]}?" if meant and meant[0] != model else remedy


def _quote(body: Any, api_key: str) -> str:
    """The provider's own words on one line, short and without the key; nothing of an HTML page."""
    words = body.get("message", "") if isinstance(body, dict) else body
    if not isinstance(words, str) or words.lstrip().startswith("<"):
        return ""
    line = " ".join(words.replace(api_key, "[key]").split())
    return line if len(line) <= QUOTE_CHARS else f"{line[:QUOTE_CHARS]}..."
