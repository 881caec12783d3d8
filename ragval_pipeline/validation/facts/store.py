"""Facts as files: built bucket by bucket, read back row by row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.page_copies.reader import PageCopies
from ragval_pipeline.sources.snapshot.manifest import Part
from ragval_pipeline.sources.snapshot.parts import folder_of_parts
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.validation.facts.bucket import COLUMNS, facts_of_bucket
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.facts.rows import (
    ChunkFacts,
    PageFacts,
    chunk_of,
    chunk_schema,
    page_of,
    page_schema,
    table_of,
)

if TYPE_CHECKING:
    from upath import UPath

#: Rows that are made into objects at once.
_BATCH = 4096


class Facts:
    """The facts of a run."""

    def __init__(self, manifest: FactsManifest) -> None:
        self.manifest = manifest

    @property
    def snapshot(self) -> Snapshot:
        """The points that the facts are of."""
        return Snapshot(self.manifest.points)

    @property
    def copies(self) -> PageCopies:
        """The pages that the facts are of."""
        return PageCopies(self.manifest.copies)

    def chunks(self) -> Iterator[ChunkFacts]:
        """Every chunk that has text, bucket by bucket."""
        return map(chunk_of, self._rows(self.manifest.chunks))

    def pages(self) -> Iterator[PageFacts]:
        """Every in-scope page, bucket by bucket."""
        return map(page_of, self._rows(self.manifest.pages))

    def _rows(self, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
        import pyarrow.parquet as pq

        folder = self.folder()
        for part in parts:
            with (folder / part.name).open("rb") as file:
                for batch in pq.ParquetFile(file).iter_batches(batch_size=_BATCH):
                    yield from batch.to_pylist()

    def folder(self) -> UPath:
        """Where the files are.

        Raises:
            FileNotFoundError: They are neither in the run's evidence nor where they were staged.
        """
        made = self.manifest
        gone = f"the facts of run {made.run_id} are gone from {made.kept_uri}: make them anew"
        return folder_of_parts(
            [*made.chunks, *made.pages], kept_uri=made.kept_uri, staged_uri=made.staged_uri, gone=gone
        )


def make_facts(
    snapshot: Snapshot,
    copies: PageCopies,
    *,
    folder: UPath,
    kept_uri: str,
    run_id: str,
    on_progress: Callable[[int, int], None] | None = None,
) -> FactsManifest:
    """Turn a snapshot and its pages into facts, a bucket in memory at a time.

    Args:
        snapshot: The collection.
        copies: The pages; without any each chunk stands alone.
        folder: Where the files go; made if it is not there.
        kept_uri: Where they will be in the end.
        run_id: The run that makes them.
        on_progress: Called with points done and points in all.
    """
    started = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob("*.parquet"):
        left.unlink()
    points, pages = snapshot.manifest, copies.manifest
    buckets = min(points.buckets, pages.buckets) if pages.parts else points.buckets
    chunk_parts, page_parts, done = [], [], 0
    for bucket in range(buckets):
        rows = list(snapshot.rows(COLUMNS, bucket=bucket, buckets=buckets))
        facts = facts_of_bucket(copies.records(bucket=bucket, buckets=buckets), rows)
        if facts.chunks:
            table = table_of(facts.chunks, chunk_schema())
            chunk_parts.append(_write(table, folder, f"chunks-{bucket:05d}.parquet", bucket))
        if facts.pages:
            table = table_of(facts.pages, page_schema())
            page_parts.append(_write(table, folder, f"pages-{bucket:05d}.parquet", bucket))
        done += len(rows)
        if on_progress:
            on_progress(done, points.points)
    return FactsManifest(
        run_id=run_id,
        staged_uri=str(folder),
        kept_uri=kept_uri,
        chunks=tuple(chunk_parts),
        pages=tuple(page_parts),
        points=points,
        copies=pages,
        seconds=time.monotonic() - started,
    )


def _write(table: Any, folder: UPath, name: str, bucket: int) -> Part:
    import pyarrow.parquet as pq

    with (folder / name).open("wb") as file:
        pq.write_table(table, file, compression="zstd")
    return Part(name=name, rows=table.num_rows, bucket=bucket)
