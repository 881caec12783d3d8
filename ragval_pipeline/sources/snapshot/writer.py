"""Reading a collection into a folder of Parquet parts, page by page, so that memory stays flat.

What lives here: taking the snapshot. What does not: the rows (``records``) and reading them back (``reader``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from ragval_pipeline.sources.qdrant.reader import Reader
from ragval_pipeline.sources.snapshot.embedded import fields_read
from ragval_pipeline.sources.snapshot.manifest import Part, SnapshotManifest
from ragval_pipeline.sources.snapshot.records import RecordMapper, tracked_fields
from ragval_pipeline.sources.snapshot.values import payload_paths
from ragval_pipeline.suite.model import PayloadSettings

if TYPE_CHECKING:
    import pyarrow as pa
    from upath import UPath

#: Rows and bytes in memory after which a new part begins: parts are what later steps read one at a time.
ROWS_PER_PART = 50_000
BYTES_PER_PART = 64_000_000
#: Points whose whole payload is looked at to learn which names it really has.
OBSERVED_POINTS = 200


def take_snapshot(
    reader: Reader,
    *,
    payload: PayloadSettings,
    page_key: Callable[[str], str],
    pages: Mapping[str, str],
    folder: UPath,
    kept_uri: str,
    run_id: str,
    on_progress: Callable[[int, int], None] | None = None,
) -> SnapshotManifest:
    """Read every point of a collection into Parquet parts.

    Args:
        reader: The collection.
        payload: Field map and required fields.
        page_key: Canonical form of a source URL.
        pages: In-scope sitemap pages by canonical form.
        folder: Where the parts go; made if it is not there.
        kept_uri: Where the parts will be in the end.
        run_id: The run that reads.
        on_progress: Called with points read and points expected.

    Returns:
        The manifest; ``points``, ``count_before`` and ``count_after`` differ if the collection changed meanwhile.

    Raises:
        SystemFailure: Qdrant does not answer, or has no such collection.
    """
    started = time.monotonic()
    facts = reader.facts()
    tracked = tracked_fields(payload.fields, payload.required)
    mapper = RecordMapper(
        fields=payload.fields, tracked=tracked, page_key=page_key, pages=pages, flavour=payload.flavour
    )
    _clear(folder)
    read = (*tracked, *fields_read(payload.flavour))
    batches = _batches(reader, mapper, read, facts.points_count, on_progress)
    parts = tuple(_write_parts(batches, mapper.schema, folder))
    return SnapshotManifest(
        run_id=run_id,
        staged_uri=str(folder),
        kept_uri=kept_uri,
        parts=parts,
        points=sum(part.rows for part in parts),
        count_before=facts.points_count,
        count_after=reader.count(),
        facts=facts,
        fields=dict(payload.fields),
        required=payload.required,
        observed=_observe(reader),
        seconds=time.monotonic() - started,
    )


def _clear(folder: UPath) -> None:
    """Make the folder, without the parts of an earlier try of the same step."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob("part-*.parquet"):
        part.unlink()


def _batches(
    reader: Reader,
    mapper: RecordMapper,
    fields: tuple[str, ...],
    expected: int,
    on_progress: Callable[[int, int], None] | None,
) -> Iterator[pa.RecordBatch]:
    read = 0
    for points in reader.pages(fields):
        yield mapper.batch(points)
        read += len(points)
        if on_progress:
            on_progress(read, max(expected, read))


def _write_parts(batches: Iterator[pa.RecordBatch], schema: pa.Schema, folder: UPath) -> Iterator[Part]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    held: list[pa.RecordBatch] = []
    number = 0

    def flush() -> Part:
        name = f"part-{number:05d}.parquet"
        table = pa.Table.from_batches(held, schema=schema)
        with (folder / name).open("wb") as file:
            pq.write_table(table, file, compression="zstd")
        return Part(name=name, rows=table.num_rows)

    for batch in batches:
        held.append(batch)
        rows, size = sum(entry.num_rows for entry in held), sum(entry.nbytes for entry in held)
        if rows >= ROWS_PER_PART or size >= BYTES_PER_PART:
            yield flush()
            held, number = [], number + 1
    if held:
        yield flush()


def _observe(reader: Reader) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for points in reader.pages(None):
        for point in points[:OBSERVED_POINTS]:
            names.update(dict.fromkeys(payload_paths(point.payload)))
        break
    return tuple(sorted(names))
