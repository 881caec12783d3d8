"""Facts as rows, from the files of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any, Protocol

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.lazy import pa, pc, pq
from ragval_pipeline.sources.arrow import constant, none_of
from ragval_pipeline.sources.datasets import Files
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.facts.manifest import FactsManifest, Table
from ragval_pipeline.validation.facts.rows import ChunkFacts, PageFacts
from ragval_pipeline.validation.facts.tables import chunk_schema, chunks_of, page_schema, pages_of, texts_of
from ragval_pipeline.validation.facts.texts import TextFacts

#: Rows converted to objects at once.
_BATCH = 4096  # work

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
        """Every in-scope page, or those that ``where`` selects."""
        batches = self.batches("pages")
        return (page for batch in batches for page in pages_of(batch if where is None else batch.filter(where(batch))))


class Facts(FactRows):
    """The facts of a run, from its files."""

    def __init__(self, manifest: FactsManifest) -> None:
        self.manifest = manifest

    @property
    def snapshot(self) -> Snapshot:
        """The points of the facts."""
        return Snapshot(self.manifest.points)

    @property
    def copies(self) -> PageCopies:
        """The pages of the facts."""
        return PageCopies(self.manifest.copies)

    def batches(self, table: Table, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a table, bucket by bucket, with some of its columns or all.

        Raises:
            FactsError: Making them failed: they are missing, not empty.
            RuntimeError: Making them crashed.
        """
        read, judged = self._judged(table, columns)
        for file in self._files(table):
            for batch in file.iter_batches(batch_size=_BATCH, columns=read):
                yield judged(batch)

    def by_bucket(self, table: Table, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of a table, bucket by bucket; raises as ``batches``."""
        read, judged = self._judged(table, columns)
        return (judged(file.read(columns=read)) for file in self._files(table))

    def source(self, table: Table) -> Any:
        """The files of a table; raises as ``batches``."""
        self._check()
        folder, left_out = self.manifest.folder(), self.manifest.points.set_aside
        files = [folder / part.name for part in self.manifest.files(table)]
        return Files(files, left_out if table == "chunks" else ())

    def _judged(self, table: Table, columns: Sequence[str] | None) -> tuple[list[str] | None, Callable[[Any], Any]]:
        """The columns to read, and the function that leaves out what is not judged."""
        wanted = None if columns is None else list(columns)
        left_out = self.manifest.points.set_aside
        if not left_out or table != "chunks":
            return wanted, lambda rows: rows
        kept = none_of("point_id", left_out)
        if wanted is None:
            return None, lambda rows: rows.filter(kept(rows))
        read = list(dict.fromkeys([*wanted, "point_id"]))
        return read, lambda rows: rows.filter(kept(rows)).select(wanted)

    def _check(self) -> None:
        if self.manifest.problem:
            raise FactsError(self.manifest.problem)
        if self.manifest.crash:
            raise RuntimeError(f"the facts could not be made ({self.manifest.crash})")

    def _files(self, table: Table) -> Iterator[Any]:
        self._check()
        folder = self.manifest.folder()
        for part in self.manifest.files(table):
            with (folder / part.name).open("rb") as file:
                yield pq.ParquetFile(file)
