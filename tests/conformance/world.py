"""One small index for each seed, validated under its profile with nothing but the seed's own variables set."""

from __future__ import annotations

import hashlib
import json
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import mul
from pathlib import Path
from typing import Any

import pytest
import yaml
from qdrant_client import QdrantClient, models

from ragval_pipeline import load_suite, run_validation
from tests.support.cohere_server import CohereStandIn, hashed_vector
from tests.support.http_host import serving
from tests.support.qdrant_server import QdrantStandIn

KEY = "CANARY-4f1b9c"
TIME = "2026-01-06T10:00:00Z"
#: Path, title, module and texts of each chunk; the last page is not in the sitemap.
PAGES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("/docs/ros/basics", "ROS 2 basics", "Module 1 Ros2", (
        "ROS 2 is the middleware that the nodes of a robot talk through.",
        "Topics carry messages from one node to many others at once.")),
    ("/docs/sim/gazebo", "Gazebo", "Module 2 Sim", ("Gazebo simulates gravity, collisions and depth sensors.",)),
    ("/docs/old", "Old notes", "Module 9 Old", ("These old notes are about lenses of cameras.",)),
)  # fmt: skip
MISSING = "/docs/vla/voice"
#: What the seeds' ingestions call what they store, by what it is.
NAMES: dict[str, dict[str, str]] = {
    "000": {"text": "chunk_text", "url": "source_url", "module": "module_name", "chapter": "chapter_id",
            "headings": "heading_hierarchy", "tokens": "token_count", "index": "chunk_index"},
    "001": {"text": "text", "url": "source_url", "module": "module", "chapter": "chapter", "index": "chunk_index",
            "hash": "text_hash", "model": "model", "length": "original_length", "time": "processed_at"},
    "002": {"text": "text", "url": "url", "title": "title", "heading": "heading", "tokens": "token_count",
            "index": "position"},
    "003": {"text": "content", "url": "url", "title": "title", "index": "chunk_index", "tokens": "token_count",
            "time": "embedded_at"},
    "004": {"text": "content", "url": "url", "id": "chunk_id", "title": "source_title", "hash": "text_hash",
            "model": "model", "time": "created_at"},
}  # fmt: skip
#: Profile, collection and model of each seed.
SEEDS = {
    "000": ("retrieval-pipeline-testing", "rag_embedding", "embed-english-v3.0"),
    "001": ("retrieval-validation", "book_embeddings", "embed-english-v3.0"),
    "002": ("rag-validation", "robotics_textbook", "embed-multilingual-v3.0"),
    "003": ("retrieval-pipeline", "Physical-AI-Book", "embed-english-v3.0"),
    "004": ("rag-retrieval-testing", "rag-embeddings", "embed-multilingual-v3.0"),
}


@dataclass(frozen=True)
class Chunk:
    """A stored chunk and where it comes from."""

    id: str
    text: str
    url: str
    title: str
    module: str
    chapter: str
    index: int
    payload: dict[str, Any]
    vector: list[float] = field(repr=False)


@dataclass
class Run:
    """A finished run: what it wrote, and everything that was asked while it worked."""

    site: str
    chunks: list[Chunk]
    report: dict[str, Any]
    seed: dict[str, Any]
    folder: Path
    started: datetime
    ended: datetime
    embedded: list[dict[str, Any]] = field(repr=False)
    asked: list[str] = field(repr=False)

    def found(self, text: str, ids: Sequence[str]) -> list[tuple[Chunk, float]]:
        """The chunks with these ids and their cosines to ``text``, after checking that none comes closer to it."""
        query = hashed_vector(text)
        cosines = {chunk.id: (chunk, sum(map(mul, query, chunk.vector))) for chunk in self.chunks}
        found = [cosines[name] for name in ids]
        scores = [score for _, score in found]
        assert len(set(ids)) == len(ids)
        assert scores == pytest.approx(
            sorted((score for _, score in cosines.values()), reverse=True)[: len(ids)], abs=1e-6
        )
        return found

    def is_time(self, text: object) -> bool:
        """Whether a value is a moment of this run, UTC in ISO 8601."""
        assert isinstance(text, str)
        assert text.endswith("Z")
        return self.started <= datetime.fromisoformat(text) <= self.ended


def run_seed(
    seed: str,
    folder: Path,
    queries: Callable[[str], Sequence[Mapping[str, Any]]],
    *,
    env: str = "",
    nested: str | None = None,
    change: Mapping[int, Mapping[str, Any]] | None = None,
    only: set[str] | None = None,
    **sections: Any,
) -> Run:
    """Ingest, write suite and ``.env``, validate.

    Args:
        seed: Number of the seed.
        folder: An empty folder.
        queries: Test queries in the seed's words, made from the site's address.
        env: Further lines of the ``.env``.
        nested: Payload key below which everything but the text is stored; None: nothing is nested.
        change: Values to store in place of the right ones, by number of the chunk.
        only: Groups of measurements; None: all.
        sections: Further sections of the suite.
    """
    profile, collection, model = SEEDS[seed]
    with ExitStack() as stack:
        environment = stack.enter_context(pytest.MonkeyPatch.context())
        for name in _VARIABLES:
            environment.delenv(name, raising=False)
        site = stack.enter_context(serving(_routes()))
        cohere = stack.enter_context(CohereStandIn())
        server = stack.enter_context(QdrantStandIn(api_key=KEY))
        chunks = _chunks(seed, site.url, model, nested, change or {})
        _ingest(server, collection, chunks)
        server.asked.clear()
        (folder / ".env").write_text(
            f"COHERE_API_KEY={KEY}\nQDRANT_URL={server.url}\nQDRANT_API_KEY={KEY}\n"
            f"DOCUSAURUS_BASE_URL={site.url}\nBASE_URL={site.url}\n{env}"
        )
        embedding = {"base_url": cohere.url, **sections.pop("embedding", {})}
        written = {
            "suite": "book",
            "profile": profile,
            "embedding": embedding,
            "queries": list(queries(site.url)),
            **sections,
        }
        (folder / "ragval.yaml").write_text(yaml.safe_dump(written, sort_keys=False))
        started = _to_the_millisecond(datetime.now(UTC))
        run_validation(load_suite(folder / "ragval.yaml"), only=only, output=str(folder / "out"))
        ended = datetime.now(UTC)
        files = {name: json.loads((folder / "out" / f"{name}.json").read_text()) for name in _FILES}
        return Run(site.url, chunks, *files.values(), folder, started, ended,
                   [request.body for request in cohere.requests], list(server.asked))  # fmt: skip


_FILES = ("validation_report", "profile_report")
_VARIABLES = ("COHERE_API_KEY", "CO_API_KEY", "QDRANT_URL", "QDRANT_API_KEY", "DOCUSAURUS_BASE_URL", "BASE_URL")


def same(actual: Any, expected: Any, where: str = "$") -> None:
    """Assert that JSON values are equal in shape, type and value; a callable in ``expected`` says whether one is right.

    Floats may differ by 1e-6: Qdrant computes with 32 bits.
    """
    if callable(expected):
        assert expected(actual), f"{where}: {actual!r}"
        return
    assert type(actual) is type(expected), f"{where}: {actual!r} is no {type(expected).__name__}"
    if isinstance(expected, dict):
        assert list(actual) == list(expected), where
        for name, value in expected.items():
            same(actual[name], value, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(actual) == len(expected), where
        for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
            same(one, other, f"{where}[{number}]")
    elif isinstance(expected, float):
        assert actual == pytest.approx(expected, abs=1e-6), where
    else:
        assert actual == expected, where


def is_duration(value: object) -> bool:
    """Whether a value is a float that a time taken can be."""
    return isinstance(value, float) and value > 0


def _to_the_millisecond(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _routes() -> dict[str, Any]:
    listed = "".join(f"<url><loc>{{base}}{path}</loc></url>" for path in (*(page[0] for page in PAGES[:-1]), MISSING))
    routes: dict[str, Any] = {"/sitemap.xml": f"<urlset>{listed}</urlset>"}
    for path, title, _, texts in PAGES:
        body = "".join(f"<p>{text}</p>" for text in texts)
        routes[path] = f"<html><title>{title}</title><body><article>{body}</article></body></html>"
    routes[MISSING] = "<html><body><article><p>A voice command becomes an action.</p></article></body></html>"
    return routes


def _chunks(
    seed: str, site: str, model: str, nested: str | None, change: Mapping[int, Mapping[str, Any]]
) -> list[Chunk]:
    chunks: list[Chunk] = []
    for path, title, module, texts in PAGES:
        for index, text in enumerate(texts):
            number, url, chapter = len(chunks), f"{site}{path}", path.removeprefix("/docs/")
            values = {
                "text": text, "url": url, "title": title, "module": module, "chapter": chapter, "index": index,
                "headings": [title, "Overview"], "heading": "Overview", "tokens": len(text.split()), "time": TIME,
                "hash": hashlib.sha256(text.encode()).hexdigest(), "model": model, "length": 900, "id": f"c{number}",
                "vector": hashed_vector(text), **change.get(number, {}),
            }  # fmt: skip
            payload = {stored: values[name] for name, stored in NAMES[seed].items()}
            if nested is not None:
                payload = {NAMES[seed]["text"]: payload.pop(NAMES[seed]["text"]), nested: payload}
            name = _id(seed, number, f"{url}_{index}")
            chunks.append(Chunk(name, values["text"], url, title, module, chapter, index, payload, values["vector"]))
    return chunks


def _id(seed: str, number: int, key: str) -> str:
    """Numbers in seed 002, MD5 sums in seed 003, UUIDs elsewhere; as text, as reports show it."""
    digest = uuid.UUID(hashlib.md5(key.encode()).hexdigest())
    return str(number) if seed == "002" else str(digest if seed == "003" else uuid.uuid5(uuid.NAMESPACE_URL, key))


def _ingest(server: QdrantStandIn, collection: str, chunks: Sequence[Chunk]) -> None:
    with warnings.catch_warnings(action="ignore"):  # a key over http stays on this machine
        client = QdrantClient(url=server.url, api_key=KEY, check_compatibility=False)
    space = models.VectorParams(size=1024, distance=models.Distance.COSINE)
    client.create_collection(collection, vectors_config=space)
    points = [
        models.PointStruct(
            id=int(chunk.id) if chunk.id.isdigit() else chunk.id, vector=chunk.vector, payload=chunk.payload
        )
        for chunk in chunks
    ]
    client.upsert(collection, points, wait=True)
    client.close()
