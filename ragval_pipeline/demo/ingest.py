"""The demo's ingestion: crawl the built site, extract the text blocks, chunk them by headings, embed, upsert."""

from __future__ import annotations

import datetime as dt
import hashlib
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from ragval_pipeline.demo.site import SITEMAP_NAMESPACE
from ragval_pipeline.sources.embedders.models import STATIC_DIMENSION
from ragval_pipeline.sources.embedders.opening import open_embedder

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models
    from selectolax.lexbor import LexborNode


FURNITURE = "nav, aside, header, footer, script, style"
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4}
_LEAVES = ("p", "li", "blockquote")


@dataclass(frozen=True)
class Block:
    """A heading, paragraph, list item or the like.

    Attributes:
        text: Without markup, whitespace collapsed; code keeps its lines.
        level: 1 to 4 for a heading, 0 for anything else.
    """

    text: str
    level: int = 0


def article_blocks(html: str) -> list[Block]:
    """The blocks of a page's ``article`` element in reading order; empty if it has none."""
    from selectolax.lexbor import LexborHTMLParser

    article = LexborHTMLParser(html).css_first("article")
    if article is None:
        return []
    for node in article.css(FURNITURE):
        node.decompose()
    return [block for block in _walk(article) if block.text]


def _walk(node: LexborNode) -> Iterator[Block]:
    for child in node.iter():
        if child.tag in _HEADINGS:
            yield Block(_folded(child), level=_HEADINGS[child.tag])
        elif child.tag == "pre":
            yield Block(child.text().strip("\n"))
        elif child.tag == "tr":
            yield Block(" ".join(_folded(cell) for cell in child.iter()))
        elif child.tag in _LEAVES:
            yield Block(_folded(child))
        else:
            yield from _walk(child)


def _folded(node: LexborNode) -> str:
    return " ".join(node.text().split())


#: A subsection with fewer words than this joins the one before it.
MIN_WORDS = 50
#: A section with more words than this is split at its subheadings.
JOINED_WORDS = 120
#: A section or subsection with more words than this is split between two blocks.
MAX_WORDS = 220


@dataclass(frozen=True)
class Chunk:
    """A part of a page that can be understood alone.

    Attributes:
        headings: Page title, section, subsection: down to the level at which the chunk begins.
        body: The text below them exactly as on the page, one line per block.
    """

    headings: tuple[str, ...]
    body: str

    @property
    def text(self) -> str:
        """What is embedded and stored: the headings, one per line, then the body."""
        return "\n".join((*self.headings, self.body))


@dataclass(frozen=True)
class _Section:
    """Blocks below one heading; ``lines`` begins with the heading itself if it is not one of the chunk's headings."""

    headings: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def words(self) -> int:
        return sum(len(line.split()) for line in self.lines)

    def followed_by(self, other: _Section) -> _Section:
        return _Section(self.headings, (*self.lines, other.headings[-1], *other.lines))


def chunk_page(blocks: Sequence[Block]) -> list[Chunk]:
    """Chunks of a page, in reading order, of about 60 to 220 words.

    A section (H2) with its subsections (H3) is one chunk if short enough, else it is split at its H3 headings, and
    parts that are still too long between two blocks. The text between the H1 and the first H2 is a separate chunk.

    Returns:
        Chunks with a body that is not empty.
    """
    chapters = groupby(_sections(blocks), key=lambda section: section.headings[:2])
    pieces = [piece for _, sections in chapters for piece in _joined(list(sections))]
    return [Chunk(part.headings, "\n".join(part.lines)) for piece in pieces for part in _divided(piece) if part.lines]


def _sections(blocks: Sequence[Block]) -> Iterator[_Section]:
    path: tuple[str, ...] = ()
    lines: list[str] = []
    for block in blocks:
        if not block.level:
            lines.append(block.text)
            continue
        if path:
            yield _Section(path, tuple(lines))
        path, lines = (*path[: block.level - 1], block.text), []
    if path:
        yield _Section(path, tuple(lines))


def _joined(sections: list[_Section]) -> list[_Section]:
    """Join the subsections of one section: all if they fit, else those that are too short."""
    fits = sum(section.words for section in sections) <= JOINED_WORDS
    joined = sections[:1]
    for section in sections[1:]:
        if fits or min(joined[-1].words, section.words) < MIN_WORDS:
            joined[-1] = joined[-1].followed_by(section)
        else:
            joined.append(section)
    return joined


def _divided(section: _Section) -> list[_Section]:
    """Split a long section between lines, into parts of about equal length."""
    parts = -(-section.words // MAX_WORDS)
    if parts <= 1:
        return [section]
    target = section.words / parts
    divided: list[_Section] = []
    lines: list[str] = []
    for line in section.lines:
        lines.append(line)
        if len(divided) < parts - 1 and sum(len(line.split()) for line in lines) >= target:
            divided.append(_Section(section.headings, tuple(lines)))
            lines = []
    return [*divided, _Section(section.headings, tuple(lines))]


COLLECTION = "physical_ai_book"
#: Points of one upsert.
BATCH = 500


@dataclass(frozen=True)
class IngestionSummary:
    """What an ingestion did.

    ``seconds`` is the wall-clock time of the whole ingestion.
    """

    pages: int
    chunks: int
    collection: str
    seconds: float


def ingest(site: Path, qdrant_path: Path, collection: str = COLLECTION) -> IngestionSummary:
    """Write the chunks of every page of the sitemap into an embedded Qdrant; an older collection is replaced.

    No other process may have ``qdrant_path`` open. The collection has 256 dimensions, cosine.

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
    sparse: Mapping[str, models.SparseVectorParams] | None = None,
) -> None:
    """Recreate ``collection`` with ``points`` as its only content."""
    from qdrant_client import models

    space = models.VectorParams(size=size, distance=models.Distance(distance))
    client.delete_collection(collection)
    client.create_collection(
        collection,
        vectors_config={vector_name: space} if vector_name else space,
        sparse_vectors_config=sparse,
    )
    for start in range(0, len(points), BATCH):
        client.upsert(collection, points[start : start + BATCH])
