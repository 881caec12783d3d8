"""Failed calls to a provider: whether and when to retry, and a readable message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.rules.embedder.unreachable import RULE as EMBEDDER_UNREACHABLE
from ragval_pipeline.sources.calls import GIVE_UP, TRY_AGAIN, Verdict, asks_to_wait, wait_hint
from ragval_pipeline.sources.embedders.base import MALFORMED
from ragval_pipeline.sources.embedders.models import Maker, models_of, retirement_of
from ragval_pipeline.sources.http.paced import TOO_LARGE
from ragval_pipeline.text.printing import nearest

QUOTE_CHARS = 200
RETRIED_STATUS = (408, 409, 429)

_REQUEST = "Check embedding.model, embedding.dimension and the texts."
_REMEDIES = {
    400: _REQUEST,
    401: "Check the key in embedding.api_key.",
    402: "Check the billing of the account of the key in embedding.api_key.",
    403: "Check the rights of the key in embedding.api_key, and embedding.base_url.",
    404: "Check embedding.model and embedding.base_url.",
    422: _REQUEST,
    429: "The key's rate limit or monthly quota is used up: wait, raise retry.max and "
    "retry.deadline_s, lower embedding.identity_sample, or use a production key.",
    498: "A text or the key holds a token that the provider does not accept: check embedding.api_key and the texts.",
}
_QUOTA = "The account's quota is used up: check its billing. Waiting does not help."
_TOO_LONG = "Shorten the query, or set embedding.model to a model with a higher token limit."
#: Providers' messages about texts that are too long: Cohere, OpenAI, vLLM, Voyage, Text Embeddings Inference.
_LENGTH_WORDS = ("too many tokens", "maximum context length", "maximum input length", "must have less than", "too long")
_LATER = "The provider has trouble: try again later, or raise retry.max and retry.deadline_s."
_NO_ANSWER = "Check embedding.base_url, the network, the proxy and the firewall."
_CERTIFICATE = "Check embedding.base_url and the trusted certificates (SSL_CERT_FILE)."
#: Exceptions of httpx, by name: it is not imported before it is used.
_BROKEN = frozenset({"NetworkError", "RemoteProtocolError"})
_UNCONNECTED = "ConnectError"
_TIMED_OUT = "TimeoutException"


@dataclass(frozen=True)
class Endpoint:
    """The provider that a message is about.

    Without a ``base_url`` it is the provider's own ``host``. The key is removed from everything that is quoted.
    """

    base_url: str | None
    model: str
    api_key: str = field(repr=False)
    provider: Maker = "cohere"
    title: str = "Cohere"
    host: str = "api.cohere.com"

    @property
    def name(self) -> str:
        """``Cohere at HOST``, without path, user name or password."""
        host = urlsplit(self.base_url).netloc.rpartition("@")[2] if self.base_url else self.host
        return f"{self.title} at {host}"


@dataclass(frozen=True)
class Fault:
    """A provider's exception in a common form.

    Attributes:
        status: HTTP status; None without a response.
        words: The response body, text or JSON.
        headers: Of the response; never shown.
        code: The provider's error code, such as ``insufficient_quota``.
    """

    status: int | None = None
    words: Any = None
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    code: str | None = None


def verdict_of(error: BaseException, fault: Fault | None) -> Verdict:
    """Whether to retry: yes for 408, 409, 429, 5xx, broken connections and time-outs.

    An ``error`` without a ``fault`` is not one of the SDK.
    """
    if fault is None:
        return GIVE_UP
    if fault.status is not None:
        if not (fault.status in RETRIED_STATUS or fault.status >= 500) or fault.code == "insufficient_quota":
            return GIVE_UP
        return Verdict(retry=True, retry_after_s=wait_hint(fault.headers))
    # SDKs raise UnicodeDecodeError for a gateway's error page that is not UTF-8.
    passing = {"timed out", "connection refused", "no connection", "connection broken", MALFORMED}
    return TRY_AGAIN if _transport_fault(error) in passing else GIVE_UP


def failure_of(error: BaseException, fault: Fault, endpoint: Endpoint, *, attempts: int) -> SystemFailure:
    """The failure to raise for an SDK's exception."""
    status = fault.status
    not_the_api = f"Check embedding.base_url: what answers there is not {endpoint.title}'s API."
    if status is None:
        subject = _transport_fault(error)
        remedy = {"TLS certificate rejected": _CERTIFICATE, MALFORMED: not_the_api}.get(subject, _NO_ANSWER)
        problem = f"{endpoint.name}: {subject}"
    elif 200 <= status < 300:
        subject, remedy = MALFORMED, not_the_api
        problem = f"{endpoint.name} answered HTTP {status} with something that is not an embedding"
    else:
        quoted = _quote(fault.words, endpoint.api_key)
        subject, remedy = f"HTTP {status}", _status_remedy(status, quoted, fault.code, endpoint)
        wait = asks_to_wait(verdict_of(error, fault).retry_after_s)  # None where waiting does not help
        problem = f"{endpoint.name} answered HTTP {status}{wait}" + (f": {quoted}" if quoted else "")
    return SystemFailure(
        problem,
        code=EMBEDDER_UNREACHABLE.code,
        system="embedder",
        subject=subject,
        remedy=remedy,
        attempts=max(attempts, 1),
        details=details_of(endpoint, status),
    )


def details_of(endpoint: Endpoint, status: int | None) -> dict[str, object]:
    """A finding's details about a failed call; the status is None without an HTTP response."""
    return {"provider": endpoint.provider, "model": endpoint.model, "status": status}


def _transport_fault(error: BaseException) -> str:
    """The problem, by the types of an exception and its causes. Their text may hold a header and is not quoted."""
    chain = list(_causes(error))
    too_large = next((each for each in chain if type(each).__name__ == TOO_LARGE), None)
    if too_large is not None:
        return str(too_large)
    kinds = {kind.__name__ for each in chain for kind in type(each).__mro__}
    if any("CERTIFICATE_VERIFY_FAILED" in str(each) for each in chain):
        return "TLS certificate rejected"
    if any(isinstance(each, UnicodeDecodeError) for each in chain):
        return MALFORMED
    if _TIMED_OUT in kinds:
        return "timed out"
    if "LocalProtocolError" in kinds:  # an error of the request, not of the connection
        return "LocalProtocolError"
    if _UNCONNECTED in kinds:
        refused = any("refused" in str(each).lower() for each in chain)
        return "connection refused" if refused else "no connection"
    if kinds & _BROKEN:
        return "connection broken"
    return type(chain[-1]).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and its causes, outermost first; a few levels are enough."""
    found: BaseException | None = error
    for _ in range(8):
        if found is None:
            return
        yield found
        inner = next((each for each in found.args if isinstance(each, BaseException)), None)
        found = found.__cause__ or inner


def _status_remedy(status: int, quoted: str, code: str | None, endpoint: Endpoint) -> str:
    if status in (400, 413, 422) and any(words in quoted.lower() for words in _LENGTH_WORDS):
        return _TOO_LONG
    retired = retirement_of(endpoint.provider, endpoint.model, endpoint.base_url)
    if retired is not None and status in (400, 404, 410, 422):
        return retired
    if code == "insufficient_quota":
        return _QUOTA
    if status >= 500 or status in (408, 409):
        return _LATER
    remedy = _REMEDIES.get(status, _NO_ANSWER)
    meant = nearest(endpoint.model, models_of(endpoint.provider), count=1) if status in (400, 404, 422) else []
    return f"{remedy} Did you mean the model {meant[0]}?" if meant and meant[0] != endpoint.model else remedy


def _quote(body: Any, api_key: str) -> str:
    """The provider's message on one line, short and without the key; empty for an HTML page."""
    words = _words_in(body)
    if words.lstrip().startswith("<"):
        return ""
    line = " ".join(words.replace(api_key, "[key]").split() if api_key else words.split())
    return line if len(line) <= QUOTE_CHARS else f"{line[:QUOTE_CHARS]}..."


def _words_in(body: Any) -> str:
    """The message in an error's body; providers put it under different names, some one level down."""
    if isinstance(body, str):
        return body
    inner = [body.get(name) for name in ("message", "detail", "error")] if isinstance(body, Mapping) else []
    return next(filter(None, map(_words_in, inner)), "")
