"""Making facts: each bucket of points and pages becomes its files, wherever that is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.site.page_copies.copies import PageCopies
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.buckets import encoding_of
from ragval_pipeline.sources.snapshot.manifest import Part, SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Snapshot
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
    """One bucket to make facts of: names and addresses only, so that any process of any machine can do it.

    Attributes:
        points: The snapshot.
        copies: The pages.
        counting: Which tokens are counted.
        folder: Address of the folder that the files go to.
        number: Which bucket.
        buckets: How many there are.
    """

    points: SnapshotManifest
    copies: PageCopiesManifest
    counting: Counting
    folder: str
    number: int
    buckets: int


def make_bucket(bucket: Bucket) -> tuple[int, Part | None, Part | None]:
    """Read one bucket and write its facts: the same files whoever does it, and however often.

    Returns:
        How many points it has, and its files with a row a chunk and a row a page; None without any.
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
        copies: The pages; without any each chunk stands alone.
        folder: Where the files go; made if it is not there.
        kept_uri: Where they will be in the end.
        run_id: The run that makes them.
        limits: Which models have limits, so that what they read is counted.
        scale: In how many processes, and whose; None: in this one. The facts are the same.
        on_progress: Called with points done and points in all.

    Raises:
        WorkerError: A worker process died, or there is no Ray to work on.
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
    if scale is None or str(folder).startswith("memory:"):  # where no other process finds it
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
    import pyarrow.parquet as pq
    from upath import UPath

    name = f"{kind}-{bucket.number:05d}.parquet"
    with (UPath(bucket.folder) / name).open("wb") as file:
        pq.write_table(table, file, **encoding_of(table, unique=UNIQUE, hashes=HASHES))
    return Part(name=name, rows=table.num_rows, bucket=bucket.number)
