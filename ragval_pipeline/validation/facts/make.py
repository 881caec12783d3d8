"""Making facts: the files of each bucket of points and pages, in any process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import pq
from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.buckets import encoding_of
from ragval_pipeline.sources.snapshot.manifest import Part, SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.storage import writing_to
from ragval_pipeline.sources.workers import each_done
from ragval_pipeline.suite.sections import ScaleSettings
from ragval_pipeline.validation.facts.bucket import COLUMNS, facts_of_bucket
from ragval_pipeline.validation.facts.manifest import FactsManifest, Table
from ragval_pipeline.validation.facts.tables import HASHES, UNIQUE, chunk_table, page_table
from ragval_pipeline.validation.facts.tokens import Counting, Limits

if TYPE_CHECKING:
    from upath import UPath


@dataclass(frozen=True)
class Bucket:
    """One bucket to make facts of: names and addresses only, so that any process on any machine can do it.

    Attributes:
        points: The snapshot.
        copies: The pages.
        counting: Which tokens to count.
        folder: Address of the output folder.
        number: Number of the bucket.
        buckets: Number of buckets.
    """

    points: SnapshotManifest
    copies: PageCopiesManifest
    counting: Counting
    folder: str
    number: int
    buckets: int


def make_bucket(bucket: Bucket) -> tuple[int, Part | None, Part | None]:
    """Read one bucket and write its facts; deterministic and repeatable.

    Returns:
        Number of its points, and its files with a row per chunk and per page; None without any.
    """
    number, buckets = bucket.number, bucket.buckets
    rows = list(Snapshot(bucket.points).rows(COLUMNS, bucket=number, buckets=buckets))
    facts = facts_of_bucket(PageCopies(bucket.copies).records(bucket=number, buckets=buckets), rows, bucket.counting)
    return (
        len(rows),
        _write(chunk_table(facts.chunks, facts.texts), bucket, "chunks") if facts.texts else None,
        _write(page_table(facts.pages), bucket, "pages") if facts.pages else None,
    )


def make_facts(
    snapshot: Snapshot,
    copies: PageCopies,
    *,
    folder: UPath,
    kept_uri: str,
    run_id: str,
    limits: Limits | None = None,
    scale: ScaleSettings | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> FactsManifest:
    """Turn a snapshot and its pages into facts; each process has one bucket in memory at a time.

    Args:
        snapshot: The collection.
        copies: The pages; may be empty.
        folder: Where the files go; created if missing.
        kept_uri: Their final location.
        run_id: The run.
        limits: Which models have limits, for token counts.
        scale: Which processes do it; None: this one. The facts are the same.
        on_progress: Called with points done and in total.

    Raises:
        WorkerError: A worker process died, or Ray is not available.
    """
    started = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob("*.parquet"):
        left.unlink()
    points, pages = snapshot.manifest, copies.manifest
    buckets = min(points.buckets, pages.buckets) if pages.parts else points.buckets
    counting = Counting(limits, claims="token_count" in points.fields)
    work = [Bucket(points, pages, counting, str(folder), number, buckets) for number in range(buckets)]
    made, done = [], 0
    if scale is None or str(folder).startswith("memory:"):  # not accessible from other processes
        scale = ScaleSettings(workers=1)
    for count, *files in each_done(make_bucket, work, scale, weight=points.points):
        made.append(files)
        done += count
        if on_progress:
            on_progress(done, points.points)
    return FactsManifest(
        run_id=run_id,
        staged_uri=str(folder),
        kept_uri=kept_uri,
        parts=tuple(part for table in zip(*made, strict=True) for part in table if part),
        buckets=buckets,
        points=points,
        copies=pages,
        seconds=time.monotonic() - started,
    )


def _write(table: Any, bucket: Bucket, kind: Table) -> Part:
    from upath import UPath

    name = f"{kind}-{bucket.number:05d}.parquet"
    with writing_to(bucket.folder), (UPath(bucket.folder) / name).open("wb") as file:
        pq.write_table(table, file, **encoding_of(table, unique=UNIQUE, hashes=HASHES))
    return Part(name=name, rows=table.num_rows, bucket=bucket.number)
