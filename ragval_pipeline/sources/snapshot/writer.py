"""Reading a collection into a folder of Parquet parts, page by page, so that memory stays flat."""

from __future__ import annotations

import logging
import operator
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import pc
from ragval_pipeline.sources.memory import sparing_memory
from ragval_pipeline.sources.payload_paths import payload_paths
from ragval_pipeline.sources.snapshot.buckets import BucketWriter, buckets_for
from ragval_pipeline.sources.snapshot.embedded import fields_read, template_of
from ragval_pipeline.sources.snapshot.manifest import Part, SnapshotManifest
from ragval_pipeline.sources.snapshot.records import RecordMapper, tracked_fields
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Reader, Way
from ragval_pipeline.suite.payload import PayloadSettings

if TYPE_CHECKING:
    from upath import UPath

_log = logging.getLogger(__name__)
#: Points per bucket: later steps hold one in memory at a time.
POINTS_PER_BUCKET = 4096
#: Points whose whole payload is read to learn the actual field names.
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
    accept: Callable[[CollectionFacts], None] = lambda _: None,
    on_progress: Callable[[int, int], None] | None = None,
) -> SnapshotManifest:
    """Read every point of a collection into Parquet parts.

    ``accept`` is called with the facts of the collection before any point is read, and raises if they do not fit.

    Returns:
        The manifest; ``points``, ``count_before`` and ``count_after`` differ if the collection changed meanwhile.

    Raises:
        SystemFailure: Qdrant does not answer, or the collection does not exist.
    """
    started = time.monotonic()
    facts = reader.facts()
    accept(facts)
    tracked, template = tracked_fields(payload.fields, payload.required), template_of(payload)
    mapper = RecordMapper(
        fields=payload.fields,
        tracked=tracked,
        page_key=page_key,
        pages=pages,
        flavour=payload.flavour,
        template=template,
    )
    fields = (*tracked, *fields_read(payload.flavour, template))
    way = reader.way(facts)
    read = _Read(reader, mapper, folder, fields, facts.points_count, on_progress)
    parts, repeated = read.all(way)
    count_after = reader.count()
    if way != "pages" and (repeated or (_rows(parts) != count_after == facts.points_count)):
        # A proxy or another server may not support slices or id order: then points are missing or duplicated.
        _log.warning("%s does not read the same in %s: it is read again page after page", reader.place, way)
        way = "pages"
        parts, repeated = read.all(way)
        count_after = reader.count()
    return SnapshotManifest(
        run_id=run_id,
        staged_uri=str(folder),
        kept_uri=kept_uri,
        parts=parts,
        buckets=read.buckets,
        points=_rows(parts),
        count_before=facts.points_count,
        count_after=count_after,
        facts=facts,
        fields=dict(payload.fields),
        required=payload.required,
        observed=_observe(reader),
        seconds=time.monotonic() - started,
        way=way,
        repeated=repeated,
    )


@dataclass(frozen=True)
class _Read:
    """One read of all points into the parts of a folder."""

    reader: Reader
    mapper: RecordMapper
    folder: UPath
    fields: tuple[str, ...]
    expected: int
    on_progress: Callable[[int, int], None] | None

    @property
    def buckets(self) -> int:
        return buckets_for(self.expected, POINTS_PER_BUCKET)

    def all(self, way: Way) -> tuple[tuple[Part, ...], int]:
        """The parts, and how many points were received more than once."""
        _clear(self.folder)
        with sparing_memory():
            return self._all(way)

    def _all(self, way: Way) -> tuple[tuple[Part, ...], int]:
        read = repeated = 0
        last = None
        with BucketWriter(self.folder, self.mapper.schema, self.buckets) as writer:
            for points in self.reader.scan(self.fields, way, points=self.expected):
                if not points:
                    continue
                ids = [point.id for point in points]
                # In id order, duplicate ids are adjacent.
                repeated += sum(map(operator.eq, [last, *ids], ids))
                last = ids[-1]
                batch = self.mapper.batch(points)
                # Points without a page are distributed by id, so that they are not all in one bucket.
                writer.add(batch, pc.coalesce(batch.column("page_key"), batch.column("point_id")))
                read += len(points)
                if self.on_progress:
                    self.on_progress(read, max(self.expected, read))
            return writer.close(), repeated


def _rows(parts: Sequence[Part]) -> int:
    return sum(part.rows for part in parts)


def _clear(folder: UPath) -> None:
    """Create the folder, without the parts of an earlier try of the same step."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob("part-*.parquet"):
        part.unlink()


def _observe(reader: Reader) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for points in reader.pages(None):
        for point in points[:OBSERVED_POINTS]:
            names.update(dict.fromkeys(payload_paths(point.payload)))
        break
    return tuple(sorted(names))
