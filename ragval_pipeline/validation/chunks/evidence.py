"""The evidence of the detectors of chunks and their texts, and the measurement of ``chunk_structure``."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from ragval_pipeline.lazy import np, pc
from ragval_pipeline.sources.arrow import numbers_of, one_of, table_of
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.text.times import parse_time
from ragval_pipeline.validation import partitions
from ragval_pipeline.validation.belonging import ByPartition, Partitions
from ragval_pipeline.validation.chunks import columns, layout
from ragval_pipeline.validation.chunks.columns import SameTexts
from ragval_pipeline.validation.chunks.compared import Compared, compare
from ragval_pipeline.validation.chunks.content import ChunkClass
from ragval_pipeline.validation.chunks.editions import Editions
from ragval_pipeline.validation.chunks.order import Orders, Points
from ragval_pipeline.validation.chunks.token_counts import LimitRules, Relations, learn_relations
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts
from ragval_pipeline.validation.facts.store import FactRows, Facts
from ragval_pipeline.validation.facts.tables import chunks_of
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured
from ragval_pipeline.validation.payload.levels import present_fields
from ragval_pipeline.validation.points import with_share
from ragval_pipeline.validation.thresholds import CLOCK_SKEW, PASSAGE_LETTERS
from ragval_pipeline.validation.views.tables import raw_schemas

#: All columns of a chunk except those about differing words and other pages.
_PLACED = tuple(entry.name for entry in fields(ChunkFacts) if entry.name not in {"joins", "probes"})


@dataclass(frozen=True)
class ChunkEvidence:
    """The facts of a run, and the suite's settings for chunks.

    Data of every chunk is in columns; objects are created only for the few chunks examined in full.

    Attributes:
        facts: One row per chunk and one per page.
        points: Batches of the snapshot with the requested columns, for every point, including those without text.
        now: Time of the run, aware.
        limits: Source of the model's input limit.
        required: Canonical names of fields that no point may leave empty.
        stated: The partitions that the suite names.
    """

    group: ClassVar[str] = "chunks"
    views: ClassVar[frozenset[str]] = frozenset({"chunks", "pages", "fields"})
    facts: FactRows
    points: Points
    now: datetime
    limits: LimitRules = field(default_factory=LimitRules)
    required: frozenset[str] = frozenset()
    stated: Partitions | None = None

    def table(self, name: str) -> Any:
        """The table of a name under the views."""
        if name == "_fields":
            return table_of([{"field": field, "needed": True} for field in self.required], raw_schemas()["_fields"])
        return self.facts.source("chunks" if name == "_chunks" else "pages") if name in {"_chunks", "_pages"} else None

    @cached_property
    def texts(self) -> columns.Columns:
        """Every text with its counts."""
        return columns.Columns.of(self.facts.batches("chunks", columns.COLUMNS))

    @cached_property
    def relations(self) -> Relations:
        """How stored token counts relate to measured counts."""
        return learn_relations(self.texts)

    @cached_property
    def orders(self) -> Orders:
        """The pages and their chunk indices."""
        return Orders.of(self.points, now=self.now)

    @cached_property
    def layout(self) -> layout.Layout:
        """Positions of the chunks on their pages."""
        return layout.Layout.of(self.facts.by_bucket("chunks", layout.COLUMNS))

    @cached_property
    def ingested_twice(self) -> Mapping[str, float]:
        """The pages that several ingestions stored, within each partition, with how often their text is stored."""
        twice = self.layout.twice
        if twice and self.partition is not None:
            tables = self.facts.by_bucket("chunks", ("point_id", *layout.COLUMNS))
            twice = layout.Layout.of(tables, self.partition.values).twice
        return {key: times for key, times in twice.items() if key not in self.numbered_through}

    @cached_property
    def numbered_through(self) -> frozenset[str]:
        """The pages of ``layout.twice`` that one ingestion stored: with one numbering, and at one time."""
        return frozenset(key for key, chunks in self.on_pages(self.layout.twice) if _are_of_one(chunks))

    @cached_property
    def labels(self) -> partitions.Labels:
        """Values by which copies may differ; read only if there are copies."""
        return partitions.Labels.of(self.points(partitions.COLUMNS))

    @cached_property
    def versions(self) -> Mapping[str, str]:
        """The version of the document that each point of the pages stored twice was cut from; read if there are any."""
        twice = self.layout.twice
        return partitions.versions_of(self.points(partitions.VERSION_COLUMNS), twice) if twice else {}

    @cached_property
    def copies(self) -> list[partitions.Copies]:
        """Points of a page with the same text, and without a page those with the same text anywhere."""
        found: dict[tuple[int, str | None], list[str]] = {}
        for digest, refs in columns.same_texts(self.texts).items():
            for ref in refs:
                found.setdefault((digest, ref.page_key), []).append(ref.point_id)
        return [partitions.Copies(tuple(names)) for names in found.values() if len(names) > 1]

    @cached_property
    def partition(self) -> partitions.Partition | None:
        """The field that tells partitions apart: the suite's, or what copies show, of texts or in other chunks."""
        if self.stated is not None:
            return partitions.Partition(self.stated.path, self.stated.joined)
        pages = self.on_pages(self.layout.twice)
        copies = [*self.copies, *(pair for _, chunks in pages for pair in partitions.overlapping(chunks))]
        return partitions.partition_of(copies, self.labels) if copies else None

    @cached_property
    def editions(self) -> Editions:
        """Versions and languages beside each other."""
        return Editions.of(self.texts, self.points)

    @cached_property
    def same_texts(self) -> SameTexts:
        """Texts stored in several points, within each partition, and within each version of the site."""
        values = None if self.partition is None else self.partition.values
        if values is None and self.editions.families:
            values = self.editions.by_point(self.texts)
        return SameTexts.of(self.texts, self.on_pages, lambda chunk: self.compared.class_of(chunk) == "gone", values)

    @cached_property
    def read(self) -> Mapping[str, str]:
        """Addresses of the pages read, by key."""
        return {page.page_key: page.url for page in self.compared.read}

    def last_passages(self, keys: Collection[str]) -> dict[str, BlockFacts]:
        """The last meaningful block of some pages, by key; pages without one are left out."""
        found: dict[str, BlockFacts] = {}
        wanted = one_of("page_key", keys)
        for batch in self.facts.batches("pages", ("page_key", "blocks")):
            chosen = batch.filter(wanted(batch))
            blocks = chosen.column("blocks").flatten()
            ends = np.cumsum(numbers_of(pc.list_value_length(chosen.column("blocks"))))
            letters, weight = (numbers_of(pc.struct_field(blocks, name)) for name in ("letters", "weight"))
            long = np.flatnonzero(letters * weight >= PASSAGE_LETTERS)
            names = chosen.column("page_key").to_pylist()
            last = dict(zip(np.searchsorted(ends, long, side="right").tolist(), long.tolist(), strict=True))
            found |= {names[page]: BlockFacts(**blocks[at].as_py()) for page, at in last.items()}
        return found

    def on_pages(self, keys: Collection[str]) -> Iterator[tuple[str, Sequence[ChunkFacts]]]:
        """The chunks of some pages that were read, one bucket in memory at a time."""
        if not keys:
            return
        wanted = one_of("page_key", keys)
        for table in self.facts.by_bucket("chunks", _PLACED):
            by_page: dict[str, list[ChunkFacts]] = {}
            chosen = table.filter(pc.and_(table.column("compared"), wanted(table)))
            chunks = (chunk for batch in chosen.to_batches() for chunk in chunks_of(batch))
            for chunk in (chunk for chunk in chunks if chunk.letters):
                by_page.setdefault(chunk.page_key or "", []).append(chunk)
            yield from by_page.items()

    def differing(self, points: Collection[str], kind: ChunkClass) -> dict[str, ChunkFacts]:
        """Those of some points with a class relative to their page, by id: ``drifted`` or ``gone``."""
        classes, chunks = self.compared.classes, self.compared.differing
        return {name: chunks[name] for name in points if classes.get(name) == kind}

    def misplaced(self, points: Collection[str]) -> set[str]:
        """Those of some points that are gone from their page while another page has their text."""
        return {name for name in points if name in self.compared.stands_on}

    @cached_property
    def compared(self) -> Compared:
        """The pages compared with their chunks."""
        return compare(self.facts)


def _are_of_one(chunks: Sequence[ChunkFacts]) -> bool:
    """Whether the chunks of a page were stored by one ingestion: each has its own number, and all the same date."""
    numbers = [(chunk.depth, chunk.chunk_index) for chunk in chunks]
    if None in (number for _, number in numbers) or len(set(numbers)) < len(numbers):
        return False
    dates = [parse_time(chunk.embedded_at) for chunk in chunks]
    known = [date for date in dates if date is not None]
    apart = bool(known) and max(known) - min(known) > CLOCK_SKEW
    return not apart and len(known) in {0, len(dates)} and len({chunk.model for chunk in chunks}) == 1


def required_fields(manifest: SnapshotManifest) -> frozenset[str]:
    """Canonical names of fields that no point may leave empty."""
    present = present_fields(manifest.fields, manifest.required)
    return frozenset(name for name, path in manifest.fields.items() if path in present)


ASSET = "chunk_structure"


def times_stored(copies: Sequence[float]) -> MeasuredValue:
    """The criterion: letters of chunks on their page / letters that they cover, median over pages."""
    pages = len(copies)
    if not pages:
        return not_measured("times_stored", "no_data", "no page with chunks was read")
    reason = f"median over {pages:,} pages that were read and have chunks"
    value = statistics.median(copies)
    return MeasuredValue(name="times_stored", value=value, denominator=pages, reason=reason)


def measure_chunks(
    facts: Facts, limits: LimitRules, *, now: datetime, partitions: Partitions | None = None
) -> Measurement:
    """The measurement of ``chunk_structure``: ``times_stored``, and findings ``chunk.*`` and ``text.*``.

    Args:
        facts: The collection and its pages.
        limits: Source of the model's input limit.
        now: Time of the run, aware.
        partitions: Those of the collection, if it has any.
    """
    snapshot = facts.snapshot
    evidence = ChunkEvidence(facts, snapshot.batches, now, limits, required_fields(snapshot.manifest), partitions)
    return Measurement(
        asset=ASSET,
        values=(times_stored(evidence.layout.copies),),
        by_partition=_by_partition(facts, partitions) if partitions else {},
        findings=tuple(with_share(finding, snapshot.manifest.points) for finding in find_all(evidence)),
        sections={} if evidence.partition is None else {"partition": evidence.partition.path},
    )


def _by_partition(facts: Facts, partitions: Partitions) -> ByPartition:
    copies = layout.copies_by_partition(facts.by_bucket("chunks", ("point_id", *layout.COLUMNS)), partitions)
    return {value: (times_stored(own),) for value, own in copies.items()}
