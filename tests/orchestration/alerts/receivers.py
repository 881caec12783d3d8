"""Places that alerts go to, on loopback: an HTTP endpoint (Slack's API or a webhook) and a mail server."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class HttpReceiver:
    """Answers every POST; ``got`` holds path, headers and body of each.

    ``status`` and ``answer`` are what it says; change them to refuse.
    """

    def __init__(self) -> None:
        self.status, self.answer = 200, b'{"ok": true}'
        self.got: list[tuple[str, dict[str, str], Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.got.append((self.path, headers, json.loads(body)))
                self.send_response(receiver.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(receiver.answer)))
                self.end_headers()
                self.wfile.write(receiver.answer)

            def log_message(self, *args: Any) -> None: ...

        return Handler

    @property
    def bodies(self) -> list[Any]:
        return [body for _, _, body in self.got]


@contextmanager
def http_receiver() -> Iterator[HttpReceiver]:
    receiver = HttpReceiver()
    with _serving(receiver._server):
        yield receiver


class MailReceiver:
    """A mail server that takes everything, or refuses receivers; ``got`` holds the messages as text."""

    def __init__(self) -> None:
        self.refuses = False
        self.got: list[str] = []
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def _handler(self) -> type[socketserver.StreamRequestHandler]:
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self._say("220 ready")
                while line := self.rfile.readline():
                    verb = line.split()[0].upper() if line.split() else b""
                    if verb == b"QUIT":
                        return self._say("221 bye")
                    if verb == b"RCPT" and receiver.refuses:
                        self._say("550 no such person")
                    elif verb == b"DATA":
                        self._say("354 go on")
                        receiver.got.append(self._message())
                        self._say("250 taken")
                    else:
                        self._say("250 fine")
                return None

            def _say(self, text: str) -> None:
                self.wfile.write(f"{text}\r\n".encode())

            def _message(self) -> str:
                lines = []
                while (line := self.rfile.readline()) not in {b".\r\n", b""}:
                    lines.append(line.decode())
                return "".join(lines)

        return Handler


@contextmanager
def mail_receiver() -> Iterator[MailReceiver]:
    receiver = MailReceiver()
    with _serving(receiver._server):
        yield receiver


@contextmanager
def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
