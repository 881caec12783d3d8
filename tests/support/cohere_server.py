"""A local stand-in for Cohere's ``/v2/embed`` and ``/v2/rerank`` with configurable responses.

with CohereStandIn() as cohere:
embedder = CohereEmbedder(model="embed-english-v3.0", api_key="k", base_url=cohere.url)
cohere.fail("429", times=1, headers={"Retry-After": "1"})
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import socket
import struct
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MAX_TEXTS = 96
STATUS_MESSAGES = {
    "400": "invalid request: valid input_type must be provided with the provided model",
    "401": "invalid api token",
    "403": "this key may not do that",
    "404": "model not found, make sure the correct model ID was used",
    "408": "request timed out",
    "409": "conflict",
    "422": "unprocessable",
    "429": "You are using a Trial key, which is limited to 40 API calls / minute",
    "498": "invalid token",
    "500": "internal server error",
    "503": "service unavailable",
}


def hashed_vector(text: str, dimension: int = 1024) -> list[float]:
    """Counts of hashed words, of length 1; a text without words points along the first axis."""
    counts = [0.0] * dimension
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
        counts[int.from_bytes(digest, "big") % dimension] += 1.0
    length = math.sqrt(sum(count * count for count in counts))
    return [count / length for count in counts] if length else [1.0] + [0.0] * (dimension - 1)


@dataclass(frozen=True)
class RecordedRequest:
    """One request: its path, its headers with lower-case names, and its JSON body."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class CohereStandIn:
    """A server on its own port of 127.0.0.1; use ``url`` as ``base_url``.

    ``mode`` selects the response: ``ok``; a status (``429``, ``500``, ``401``, ...); ``html`` (502), ``html_latin1``
    (502, not UTF-8), ``html_ok`` (200), ``slow``, ``short`` (one vector too few), ``wrong_dimension``, ``nan``,
    ``ragged``, ``empty`` (no vectors), ``no_embeddings``, ``reset``, ``half`` (closes in mid-body), or ``raw`` with
    ``raw_body``.

    Args:
        dimension: Length of the vectors, unless a request asks for another.
        max_words: The model's input limit in words, the stand-in's tokens.
        delay_s: How long ``slow`` waits before it answers.
        billed: Whether responses have billed tokens.
    """

    path = "/v2/embed"
    rerank_path: str | None = "/v2/rerank"

    def __init__(
        self, *, dimension: int = 1024, max_words: int = 512, delay_s: float = 2.0, billed: bool = True
    ) -> None:
        self.dimension = dimension
        self.max_words = max_words
        self.delay_s = delay_s
        self.billed = billed
        self.requests: list[RecordedRequest] = []
        self.mode = "ok"
        self.raw_body = b""
        self.message: str | None = None
        self.headers: dict[str, str] = {}
        self.stopping = threading.Event()
        self._times: int | None = None
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def fail(
        self, mode: str, *, times: int | None = None, headers: dict[str, str] | None = None, message: str | None = None
    ) -> None:
        """Answer with ``mode`` from now on, or ``times`` times and then ``ok`` again."""
        self.mode, self._times, self.headers, self.message = mode, times, headers or {}, message

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def next_mode(self, request: RecordedRequest) -> str:
        """Record ``request`` and return its mode."""
        with self._lock:
            self.requests.append(request)
            if self._times is None:
                return self.mode
            self._times -= 1
            return self.mode if self._times >= 0 else "ok"

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and JSON of the response to an accepted request."""
        if "documents" in body:
            return 200, self.reranked(body["query"], body["documents"])
        texts = body.get("texts") or []
        if len(texts) > MAX_TEXTS:
            return 400, {"message": f"invalid request: at most {MAX_TEXTS} texts"}
        if any(not text.strip() for text in texts):
            return 400, {"message": "invalid request: texts must not be empty or only whitespace"}
        words = [text.split() for text in texts]
        if body.get("truncate") == "NONE" and any(len(part) > self.max_words for part in words):
            return 400, {"message": f"too many tokens: a text exceeds {self.max_words} tokens"}
        read = [" ".join(part[: self.max_words]) for part in words]
        dimension = body.get("output_dimension") or self.dimension
        return 200, self.wrapped([hashed_vector(text, dimension) for text in read], sum(map(len, words)))

    def reranked(self, query: str, documents: list[str]) -> dict[str, Any]:
        """The JSON of a response that scores each document by the share of the query's words that it holds."""
        words = set(query.split())
        scores = [len(words & set(text.split())) / max(len(words), 1) for text in documents]
        order = sorted(range(len(scores)), key=lambda number: -scores[number])
        results = [{"index": number, "relevance_score": scores[number]} for number in order]
        return {"id": "x", "results": results, "meta": {"billed_units": {"search_units": 1}}}

    def error(self, status: str, message: str) -> dict[str, Any]:
        """The JSON of an error response."""
        return {"id": "x", "message": message}

    def texts_of(self, body: dict[str, Any]) -> list[str]:
        """The texts of a request."""
        return body.get("texts") or []

    def wrapped(self, vectors: list[Any], tokens: int = 0) -> dict[str, Any]:
        """The JSON of a response with ``vectors``."""
        meta: dict[str, Any] = {"api_version": {"version": "2"}}
        if self.billed:
            meta["billed_units"] = {"input_tokens": tokens}
        return {
            "id": "00000000-0000-0000-0000-000000000000",
            "response_type": "embeddings_by_type",
            "embeddings": {"float": vectors},
            "texts": [],
            "meta": meta,
        }

    def spoiled(self, mode: str, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON of an invalid response with status 200."""
        good = [hashed_vector(text, self.dimension) for text in self.texts_of(body)]
        if mode == "no_embeddings":
            return {"id": "x", "response_type": "embeddings_by_type"}
        spoiled: dict[str, list[Any]] = {
            "short": good[:-1],
            "wrong_dimension": [vector[:-1] for vector in good],
            "nan": [*good[:-1], [math.nan] * self.dimension],
            "ragged": [*good[:-1], good[-1][:-1]],
            "empty": [],
        }
        return self.wrapped(spoiled[mode])


def unused_url() -> str:
    """A URL on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def _handler_for(standin: CohereStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each answer waits 40 ms for a delayed acknowledgement

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            mode = standin.next_mode(RecordedRequest(self.path, headers, body))
            if mode == "slow":
                standin.stopping.wait(standin.delay_s)
                mode = "ok"
            self._answer(mode, body)

        def _answer(self, mode: str, body: dict[str, Any]) -> None:
            if self.path.partition("?")[0] not in {standin.path, standin.rerank_path}:
                self._send_json(404, standin.error("404", f"no such endpoint: {self.path}"))
            elif mode == "ok":
                self._send_json(*standin.answer(body))
            elif mode == "raw":
                self._send(200, standin.raw_body, "application/json")
            elif mode.isdigit():
                message = standin.message or STATUS_MESSAGES.get(mode, "something went wrong")
                self._send_json(int(mode), standin.error(mode, message))
            elif mode.startswith("html"):
                page = "<html><body>Bad gateway: se\u00f1or</body></html>"
                coding = "latin-1" if mode == "html_latin1" else "utf-8"
                self._send(200 if mode == "html_ok" else 502, page.encode(coding), "text/html")
            elif mode in ("reset", "half"):
                self._break_off(mode)
            else:
                self._send_json(200, standin.spoiled(mode, body))

        def _send_json(self, status: int, body: dict[str, Any]) -> None:
            self._send(status, json.dumps(body).encode(), "application/json")

        def _send(self, status: int, body: bytes, kind: str) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for name, value in standin.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:  # the client has timed out
                self.close_connection = True

        def _break_off(self, mode: str) -> None:
            if mode == "half":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
            else:  # linger 0 makes the close a TCP reset
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    return Handler
