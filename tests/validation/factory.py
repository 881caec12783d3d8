"""Small parts of a validation: pages of a site, snapshot batches of payloads, hits, queries. Not a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.site.inventory import SiteInventory, SitemapEntry, SitemapListing, take_inventory
from ragval_pipeline.sources.snapshot.records import RecordMapper, tracked_fields
from ragval_pipeline.sources.stores.qdrant.protocol import Hit, Point
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.coverage.indexed import IndexedPage, collect_pages
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, Rules
from ragval_pipeline.validation.retrieval.hits import HitReader

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SITE = "https://docs.example.com"
FIELDS = {
    "text": "chunk_text",
    "source_url": "source_url",
    "title": "title",
    "module": "module_name",
    "chapter": "chapter_id",
    "headings": "heading_hierarchy",
    "token_count": "token_count",
    "chunk_index": "chunk_index",
    "embedded_at": "embedded_at",
}


def site(
    *urls: str,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    aliases: Sequence[str] = (),
    lastmods: Mapping[str, str] | None = None,
) -> SiteInventory:
    """The inventory of a sitemap with these URLs; paths are those of ``SITE``."""
    entries = tuple(
        SitemapEntry(url=absolute(url), lastmod=(lastmods or {}).get(url), sitemap=f"{SITE}/sitemap.xml")
        for url in urls
    )
    listing = SitemapListing(location=f"{SITE}/sitemap.xml", entries=entries, files=())
    return take_inventory(listing, include=include, exclude=exclude, host_aliases=aliases)


def absolute(url: str) -> str:
    """A path of the site as URL; everything else as it is."""
    return f"{SITE}{url}" if url.startswith("/") else url


def index(inventory: SiteInventory, *urls: str, embedded_at: str | None = None) -> dict[str, IndexedPage]:
    """The pages of an index that holds one point for each of ``urls``."""
    fold = inventory.folder().key
    rows = ({"page_key": fold(absolute(url)), "source_url": absolute(url), "embedded_at": embedded_at} for url in urls)
    return collect_pages(rows)


def batch(
    payloads: Iterable[Mapping[str, Any]],
    *,
    fields: Mapping[str, str] = FIELDS,
    required: Sequence[str] = (),
    inventory: SiteInventory | None = None,
    start: int = 0,
) -> pa.RecordBatch:
    """The snapshot of points with these payloads; ids count from ``start``."""
    inventory = inventory or site()
    mapper = RecordMapper(
        fields=fields,
        tracked=tracked_fields(fields, required),
        page_key=inventory.folder().key,
        pages=inventory.scope_urls,
    )
    return mapper.batch([Point(str(number), dict(payload)) for number, payload in enumerate(payloads, start)])


def hit(rank: int = 1, score: float = 0.9, point_id: str | None = None, **payload: Any) -> Hit:
    """A hit; payload by payload name."""
    return Hit(rank=rank, id=point_id or str(rank), score=score, payload=payload)


def page_hits(*urls: str, best: float = 0.9, step: float = 0.01) -> tuple[Hit, ...]:
    """Hits on pages, best first."""
    return tuple(
        hit(rank, best - step * (rank - 1), source_url=absolute(url)) for rank, url in enumerate(urls, start=1)
    )


def query(text: str = "How?", **fields: Any) -> TestQuery:
    """A test query; its id is its text unless given."""
    return TestQuery.model_validate({"id": fields.pop("id", text), "query_text": text, **fields})


def answer(query_id: str, *hits: Hit, **more: Any) -> Answer:
    """The answer to a query."""
    return Answer(query_id, hits=tuple(hits), embedding_ms=1.0, search_ms=2.0, **more)


def rules(**changes: Any) -> Rules:
    """Rules of a suite with default settings."""
    read = HitReader(
        fields=changes.pop("fields", FIELDS),
        required=tuple(changes.pop("required", ())),
        page_key=(changes.pop("inventory", None) or site()).folder().key,
    )
    return Rules(**{"read": read, "module_match": "normalised", "min_similarity": 0.70, **changes})


def settings(**changes: Any) -> RetrievalSettings:
    """The default settings of a suite with changes, also of its rules."""
    base: dict[str, Any] = {"judge": None, "ranks": (3, 5), "top_k": 5, "relevance_similarity": 0.5}
    own = {name: changes.pop(name, value) for name, value in base.items()}
    return RetrievalSettings(rules=rules(**{"inventory": site("/a", "/b", "/c", "/d"), **changes}), **own)
