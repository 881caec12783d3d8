"""The demo's ingestion: crawl the built site, extract, chunk, embed, upsert."""

from __future__ import annotations

import datetime as dt
import hashlib
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from ragval_pipeline.demo.chunking import article_blocks, chunk_page
from ragval_pipeline.demo.site import SITEMAP_NAMESPACE
from ragval_pipeline.sources.embedders.models import STATIC_DIMENSION
from ragval_pipeline.sources.embedders.opening import open_embedder

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

COLLECTION = "physical_ai_book"
#: Points of one upsert.
BATCH = 500


@dataclass(frozen=True)
class IngestionSummary:
    """What an ingestion did.

    Attributes:
        pages: Pages of the sitemap that were read.
        chunks: Points that were written.
        collection: Name of the collection.
        seconds: Wall-clock time of the whole ingestion.
    """

    pages: int
    chunks: int
    collection: str
    seconds: float


def ingest(site: Path, qdrant_path: Path, collection: str = COLLECTION) -> IngestionSummary:
    """Write the chunks of every page of the sitemap into an embedded Qdrant; an older collection is replaced.

    Args:
        site: Folder of the built site, with sitemap.xml.
        qdrant_path: Folder of the embedded Qdrant; created if missing. No other process may have it open.
        collection: Name of the collection: 256 dimensions, cosine.

    Returns:
        Counts and duration.

    Raises:
        SuiteError: The static embedder's weights are not installed.
    """
    from qdrant_client import QdrantClient

    started = time.monotonic()
    urls = sitemap_urls(site)
    payloads = [payload for url in urls for payload in page_payloads(url, page_file(site, url))]
    with closing(QdrantClient(path=str(qdrant_path))) as client:
        store(client, collection, payloads)
    return IngestionSummary(len(urls), len(payloads), collection, time.monotonic() - started)


def sitemap_urls(site: Path) -> list[str]:
    """Addresses of the site's own sitemap.xml, in its order."""
    root = ElementTree.parse(site / "sitemap.xml").getroot()  # noqa: S314 - written by build_site a moment ago
    return [(location.text or "").strip() for location in root.iter(f"{{{SITEMAP_NAMESPACE}}}loc")]


def page_file(site: Path, url: str) -> Path:
    """The file that a web server would serve for ``url``."""
    return site / page_name(url)


def page_name(url: str) -> str:
    """Path of that file in the site's folder."""
    return f"{urlsplit(url).path.strip('/')}/index.html"


def page_payloads(url: str, file: Path) -> Iterator[dict[str, Any]]:
    """The payloads of a page on disk, as ``payloads_of`` makes them."""
    return payloads_of(url, file.read_text(encoding="utf-8"))


def payloads_of(url: str, html: str) -> Iterator[dict[str, Any]]:
    """A page's payloads in reading order: the fields of ``retrieval-pipeline-testing``, title and text_hash."""
    chunks = chunk_page(article_blocks(html))
    chapter = urlsplit(url).path.removeprefix("/docs/")
    for index, chunk in enumerate(chunks):
        yield {
            "source_url": url,
            "chapter_id": chapter,
            "module_name": module_of(chapter),
            "title": chunk.headings[0],
            "heading_hierarchy": list(chunk.headings),
            "chunk_text": chunk.text,
            "text_hash": text_hash(chunk.text),
            "chunk_index": index,
            "total_chunks": len(chunks),
        }


def module_of(chapter_id: str) -> str:
    """The module's name, the title-cased first folder: ``module-1-ros2/ch1`` gives ``Module 1 Ros2``."""
    return " ".join(word.capitalize() for word in chapter_id.partition("/")[0].split("-"))


def text_hash(text: str) -> str:
    """SHA-256 of the stored text in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def point_id(url: str, chunk_index: int) -> str:
    """UUIDv5 of page and position, so that a second ingestion overwrites instead of duplicating."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{url}#{chunk_index}"))


def token_counts(texts: Sequence[str]) -> list[int]:
    """Tokens of each text as the static embedder reads it, without special tokens."""
    from ragval_pipeline.sources.embedders.static import static_parts

    return [len(encoding.ids) for encoding in static_parts().tokenizer.encode_batch(texts, add_special_tokens=False)]


def store(client: QdrantClient, collection: str, payloads: Sequence[dict[str, Any]]) -> None:
    """Embed the payloads' texts and write them as the only points of ``collection``."""
    write_points(client, collection, embedded_points(payloads), size=STATIC_DIMENSION)


def embedded_points(payloads: Sequence[dict[str, Any]]) -> list[models.PointStruct]:
    """The points of some payloads: id, vector, and the payload with token_count, model and embedded_at added."""
    from qdrant_client import models

    texts = [payload["chunk_text"] for payload in payloads]
    with closing(open_embedder(provider="static")) as embedder:
        vectors, model = embedder.embed(texts, input_type="search_document").vectors, embedder.model
    stamp = {"model": model, "embedded_at": f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"}
    return [
        models.PointStruct(
            id=point_id(payload["source_url"], payload["chunk_index"]),
            vector=vector.tolist(),
            payload={**payload, "token_count": tokens, **stamp},
        )
        for payload, tokens, vector in zip(payloads, token_counts(texts), vectors, strict=True)
    ]


def write_points(
    client: QdrantClient,
    collection: str,
    points: Sequence[models.PointStruct],
    *,
    size: int,
    distance: str = "Cosine",
    vector_name: str | None = None,
) -> None:
    """Recreate ``collection`` with ``points`` as its only content.

    Args:
        client: Any Qdrant.
        collection: Name of the collection.
        points: May be empty.
        size: Dimensions of the vectors.
        distance: Cosine, Dot, Euclid or Manhattan.
        vector_name: Name of the vector; None: the unnamed one.
    """
    from qdrant_client import models

    space = models.VectorParams(size=size, distance=models.Distance(distance))
    client.delete_collection(collection)
    client.create_collection(collection, vectors_config={vector_name: space} if vector_name else space)
    for start in range(0, len(points), BATCH):
        client.upsert(collection, points[start : start + BATCH])
