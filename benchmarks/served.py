"""Collections of made-up points behind REST, each served by processes of its own.

With vectors it is the tests' stand-in: Qdrant's own engine, which answers one request after another. Without, it is a
server that reads points only and answers as many requests at a time as it has processes, from JSON that is made before:
then what is measured is the client.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import uuid
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COLLECTION, SITE = "scale", "https://docs.example.com"
CHUNKS_A_PAGE, WORDS = 8, 120
#: Points that are made at a time.
_SOME = 1000


@contextmanager
def served(points: int, *, size: int = 0, processes: int = 1, link_s: float = 0.0) -> Iterator[str]:
    """The address of a server while it runs.

    Args:
        points: Of its collection.
        size: Dimensions of its vectors; 0: it has none that can be read.
        processes: Of a server without vectors.
        link_s: How long every answer is on its way.
    """
    if os.environ.get("QDRANT_URL"):
        with _filled(os.environ["QDRANT_URL"], points, size or 64):
            yield os.environ["QDRANT_URL"]
        return
    command = [sys.executable, "-m", "benchmarks.served", *map(str, (points, size, processes, link_s))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def main() -> None:
    """Serve until the process is ended; the first line of output is the address."""
    points, size, processes = map(int, sys.argv[1:4])
    link_s = float(sys.argv[4])
    if size:
        _serve_engine(points, size, link_s)
    else:
        _serve_points(points, processes, link_s)


def fill_folder(folder: Path, points: int, size: int) -> None:
    """Make an embedded collection; writing its points one by one takes minutes."""
    from qdrant_client import QdrantClient  # noqa: PLC0415

    client = QdrantClient(path=str(folder))
    _fill(client, points, size)
    client.close()


def _fill(client: Any, points: int, size: int) -> None:
    from qdrant_client import models  # noqa: PLC0415

    client.create_collection(COLLECTION, models.VectorParams(size=size, distance=models.Distance.COSINE))
    for some in _made(points, size):
        client.upsert(COLLECTION, [models.PointStruct(**entry) for entry in some], wait=True)


@contextmanager
def _filled(url: str, points: int, size: int) -> Iterator[None]:
    from qdrant_client import QdrantClient  # noqa: PLC0415

    client = QdrantClient(url=url, api_key=os.environ.get("QDRANT_API_KEY"), timeout=60, check_compatibility=False)
    try:
        _fill(client, points, size)
        yield
    finally:
        client.delete_collection(COLLECTION)


def _serve_engine(points: int, size: int, link_s: float) -> None:
    from tests.support.qdrant_server import QdrantStandIn  # noqa: PLC0415

    with QdrantStandIn() as server:
        path = f"/collections/{COLLECTION}"
        server.engine.answer("PUT", path, {"vectors": {"size": size, "distance": "Cosine"}})
        for some in _made(points, size):
            server.engine.answer("PUT", f"{path}/points", {"points": some})
        server.link_s = link_s
        print(server.url, flush=True)
        threading.Event().wait()


def _serve_points(points: int, processes: int, link_s: float) -> None:
    rows = sorted((entry["id"], entry["payload"]) for some in _made(points, 0) for entry in some)
    ids = [name for name, _ in rows]
    texts = [json.dumps({"id": name, "payload": payload}).encode() for name, payload in rows]
    hashes = [zlib.crc32(name.encode()) for name in ids]
    cut: dict[tuple[int, int], list[int]] = {(0, 1): list(range(len(ids)))}

    def scroll(body: dict[str, Any]) -> bytes:
        slices = [condition["slice"] for condition in (body.get("filter") or {}).get("must", ())]
        key = (slices[0]["index"], slices[0]["total"]) if slices else (0, 1)
        if key not in cut:
            cut[key] = [place for place, number in enumerate(hashes) if number % key[1] == key[0]]
        chosen = cut[key]
        start = bisect_left(chosen, bisect_left(ids, body.get("offset") or ""))
        end = start + body["limit"]
        following = json.dumps(ids[chosen[end]] if end < len(chosen) else None).encode()
        page = b",".join([texts[place] for place in chosen[start:end]])
        return b'{"points":[%b],"next_page_offset":%b}' % (page, following)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            result = scroll(body) if self.path.endswith("/scroll") else json.dumps({"count": len(ids)}).encode()
            self.reply(b'{"result":%b,"status":"ok","time":0.001}' % result)

        def do_GET(self) -> None:
            known = {"/": {"title": "qdrant", "version": "1.20.0"}, "/aliases": _told({"aliases": []})}
            self.reply(json.dumps(known.get(self.path, _told(_info(len(ids))))).encode())

        def reply(self, body: bytes) -> None:
            time.sleep(link_s)
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Silence."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    parent = os.getpid()
    is_child = any(os.fork() == 0 for _ in range(processes - 1))
    if is_child:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    server.serve_forever()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


def _told(result: Any) -> dict[str, Any]:
    return {"result": result, "status": "ok", "time": 0.001}


def _info(points: int) -> dict[str, Any]:
    hnsw = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000}
    return {
        "status": "green",
        "optimizer_status": "ok",
        "indexed_vectors_count": points,
        "points_count": points,
        "segments_count": 1,
        "config": {
            "params": {"vectors": {"size": 64, "distance": "Cosine"}},
            "hnsw_config": hnsw,
            "optimizer_config": {
                "deleted_threshold": 0.2,
                "vacuum_min_vector_number": 1000,
                "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
            "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
        },
        "payload_schema": {},
    }


def _made(points: int, size: int) -> Iterator[list[dict[str, Any]]]:
    """Points of random words behind their page's title, some at a time; with the stand-in embedder's vectors of them.

    A page is found by its title, as in an index that is in order; ``size`` 0 means no vectors.
    """
    import numpy as np  # noqa: PLC0415

    from tests.support.cohere_server import hashed_vector  # noqa: PLC0415

    @cache
    def axis(word: str) -> int:
        return int(np.argmax(hashed_vector(word, size)))

    def vector(text: str) -> list[float]:
        counts = np.bincount([axis(word) for word in text.lower().split()], minlength=size)
        return list((counts / np.linalg.norm(counts)).tolist())

    rng = np.random.default_rng(3)
    words = np.array(
        [f"{stem}{number}" for number in range(800) for stem in ("gear", "joint", "sensor", "plan", "arm")]
    )
    for start in range(0, points, _SOME):
        payloads = [
            _payload(start + number, text)
            for number, text in enumerate(words[rng.integers(len(words), size=(_SOME, WORDS))].tolist())
        ]
        yield [
            {
                "id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(number))),
                "vector": vector(payload["chunk_text"]) if size else [],
                "payload": payload,
            }
            for number, payload in zip(range(start, min(points, start + _SOME)), payloads, strict=False)
        ]


def _payload(number: int, words: list[str]) -> dict[str, Any]:
    page = number // CHUNKS_A_PAGE
    return {
        "chunk_text": f"Page {page} {' '.join(words)}",
        "source_url": f"{SITE}/docs/module-{page % 7}/page-{page}",
        "module_name": f"module-{page % 7}",
        "chapter_id": f"page-{page}",
        "heading_hierarchy": [f"Page {page}", words[0]],
        "token_count": WORDS,
        "chunk_index": number % CHUNKS_A_PAGE,
    }


if __name__ == "__main__":
    main()
