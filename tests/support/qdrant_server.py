"""A Qdrant server on a loopback port: Qdrant's engine behind the REST calls that ragval makes, and a server's faults.

with QdrantStandIn() as server:
client = QdrantClient(url=server.url, check_compatibility=False)
server.fail("503", times=2, path="/scroll")
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.support.qdrant_engine import VERSION, Engine, Refused

HTML = b"<!doctype html><title>Sign in</title><form action='/login'></form>"


@dataclass
class Fault:
    """A fault, how many times, and on which paths."""

    kind: str
    times: int
    path: str | tuple[str, ...]
    headers: dict[str, str] = field(default_factory=dict)


class QdrantStandIn:
    """A server on 127.0.0.1; ``asked`` holds method and path of every request.

    Fault kinds: a status (``401``, ``429``, ``503``, ...), ``slow``, ``reset`` (in the middle of the body), ``html``,
    ``truncated``, ``nested`` (100,000 times), ``schema`` (JSON of
    another shape), ``null`` (no result), ``circle`` (an endless scroll), ``no score`` and ``nan score`` (hits whose
    score is None, or no number), ``echo`` (a 500 that repeats the key), ``lost`` (the request is executed, but never
    answered).

    Args:
        api_key: The key that every request must carry; None: none.
        tokens: Limited keys: ``expired``, or the only collection that they may read.
        write_key: The key required for changes of aliases, valid for everything else too; None: ``api_key``.
        slow_s: How long ``slow`` waits before it answers.
        link_s: Latency of every response.
        version: The reported version; those before 1.19 have no slices.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        write_key: str | None = None,
        slow_s: float = 1.5,
        tokens: Mapping[str, str] | None = None,
        link_s: float = 0.0,
        version: str = VERSION,
    ) -> None:
        self.engine = Engine()
        self.api_key = api_key
        self.write_key = write_key
        self.tokens = dict(tokens or {})
        self.slow_s = slow_s
        self.link_s = link_s
        self.version = version
        self.asked: list[str] = []
        self.stopping = threading.Event()
        #: Searches of a batch from which it takes ``slow_s``; None: none does.
        self.slow_from: int | None = None
        #: Requests with a slice of ids that are still answered; later ones fail.
        self.slices_left = 1_000_000
        self._faults: list[Fault] = []
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> QdrantStandIn:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self.engine.close()

    def fail(
        self,
        kind: str,
        *,
        times: int = 1_000_000,
        path: str | tuple[str, ...] = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        """Fail the next ``times`` requests whose path ends with ``path``, or with one of several."""
        self._faults.append(Fault(kind, times, path, headers or {}))

    def heal(self) -> None:
        """Answer everything correctly again."""
        self._faults.clear()

    def count(self, ending: str) -> int:
        """Requests whose path ended with ``ending``."""
        return sum(entry.endswith(ending) for entry in self.asked)

    def refusal(self, path: str, key: str | None) -> tuple[int, str] | None:
        """Status and message for a request with a wrong key; None if the key is valid."""
        allowed = self.tokens.get(key or "")
        if allowed == "expired":
            return 403, "Invalid API key or JWT: ExpiredSignature"
        if allowed is not None:
            known = re.match(r"/collections/([^/]+)", path)
            if known is None or known[1] == allowed:
                return None
            return 403, f"Forbidden: Access to collection {known[1]} is required"
        if self.api_key is not None and (key is None or key not in {self.api_key, self.write_key}):
            return 401, "Must provide an API key or an Authorization bearer token"
        if path == "/collections/aliases" and self.write_key is not None and key != self.write_key:
            return 403, "Forbidden: Global manage access is required"
        return None

    def next_fault(self, path: str) -> Fault | None:
        """The fault of a request, counted; None: it is answered correctly."""
        for fault in self._faults:
            if fault.times > 0 and path.endswith(fault.path):
                fault.times -= 1
                return fault
        return None


@contextlib.contextmanager
def qdrant_stand_in(**arguments: Any) -> Iterator[QdrantStandIn]:
    """A running stand-in."""
    with QdrantStandIn(**arguments) as server:
        yield server


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are part of the tests."""


def _handler(server: QdrantStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            path = unquote(urlsplit(self.path).path)
            server.asked.append(f"{self.command} {path}")
            server.stopping.wait(server.link_s)
            fault = server.next_fault(path)
            refusal = server.refusal(path, self.headers.get("api-key"))
            if fault is not None and fault.kind == "lost":
                server.engine.answer(self.command, path, json.loads(body))
                self.reset(body)
            elif fault is not None:
                self.go_wrong(fault, path, json.loads(body or b"{}"))
            elif refusal is not None:
                status, words = refusal
                self.send(status, words.encode())  # without a type, as Qdrant sends it
            else:
                self.go_well(path, json.loads(body or b"{}"))

        def go_well(self, path: str, body: dict[str, Any]) -> None:
            if path == "/":
                return self.reply(
                    200, {"title": "qdrant - vector search engine", "version": server.version, "commit": None}
                )
            if server.slow_from is not None and len(body.get("searches", ())) >= server.slow_from:
                server.stopping.wait(server.slow_s)
            if "slice" in json.dumps(body.get("filter")):
                server.slices_left -= 1
                if server.slices_left < 0:
                    return self.refuse(500, "slices are broken")
            try:
                result = server.engine.answer(self.command, path, body)
            except Refused as refused:
                return self.refuse(refused.status, str(refused))
            return self.reply(200, {"result": result, "status": "ok", "time": 0.001})

        def go_wrong(self, fault: Fault, path: str, body: dict[str, Any]) -> None:
            good = json.dumps({"result": {"points": []}, "status": "ok", "time": 0.0}).encode()
            if fault.kind.isdigit():
                self.refuse(int(fault.kind), f"simulated {fault.kind}", fault.headers)
            elif fault.kind == "slow":
                server.stopping.wait(server.slow_s)
                self.send(200, good)
            elif fault.kind == "reset":
                self.reset(good)
            elif fault.kind == "html":
                self.send(200, HTML, {"content-type": "text/html"})
            elif fault.kind == "html404":
                self.send(404, HTML, {"content-type": "text/html"})
            elif fault.kind == "truncated":
                self.send(200, good[:-12])
            elif fault.kind == "schema":
                self.reply(200, {"hello": "timeout refused certificate"})
            elif fault.kind == "nested":
                self.send(200, b"[" * 100_000, {"content-type": "application/json"})
            elif fault.kind == "null":
                self.reply(200, {"result": None, "status": "ok", "time": 0.0})
            elif fault.kind == "circle":
                result = {"points": [{"id": 7, "payload": {}}], "next_page_offset": 7}
                self.reply(200, {"result": result, "status": "ok", "time": 0.0})
            elif fault.kind in {"no score", "nan score"}:
                score = None if fault.kind == "no score" else math.nan
                hits: dict[str, Any] = {"points": [{"id": 7, "version": 0, "score": score, "payload": {}}]}
                several: Any = [hits] * len(body["searches"]) if "searches" in body else hits
                self.reply(200, {"result": several, "status": "ok", "time": 0.0})
            elif fault.kind == "echo":
                self.refuse(500, f"no shard for {self.headers.get('api-key')}")
            else:
                raise ValueError(fault.kind)

        def reset(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:10])
            self.wfile.flush()
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()

        def refuse(self, status: int, words: str, headers: dict[str, str] | None = None) -> None:
            body = {"status": {"error": words}, "time": 0.0} if words else {"detail": "not here"}
            self.reply(status, body, headers)

        def reply(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
            self.send(status, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})

        def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Log nothing."""

        do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

    return Handler
