"""Failures of web requests: a readable message, and whether to retry."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field

from ragval_pipeline.rules.source.malformed import RULE as SOURCE_MALFORMED
from ragval_pipeline.rules.source.unreachable import RULE as SOURCE_UNREACHABLE
from ragval_pipeline.text.printing import printable

NOT_RESOLVED = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


@dataclass(frozen=True)
class Failure:
    """One failed try: the problem as a clause, its remedy, whether to retry, and further facts."""

    problem: str
    remedy: str
    retry: bool = True
    code: str = SOURCE_UNREACHABLE.code
    details: dict[str, object] = field(default_factory=dict)


def explain(error: BaseException, *, timeout_s: float) -> Failure:
    """Describe a failed request."""
    chain = list(_causes(error))
    return _of_certificate(chain) or _of_network(chain) or _of_time(chain, timeout_s) or _of_protocol(error)


def is_of_the_wire(error: BaseException) -> bool:
    """Whether an exception comes from the connection or the address, not from a defect of ragval."""
    import httpx

    return isinstance(error, httpx.HTTPError | httpx.InvalidURL | OSError)


def _of_certificate(chain: list[BaseException]) -> Failure | None:
    for error in chain:
        if isinstance(error, ssl.SSLCertVerificationError):
            remedy = "Fix the certificate, or add its authority with SSL_CERT_FILE."
            return Failure(f"TLS certificate problem: {error.verify_message}", remedy, retry=False)
        if isinstance(error, ssl.SSLError):
            reason = (error.reason or "handshake failed").replace("_", " ").lower()
            return Failure(f"TLS problem: {reason}", "Check that the port speaks https.", retry=False)
    return None


def _of_network(chain: list[BaseException]) -> Failure | None:
    for error in chain:
        if isinstance(error, socket.gaierror):
            final = error.errno in NOT_RESOLVED
            return Failure("the host name does not resolve", "Check the spelling of the host.", retry=not final)
        if isinstance(error, ConnectionRefusedError):
            return Failure("connection refused", "Check the port, and that the server runs.")
        if isinstance(error, ConnectionResetError | BrokenPipeError):
            return _broken_off()
    return None


def _of_time(chain: list[BaseException], timeout_s: float) -> Failure | None:
    import httpx

    if any(isinstance(error, TimeoutError | httpx.TimeoutException) for error in chain):
        return Failure(f"timed out after {timeout_s:g} s", "Check the server, or raise the time limit.")
    return None


def _of_protocol(error: BaseException) -> Failure:
    import httpx

    if isinstance(error, httpx.ProxyError):
        words = printable(" ".join(str(error).split()))
        return Failure(f"the proxy refused it: {words}", "Check the proxy's address and its login.")
    if isinstance(error, httpx.TooManyRedirects):
        return Failure("redirects without end", "Use the URL that it should end at.", retry=False)
    if isinstance(error, httpx.DecodingError):
        problem = "the answer's Content-Encoding cannot be decoded"
        return Failure(problem, "Check the server's compression.", retry=False, code=SOURCE_MALFORMED.code)
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError | httpx.InvalidURL):
        return Failure("the URL cannot be fetched over http(s)", "Check the address.", retry=False)
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError | httpx.CloseError):
        return _broken_off()
    return Failure("the connection failed", "Check the network and the proxy settings.")


def _broken_off() -> Failure:
    return Failure("the connection was closed before the answer was complete", "Check the server's log.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Walk an exception's causes, contexts and group members."""
    waiting, seen = [error], set[int]()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        below = [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            below.extend(current.exceptions)
        waiting.extend(cause for cause in below if cause is not None)
