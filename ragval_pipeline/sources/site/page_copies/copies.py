"""Copies of a site's pages: a page as a row, and reading the rows back a part at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from ragval_pipeline.lazy import pa
from ragval_pipeline.sources.arrow import array_of, one_of
from ragval_pipeline.sources.site.html.hidden import Hidden
from ragval_pipeline.sources.site.html.page_text import NOTHING, Block, page_texts
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.site.page_reader import PageCopy
from ragval_pipeline.sources.snapshot.buckets import in_bucket, read_parts

#: What each column holds.
COLUMNS: dict[str, str] = {
    "page_key": "Canonical form of the URL",
    "url": "URL as written in the sitemap",
    "status": "HTTP status; 404 when the site's folder has no file; null for a file",
    "final_url": "URL after redirects",
    "problem": "Why the page could not be read; null when it was read",
    "noindex": "The page asks not to be indexed",
    "redirected": "final_url is another page",
    "scripted": "The page may be built in the browser: it has a script, and a root for it or a request to enable it",
    "target_key": "Canonical form of final_url if it is another page",
    "last_modified": "Last-Modified header, UTC, ISO 8601; null for a file",
    "sha256": "Hash of the page's bytes, hex",
    "html_hash": "Hash of the decoded page, from which title, main, body, attributes, headings and blocks are, hex",
    "title": "Text of <title>",
    "main": "Text of the content",
    "body": "Text of everything between the body tags",
    "attributes": "Text in attributes: descriptions of images and links, meta description",
    "source": "The Markdown that the page was rendered from; empty for a page that came as HTML",
    "headings": "Level and text of the content's headings",
    "blocks": "Kind and text of the content's blocks",
    "hidden": "Element, reason and text of what the page hides from its readers and that speaks to a model",
}


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page's copy; the fields are those of ``COLUMNS``."""

    page_key: str
    url: str
    status: int | None = None
    final_url: str | None = None
    problem: str | None = None
    noindex: bool = False
    redirected: bool = False
    scripted: bool = False
    target_key: str | None = None
    last_modified: datetime | None = None
    sha256: str | None = None
    html_hash: str | None = None
    title: str | None = None
    main: str = ""
    body: str = ""
    attributes: str = ""
    source: str = ""
    blocks: tuple[Block, ...] = ()
    hidden: tuple[Hidden, ...] = ()

    @property
    def headings(self) -> list[Block]:
        """The content's headings."""
        return [block for block in self.blocks if block.kind == "heading"]

    @property
    def characters(self) -> int:
        """Characters of all texts, as a measure of the row's memory."""
        return 2 * len(self.main) + len(self.body) + len(self.attributes) + len(self.source)


_OF_COPY = (
    "url", "status", "final_url", "problem", "noindex", "redirected", "target_key", "last_modified", "sha256",
    "html_hash",
)  # fmt: skip
#: What a record has of nothing but its page's HTML, and the columns with it.
_OF_HTML = ("title", "main", "body", "attributes", "blocks", "scripted", "hidden")
TEXTS = (*_OF_HTML, "headings")


def record_of(copy: PageCopy, page_key: str) -> PageRecord:
    """The record of a page that was read; without a page its texts are empty."""
    text = NOTHING if copy.html is None else page_texts(copy.html)
    return PageRecord(
        page_key=page_key,
        source=copy.source or "",
        **{name: getattr(copy, name) for name in _OF_COPY},
        **{name: getattr(text, name) for name in _OF_HTML},
    )


def rows_of(copies: Sequence[tuple[PageCopy, str]]) -> pa.RecordBatch:
    """The rows of some pages, each with its key."""
    return batch_of([record_of(copy, page_key) for copy, page_key in copies])


def batch_of(records: Sequence[PageRecord]) -> pa.RecordBatch:
    """The rows of some records, with ``arrow_schema``."""
    schema = arrow_schema()
    columns = {entry.name: list(map(attrgetter(entry.name), records)) for entry in schema}
    columns["last_modified"] = [moment and moment.isoformat() for moment in columns["last_modified"]]
    return pa.RecordBatch.from_arrays([array_of(columns[entry.name], entry.type) for entry in schema], schema=schema)


def records_from(batch: pa.RecordBatch) -> Iterator[PageRecord]:
    """The records of some rows, a row at a time."""
    nested = ("headings", "blocks", "hidden", "last_modified")
    plain = [name for name in batch.schema.names if name not in nested]
    headings, blocks, hidden, moments = (batch.column(name) for name in nested)
    values = zip(*(batch.column(name).to_pylist() for name in plain), strict=True)
    for number, row in enumerate(values):
        parts, levels = (column[number].values for column in (blocks, headings))
        level = iter(levels.field("level").to_pylist())
        texts = zip(parts.field("kind").to_pylist(), parts.field("text").to_pylist(), strict=True)
        moment = moments[number].as_py()
        yield PageRecord(
            **dict(zip(plain, row, strict=True)),
            blocks=tuple(Block(kind, text, next(level) if kind == "heading" else 0) for kind, text in texts),
            hidden=tuple(Hidden(**entry) for entry in hidden[number].as_py()),
            last_modified=datetime.fromisoformat(moment) if moment else None,
        )


def arrow_schema() -> pa.Schema:
    """Arrow schema of the parts."""
    special = {
        "status": pa.int32(),
        "noindex": pa.bool_(),
        "redirected": pa.bool_(),
        "scripted": pa.bool_(),
        "headings": pa.list_(pa.struct([("level", pa.int8()), ("text", pa.string())])),
        "blocks": pa.list_(pa.struct([("kind", pa.string()), ("text", pa.string())])),
        "hidden": pa.list_(pa.struct([(name, pa.string()) for name in Hidden._fields])),
    }
    return pa.schema([(name, special.get(name, pa.string())) for name in COLUMNS])


class PageCopies:
    """The page copies of one read of a site."""

    def __init__(self, manifest: PageCopiesManifest) -> None:
        self.manifest = manifest

    def rows(
        self, columns: Sequence[str] | None = None, *, bucket: int = 0, buckets: int = 1
    ) -> Iterator[dict[str, Any]]:
        """Some columns of every page, bucket by bucket.

        ``buckets`` is a power of two, at most that of the copies; 1 for all pages.
        """
        parts = in_bucket(self.manifest.parts, bucket, buckets)
        for batch in read_parts(self.manifest.folder(), parts, None if columns is None else list(columns)):
            yield from batch.to_pylist()

    def records_of(self, keys: Collection[str]) -> Iterator[PageRecord]:
        """The pages with these keys."""
        wanted = one_of("page_key", keys)
        for batch in read_parts(self.manifest.folder(), self.manifest.parts, None):
            yield from records_from(batch.filter(wanted(batch)))

    def table(self, *, bucket: int = 0, buckets: int = 1) -> pa.Table:
        """Every page of a bucket, with all columns; arguments as for ``rows``."""
        parts = in_bucket(self.manifest.parts, bucket, buckets)
        return pa.Table.from_batches(read_parts(self.manifest.folder(), parts, None), arrow_schema())

    def records(self, *, bucket: int = 0, buckets: int = 1) -> Iterator[PageRecord]:
        """Every page; arguments as for ``rows``."""
        for batch in read_parts(self.manifest.folder(), in_bucket(self.manifest.parts, bucket, buckets), None):
            yield from records_from(batch)
