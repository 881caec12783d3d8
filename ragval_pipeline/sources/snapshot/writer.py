"""Reading a collection into a folder of Parquet parts, page by page, so that memory stays flat.

What lives here: taking the snapshot. What does not: the rows (``records``) and reading them back (``reader``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from ragval_pipeline.sources.qdrant.reader import Reader
from ragval_pipeline.sources.snapshot.buckets import BucketWriter, buckets_for
from ragval_pipeline.sources.snapshot.embedded import fields_read
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.records import RecordMapper, tracked_fields
from ragval_pipeline.sources.snapshot.values import payload_paths
from ragval_pipeline.suite.model import PayloadSettings

if TYPE_CHECKING:
    import pyarrow as pa
    from upath import UPath

#: Points of a bucket: what later steps hold in memory at a time.
POINTS_PER_BUCKET = 4096
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
    with BucketWriter(folder, mapper.schema, buckets_for(facts.points_count, POINTS_PER_BUCKET)) as writer:
        for batch in _batches(reader, mapper, read, facts.points_count, on_progress):
            writer.add(batch, _keys(batch))
        parts = writer.close()
    return SnapshotManifest(
        run_id=run_id,
        staged_uri=str(folder),
        kept_uri=kept_uri,
        parts=parts,
        buckets=writer.buckets,
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


def _keys(batch: pa.RecordBatch) -> list[str]:
    """The page of each row; of a point without one its id, so that they do not all lie in one bucket."""
    pages, ids = batch.column("page_key").to_pylist(), batch.column("point_id").to_pylist()
    return [name if page is None else page for page, name in zip(pages, ids, strict=True)]


def _observe(reader: Reader) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for points in reader.pages(None):
        for point in points[:OBSERVED_POINTS]:
            names.update(dict.fromkeys(payload_paths(point.payload)))
        break
    return tuple(sorted(names))
