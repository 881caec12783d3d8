"""Reading a collection into a folder of Parquet parts, page by page, so that memory stays flat."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.lazy import pc
from ragval_pipeline.sources.memory import sparing_memory
from ragval_pipeline.sources.payload_paths import lookup, payload_paths
from ragval_pipeline.sources.snapshot.buckets import BucketWriter, buckets_for
from ragval_pipeline.sources.snapshot.embedded import fields_read, template_of
from ragval_pipeline.sources.snapshot.manifest import Part, PrintsManifest, SnapshotManifest
from ragval_pipeline.sources.snapshot.prints import PAYLOADS, VECTORS, PrintWriter, payload_prints, vector_prints
from ragval_pipeline.sources.snapshot.records import RecordMapper, texts_in, tracked_fields
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Reader, Way
from ragval_pipeline.sources.stores.qdrant.scanning import IdOrder
from ragval_pipeline.suite.payload import PayloadSettings

if TYPE_CHECKING:
    from upath import UPath

_log = logging.getLogger(__name__)
#: Points per bucket: later steps hold one in memory at a time.
POINTS_PER_BUCKET = 4096
#: Points whose whole payload is read to learn the actual field names.
OBSERVED_POINTS = 200


@dataclass(frozen=True)
class Prints:
    """Where the prints of the points go: a folder, where it is kept, and whether the vectors have prints, too."""

    folder: UPath
    kept_uri: str
    vectors: bool = True


def take_snapshot(
    reader: Reader,
    *,
    payload: PayloadSettings,
    page_key: Callable[[str], str],
    pages: Mapping[str, str],
    folder: UPath,
    kept_uri: str,
    run_id: str,
    prints: Prints | None = None,
    extra: Mapping[str, str] | None = None,
    accept: Callable[[CollectionFacts], None] = lambda _: None,
    on_progress: Callable[[int, int], None] | None = None,
) -> SnapshotManifest:
    """Read every point of a collection into Parquet parts.

    ``prints`` is where prints of the points go, to compare a later read with this one; None: there are none. ``extra``
    are paths of further payload fields to keep, by the name that they get. ``accept`` is called with the facts of the
    collection before any point is read, and raises if they do not fit.

    Returns:
        The manifest; ``points``, ``count_before`` and ``count_after`` differ if the collection changed meanwhile.

    Raises:
        SystemFailure: Qdrant does not answer, or the collection does not exist.
    """
    started = time.monotonic()
    facts = reader.facts()
    accept(facts)
    observed = _observe(reader)
    tracked, template = tracked_fields(payload.fields, payload.required), template_of(payload)
    mapper = RecordMapper(
        fields=payload.fields,
        tracked=tracked,
        page_key=page_key,
        pages=pages,
        flavour=payload.flavour,
        template=template,
        extra=extra,
        labels=(labels := [path for path in labels_among(observed) if path not in tracked]),
        beside=(beside := texts_beside(observed, tracked)),
    )
    fields = (*tracked, *fields_read(payload.flavour, template), *(extra or {}).values(), *labels, *beside)
    way = reader.way(facts)
    read = _Read(reader, mapper, folder, fields, facts.points_count, prints, on_progress)
    parts, repeated = read.all(way)
    count_after = reader.count()
    steady = facts.strict_mode.exact and count_after == facts.points_count
    if way != "pages" and (repeated or (steady and _rows(parts) != count_after)):
        # A proxy or another server may not support slices or id order: then points are missing or duplicated.
        _log.warning("%s does not read the same in %s: it is read again page after page", reader.place, way)
        way = "pages"
        parts, repeated = read.all(way)
        count_after = reader.count()
    kept = None if prints is None else _prints(reader, prints, rows=_rows(parts), run_id=run_id)
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
        observed=tuple(sorted({path for payload in observed for path in payload_paths(payload)})),
        left_out=reader.left_out(payload.fields.get("source_url")) if (facts.stored_points or 0) > count_after else (),
        seconds=time.monotonic() - started,
        way=way,
        repeated=repeated,
        read=fields,
        prints=kept,
    )


def _prints(reader: Reader, place: Prints, *, rows: int, run_id: str) -> PrintsManifest:
    """The prints of the payloads, which are written already, and of the vectors."""
    parts = [Part(name=PAYLOADS, rows=rows)]
    if place.vectors:
        try:
            with PrintWriter(place.folder, VECTORS) as writer:
                for batch in reader.vectors():
                    writer.add(vector_prints(batch))
            parts.append(writer.part)
        except SystemFailure as failure:
            # Whatever judges the vectors reads them again, and reports it.
            _log.warning("the vectors cannot be compared at the end of the run: %s", failure)
    return PrintsManifest(run_id=run_id, staged_uri=str(place.folder), kept_uri=place.kept_uri, parts=tuple(parts))


@dataclass(frozen=True)
class _Read:
    """One read of all points into the parts of a folder."""

    reader: Reader
    mapper: RecordMapper
    folder: UPath
    fields: tuple[str, ...]
    expected: int
    prints: Prints | None
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
        order = IdOrder(self.reader.place, self.expected)
        with BucketWriter(self.folder, self.mapper.schema, self.buckets) as writer, self._print_writer() as prints:
            for page in self.reader.scan(self.fields, way, points=self.expected):
                points = order.new(page)
                repeated += len(page) - len(points)
                if not points:
                    continue
                if prints is not None:
                    prints.add(payload_prints(points))
                batch = self.mapper.batch(points)
                # Points without a page are distributed by id, so that they are not all in one bucket.
                writer.add(batch, pc.coalesce(batch.column("page_key"), batch.column("point_id")))
                read += len(points)
                if self.on_progress:
                    self.on_progress(read, max(self.expected, read))
            if way == "pages":
                order.check()
            return writer.close(), repeated

    def _print_writer(self) -> AbstractContextManager[PrintWriter | None]:
        return nullcontext() if self.prints is None else PrintWriter(self.prints.folder, PAYLOADS)


def _rows(parts: Sequence[Part]) -> int:
    return sum(part.rows for part in parts)


def _clear(folder: UPath) -> None:
    """Create the folder, without the parts of an earlier try of the same step."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob("part-*.parquet"):
        part.unlink()


def _observe(reader: Reader) -> list[Mapping[str, Any]]:
    """The whole payloads of the first points."""
    return [point.payload for points in islice(reader.pages(None), 1) for point in points[:OBSERVED_POINTS]]


#: Longest value of a label, in characters, and maximum number of labels kept.
_LABEL, _LABELS = 64, 12


def labels_among(payloads: Sequence[Mapping[str, Any]]) -> list[str]:
    """Fields whose values are short and shared by several points, such as the tenant, the language, or a document's id.

    Values in JSON that is stored as text are left out.
    """
    found: dict[str, list[Any]] = {}
    for payload in payloads:
        for path in payload_paths(payload):
            found.setdefault(path, []).append(lookup(payload, path)[1])
    kept = [path for path, values in found.items() if "#" not in path and all(map(_is_short, values))]
    return sorted(path for path in kept if 2 * len(set(found[path])) <= max(len(found[path]), 2))[:_LABELS]


#: Longest text that may be a heading, maximum of them in a value, and maximum number of fields kept.
_TEXT, _TEXTS, _FIELDS = 200, 32, 8


def texts_beside(payloads: Sequence[Mapping[str, Any]], tracked: Sequence[str]) -> list[str]:
    """Fields other than the tracked ones with short texts of words, or with lists of texts: headings may be kept there.

    Values in JSON that is stored as text are left out, and addresses.
    """
    found: dict[str, list[list[str]]] = {}
    for payload in payloads:
        for path in payload_paths(payload):
            if "#" not in path and path not in tracked:
                texts = list(islice(texts_in(lookup(payload, path)[1]), _TEXTS + 1))
                found.setdefault(path, []).append(texts)
    return [path for path, values in found.items() if _may_be_headings(values)][:_FIELDS]


def _may_be_headings(values: Sequence[Sequence[str]]) -> bool:
    texts = [text for value in values for text in value]
    are_short = all(len(value) <= _TEXTS for value in values) and all(len(text) <= _TEXT for text in texts)
    return are_short and any(" " in text for text in texts) and not any("://" in text for text in texts)


def _is_short(value: Any) -> bool:
    return isinstance(value, bool | int) or (isinstance(value, str) and len(value) <= _LABEL)
