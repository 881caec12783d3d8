"""Facts as rows: what detectors read of them, wherever they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any, Protocol

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.sources.arrow import constant
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.facts.manifest import FactsManifest, Table
from ragval_pipeline.validation.facts.rows import ChunkFacts, PageFacts
from ragval_pipeline.validation.facts.tables import HASHES, chunk_schema, chunks_of, page_schema, pages_of, texts_of
from ragval_pipeline.validation.facts.texts import TextFacts

#: Selects rows of a batch, as a Boolean array.
Chosen = Callable[["pa.RecordBatch"], "pa.BooleanArray"]
_POINT = ("point_id", "page_key", "page_url")


def filled(column: str) -> Chosen:
    """Select the rows whose list in a column is not empty."""

    def chosen(batch: pa.RecordBatch) -> pa.BooleanArray:
        return pc.greater(pc.list_value_length(batch.column(column)), constant(0))

    return chosen


class FactsError(RagvalError):
    """The facts of a run could not be made; the message says why."""


class FactRows(Protocol):
    """Facts in any storage."""

    def batches(self, table: Table, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a table, bucket by bucket, with some of its columns or all."""

    def by_bucket(self, table: Table, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of a table, bucket by bucket: a page and its chunks are in the same."""
        batches = list(self.batches(table, columns))
        if batches:
            yield pa.Table.from_batches(batches)

    def chunks(self, where: Chosen | None = None) -> Iterator[ChunkFacts]:
        """Every chunk with letters, compared with its page.

        ``where`` selects rows of a batch.
        """
        columns = [field.name for field in fields(ChunkFacts)]
        for batch in self.batches("chunks", columns):
            found = chunks_of(batch if where is None else batch.filter(where(batch)))
            yield from (chunk for chunk in found if chunk.letters)

    def texts(self, *columns: str, where: Chosen | None = None) -> Iterator[TextFacts]:
        """Every text on its own, with its point and some of the columns.

        ``where`` selects rows of a batch with these columns of ``TextFacts``.
        """
        for batch in self.batches("chunks", (*_POINT, *columns)):
            yield from texts_of(batch if where is None else batch.filter(where(batch)))

    def source(self, table: Table) -> Any:
        """All rows of a table: an Arrow table, or ``Files``."""
        schema = chunk_schema() if table == "chunks" else page_schema()
        return pa.Table.from_batches(self.batches(table), schema=schema)

    def table(self, *columns: str) -> pa.Table:
        """Some columns of all chunks."""
        schema = pa.schema([chunk_schema().field(name) for name in columns])
        return pa.Table.from_batches(self.batches("chunks", columns), schema=schema)

    def pages(self, where: Chosen | None = None) -> Iterator[PageFacts]:
        """Every in-scope page, or those that ``where`` selects; without ``beside`` and ``anchors``, which are large."""
        batches = self.batches("pages", [name for name in page_schema().names if name not in HASHES])
        return (page for batch in batches for page in pages_of(batch if where is None else batch.filter(where(batch))))

    def anchors(self) -> Iterator[pa.RecordBatch]:
        """Key and anchors of every in-scope page."""
        return self.batches("pages", ("page_key", "anchors"))


class Facts(FactRows, Protocol):
    """The facts of a run, with what they were made from.

    Attributes:
        manifest: Their manifest.
    """

    manifest: FactsManifest

    @property
    def snapshot(self) -> Snapshot:
        """The points of the facts."""

    @property
    def copies(self) -> PageCopies:
        """The pages of the facts."""
