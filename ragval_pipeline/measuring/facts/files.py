"""Facts as rows, from the files of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ragval_pipeline.lazy import pa, pq
from ragval_pipeline.sources.arrow import none_of
from ragval_pipeline.sources.datasets import Files
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.facts.manifest import FactsManifest, Table
from ragval_pipeline.validation.facts.store import Facts, FactsError

#: Rows converted to objects at once.
_BATCH = 4096  # work


class StoredFacts(Facts):
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
