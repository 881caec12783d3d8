"""Making facts: the files of each bucket of points and pages, in any process."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import pa, pc, pq
from ragval_pipeline.measuring.facts.kept import KeptBucket, KeptFacts, keys_table
from ragval_pipeline.sources.arrow import array_of, one_of
from ragval_pipeline.sources.kept.code import code_identity
from ragval_pipeline.sources.kept.evidence import FACT_KEYS, Earlier, KeysManifest, write_record
from ragval_pipeline.sources.site.page_copies.copies import PageCopies, records_from
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.buckets import encoding_of
from ragval_pipeline.sources.snapshot.manifest import Part, SnapshotManifest, arrow_schema
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.sources.storage import writing_to
from ragval_pipeline.sources.workers import each_done
from ragval_pipeline.suite.sections import ScaleSettings
from ragval_pipeline.validation.facts.bucket import COLUMNS, facts_of_bucket
from ragval_pipeline.validation.facts.manifest import FactsManifest, Table
from ragval_pipeline.validation.facts.tables import HASHES, UNIQUE, chunk_table, page_table
from ragval_pipeline.validation.facts.texts import Row
from ragval_pipeline.validation.facts.tokens import Counting, Limits
from ragval_pipeline.validation.facts.units import INPUTS, Units, units_of

if TYPE_CHECKING:
    from upath import UPath


#: Columns of a page that no fact depends on: with a new build of the site they change for all pages.
_UNREAD = ("last_modified", "sha256")

_log = logging.getLogger(__name__)


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
        kept: Facts of an earlier run; None if everything is computed.
    """

    points: SnapshotManifest
    copies: PageCopiesManifest
    counting: Counting
    folder: str
    number: int
    buckets: int
    kept: KeptBucket | None = None


@dataclass(frozen=True)
class Made:
    """The facts of one bucket.

    Attributes:
        points: Number of its points.
        parts: Its files, with a row per chunk and per page; None without any.
        keys: Keys of its units; None if they have none.
        reused: Number of units whose facts were read and not computed.
    """

    points: int
    parts: tuple[Part | None, Part | None]
    keys: pa.Table | None
    reused: int = 0


def make_bucket(bucket: Bucket) -> Made:
    """Write the facts of one bucket, computing those that no earlier run has; deterministic and repeatable."""
    points = _table_of(Snapshot(bucket.points).batches(INPUTS, bucket=bucket.number, buckets=bucket.buckets))
    pages = _without(PageCopies(bucket.copies).table(bucket=bucket.number, buckets=bucket.buckets), _UNREAD)
    try:
        units = units_of(points, pages if bucket.copies.parts else None, bucket.counting, code_identity().encode())
    except (pa.ArrowException, ValueError) as error:
        _log.info("bucket %d of the facts has no keys and is computed: %s", bucket.number, error)
        return _made(bucket, points, pages, None)
    try:
        return _made(bucket, points, pages, units)
    except (OSError, ValueError, pa.ArrowException) as error:
        if bucket.kept is None:
            raise
        _log.warning("bucket %d of the facts is computed: %s", bucket.number, error)
        return _made(replace(bucket, kept=None), points, pages, units)


def _made(bucket: Bucket, points: pa.Table, pages: pa.Table, units: Units | None) -> Made:
    kept = None if units is None else bucket.kept
    if kept is None or units is None:
        same, rows, records = frozenset[str](), _rows(bucket), pages
    else:
        same = kept.same(units)
        of_points, of_pages = ([name in same for name in names] for names in (units.of_points, units.of_pages))
        changed = points.column("point_id").filter(pc.invert(array_of(of_points, pa.bool_())))
        rows, records = _rows(bucket, changed.to_pylist()), pages.filter(pc.invert(array_of(of_pages, pa.bool_())))
    facts = facts_of_bucket(
        (record for batch in records.to_batches() for record in records_from(batch)), rows, bucket.counting
    )
    chunks, described = chunk_table(facts.chunks, facts.texts), page_table(facts.pages)
    if kept is not None:
        has_text = pc.is_valid(points.column("text_sha256"))
        texts = points.column("point_id").filter(has_text)
        of_texts = [is_same for is_same, has in zip(of_points, has_text.to_pylist(), strict=True) if has]
        chunks = kept.completed("chunks", chunks, texts, of_texts)
        described = kept.completed("pages", described, pages.column("page_key"), of_pages)
    return Made(
        points=len(points),
        parts=(
            _write(chunks, bucket, "chunks") if len(chunks) else None,
            _write(described, bucket, "pages") if len(described) else None,
        ),
        keys=None if units is None else keys_table(bucket.number, units),
        reused=len(same),
    )


def _rows(bucket: Bucket, ids: Collection[str] | None = None) -> list[Row]:
    """The rows of some points, or of all."""
    batches = Snapshot(bucket.points).batches(COLUMNS, bucket=bucket.number, buckets=bucket.buckets)
    if ids is None:
        return [row for batch in batches for row in batch.to_pylist()]
    if not ids:
        return []
    wanted = one_of("point_id", ids)
    return [row for batch in batches for row in batch.filter(wanted(batch)).to_pylist()]


def _table_of(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    held = list(batches)
    schema = held[0].schema if held else pa.schema([arrow_schema(()).field(name) for name in INPUTS])
    return pa.Table.from_batches(held, schema)


def _without(rows: pa.Table, columns: Iterable[str]) -> pa.Table:
    """The rows with no value in some columns."""
    for name in columns:
        number = rows.schema.get_field_index(name)
        rows = rows.set_column(number, rows.schema.field(name), pa.nulls(len(rows), rows.schema.field(name).type))
    return rows


def make_facts(
    snapshot: Snapshot,
    copies: PageCopies,
    *,
    folder: UPath,
    kept_uri: str,
    run_id: str,
    limits: Limits | None = None,
    scale: ScaleSettings | None = None,
    earlier: Earlier | None = None,
    leaves: KeysManifest | None = None,
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
        earlier: An earlier run, whose facts are read where nothing has changed; None: everything is computed.
        leaves: Where to put what a later run needs to read these facts; None: nowhere.
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
    kept = KeptFacts.of(earlier, buckets)
    work = [
        Bucket(points, pages, counting, str(folder), number, buckets, kept.of_bucket(number) if kept else None)
        for number in range(buckets)
    ]
    files, keys, done, reused = list[tuple[Part | None, Part | None]](), list[pa.Table](), 0, 0
    if scale is None or str(folder).startswith("memory:"):  # not accessible from other processes
        scale = ScaleSettings(workers=1)
    for made in each_done(make_bucket, work, scale, weight=points.points):
        files.append(made.parts)
        keys += [made.keys] if made.keys is not None else []
        done, reused = done + made.points, reused + made.reused
        if on_progress:
            on_progress(done, points.points)
    units = sum(map(len, keys))
    if reused and earlier is not None:
        _log.info("facts of %d of %d pages and single points are those of %s", reused, units, earlier.run)
    manifest = FactsManifest(
        run_id=run_id,
        staged_uri=str(folder),
        kept_uri=kept_uri,
        parts=tuple(part for table in zip(*files, strict=True) for part in table if part),
        buckets=buckets,
        points=points,
        copies=pages,
        units=units,
        reused=reused,
        seconds=time.monotonic() - started,
    )
    if leaves is None or len(keys) < buckets:
        return manifest
    return manifest.model_copy(update={"kept": _left(leaves, keys, manifest)})


def _left(leaves: KeysManifest, keys: Sequence[pa.Table], facts: FactsManifest) -> KeysManifest | None:
    """The files for a later run; None, with a warning in the log, if they cannot be written: it computes more then."""
    from upath import UPath

    folder = UPath(leaves.staged_uri)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / FACT_KEYS).open("wb") as file:
            pq.write_table(pa.concat_tables(keys), file, compression="zstd", use_dictionary=["bucket"])
        return leaves.model_copy(update={"parts": write_record(folder, pages=facts.copies, facts=facts)})
    except (OSError, pa.ArrowException) as error:
        _log.warning("%s cannot be written, and the next run computes everything: %s", folder, error)
        return None


def _write(table: Any, bucket: Bucket, kind: Table) -> Part:
    from upath import UPath

    name = f"{kind}-{bucket.number:05d}.parquet"
    with writing_to(bucket.folder), (UPath(bucket.folder) / name).open("wb") as file:
        pq.write_table(table, file, **encoding_of(table, unique=UNIQUE, hashes=HASHES))
    return Part(name=name, rows=table.num_rows, bucket=bucket.number)
