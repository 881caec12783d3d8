"""Real servers on the loopback address that answer correctly, wrongly or not at all."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """The response of a route."""

    body: bytes | str = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def payload(self) -> bytes:
        """The body as bytes."""
        return self.body.encode() if isinstance(self.body, str) else self.body


@dataclass
class Site:
    """A running server: its address, its requests, and its routes, which may be changed while it runs."""

    url: str
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    routes: dict[str, Route] = field(default_factory=dict)

    def paths(self) -> list[str]:
        """The requested paths, in order."""
        return [path for path, _ in self.asked]


Route = Answer | str | bytes | list[Any] | Callable[[], Answer]


@contextlib.contextmanager
def serving(routes: dict[str, Route]) -> Iterator[Site]:
    """Serve routes; a list is answered in turn and its last entry repeated; an unknown path is a 404.

    ``{base}`` in a text body becomes the server's own address.
    """
    site = Site("", routes=dict(routes))
    turns: dict[str, int] = {}
    lock = threading.Lock()

    def answer_of(path: str) -> Answer:
        route = site.routes.get(path, Answer("not here", 404))
        if isinstance(route, list):
            with lock:
                turn = turns.get(path, 0)
                turns[path] = turn + 1
            route = route[min(turn, len(route) - 1)]
        if callable(route):
            route = route()
        return route if isinstance(route, Answer) else Answer(route)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            answer = answer_of(self.path)
            body = answer.payload
            if isinstance(answer.body, str):
                body = answer.body.replace("{base}", site.url).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value.replace("{base}", site.url))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: object, client_address: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def raw_server(talk: Callable[[socket.socket, threading.Event], None], *, peek: bool = False) -> Iterator[Site]:
    """Accept connections and pass them to ``talk``; the event is set at the end of the test.

    Args:
        talk: Handles one connection.
        peek: Leave the first bytes of the client for ``talk`` to read, as a TLS handshake needs them.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()
    site = Site(f"http://127.0.0.1:{listener.getsockname()[1]}")

    def converse(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(65536, socket.MSG_PEEK if peek else 0)
            site.asked.append(("/", {}))
            talk(connection, over)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=converse, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield site
    finally:
        over.set()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def refused_url() -> str:
    """Return an address on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
