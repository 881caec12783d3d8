"""What the detectors of chunks and their texts look at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.validation.chunks.claims import Relations, learn_relations
from ragval_pipeline.validation.chunks.limits import LimitRules
from ragval_pipeline.validation.chunks.order import COLUMNS, PageOrder, collect_order, without_strays
from ragval_pipeline.validation.facts.rows import ChunkFacts, PageFacts, chunks_of
from ragval_pipeline.validation.facts.store import FactRows
from ragval_pipeline.validation.facts.texts import TextFacts
from ragval_pipeline.validation.integrity.habits import Habits
from ragval_pipeline.validation.metadata.levels import present_fields
from ragval_pipeline.validation.points import PointRef
from ragval_pipeline.validation.thresholds import PASSAGE_LETTERS, VERIFIED_FROM

_COUNTED = (
    "model",
    "claimed",
    "characters",
    "parts",
    "marks",
    "script",
    "tokens",
    "added",
    "exact",
    "digest",
)
#: Places of a text of which the page has some run more than once.
_TWICE = 2  # definition
#: All columns of a chunk but those that say in which other words or on which other pages it stands.
_PLACED = tuple(entry.name for entry in fields(ChunkFacts) if entry.name not in {"joins", "probes"})


@dataclass(frozen=True)
class SameTexts:
    """Texts that stand under several points.

    Attributes:
        stored: By hash, the points of those that were stored more often than pages have them.
        on_site: Hashes of those that pages have as often themselves: each point stands at a place of its own.
    """

    stored: Mapping[int, Sequence[PointRef]]
    on_site: frozenset[int]


@dataclass(frozen=True)
class ChunkEvidence:
    """The facts of a run, and what a suite says of chunks.

    Attributes:
        facts: One row a chunk and one a page.
        points: Rows of the snapshot with the columns asked for; every point, those without a text too.
        now: Time of the run, aware.
        limits: Where the model's input limit comes from.
        required: Canonical names of fields that every point must fill.
    """

    facts: FactRows
    points: Callable[[Sequence[str]], Iterable[Mapping[str, Any]]]
    now: datetime
    limits: LimitRules = field(default_factory=LimitRules)
    required: frozenset[str] = frozenset()

    @cached_property
    def read(self) -> Mapping[str, PageFacts]:
        """The pages that were read, by key, each with the last of its passages only."""
        return {page.page_key: _brief(page) for page in self.facts.pages() if page.state == "read"}

    def on_pages(self, keys: Collection[str] | None = None) -> Iterator[tuple[str, Sequence[ChunkFacts]]]:
        """The chunks of each page that was read, a bucket in memory at a time.

        Args:
            keys: Of the pages that are meant; None: all.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if keys is not None and not keys:
            return
        for table in self.facts.by_bucket("chunks", _PLACED):
            meant = table.column("compared")
            if keys is not None:
                meant = pc.and_(
                    meant, pc.is_in(table.column("page_key"), value_set=pa.array(sorted(keys), pa.string()))
                )
            by_page: dict[str, list[ChunkFacts]] = {}
            for batch in table.filter(meant).to_batches():
                for chunk in chunks_of(batch):
                    if chunk.letters and chunk.page_key is not None:
                        by_page.setdefault(chunk.page_key, []).append(chunk)
            yield from by_page.items()

    @cached_property
    def habits(self) -> Habits:
        """What the ingestion puts around its chunks."""
        differing, total = [], 0
        for _, own in self.on_pages():
            total += len(own)
            differing += [chunk for chunk in own if chunk.found < chunk.letters]
        return Habits.of(differing, total=total, pages=len(self.read))

    @cached_property
    def same_texts(self) -> SameTexts:
        """The texts that stand under several points."""
        import pyarrow.compute as pc

        counted = pc.value_counts(self.facts.table("digest").column("digest").drop_null())
        several = counted.field("values").filter(pc.greater(counted.field("counts"), 1))
        found: dict[int, list[PointRef]] = {}
        for text in self.facts.texts("digest", where=lambda batch: pc.is_in(batch.column("digest"), several)):
            found.setdefault(text.digest or 0, []).append(text.ref)
        groups = {digest: sorted(refs) for digest, refs in found.items()}
        unread = {digest for digest, refs in groups.items() for ref in refs if ref.page_key not in self.read}
        digests = {ref.point_id: digest for digest, refs in groups.items() if digest not in unread for ref in refs}
        stored = set(unread)
        keys = {ref.page_key for refs in groups.values() for ref in refs if ref.point_id in digests and ref.page_key}
        for _, own in self.on_pages(keys):
            by_text: dict[int, list[ChunkFacts]] = {}
            for chunk in own:
                if chunk.point_id in digests:
                    by_text.setdefault(digests[chunk.point_id], []).append(chunk)
            stored.update(digest for digest, chunks in by_text.items() if not _have_their_places(chunks, own))
        site = frozenset(groups) - stored
        return SameTexts({digest: refs for digest, refs in groups.items() if digest not in site}, site)

    @cached_property
    def orders(self) -> Mapping[str, PageOrder]:
        """The points of each page by index."""
        return without_strays(collect_order(self.points(COLUMNS)))

    @cached_property
    def counted(self) -> Sequence[TextFacts]:
        """Every text with its counts."""
        return list(self.facts.texts(*_COUNTED))

    @cached_property
    def relations(self) -> Relations:
        """How claimed token counts relate to what can be counted."""
        return learn_relations(self.counted)


def _have_their_places(same: Sequence[ChunkFacts], own: Sequence[ChunkFacts]) -> bool:
    """Whether chunks with one text each hold a place of their page that none of its other chunks holds.

    Args:
        same: Chunks of one page with one text.
        own: All chunks of the page.
    """
    held = [
        (min(first for first, _ in spans), max(end for _, end in spans))
        for chunk in same
        if (spans := list(chunk.spans))
    ]
    if len(held) < len(same) or any(chunk.share < VERIFIED_FROM for chunk in same):
        return False
    # Of a text that is not letter for letter on the page only one place is known.
    places = max(len(set(held)), _TWICE if all(chunk.repeated for chunk in same) else 1)
    names = {chunk.point_id for chunk in same}
    others = [span for chunk in own if chunk.point_id not in names for span in chunk.spans]
    within = any(first <= begin and end <= last for begin, end in held for first, last in others)
    return places >= len(same) and (len(same) == 1 or not within)


def _brief(page: PageFacts) -> PageFacts:
    passages = [block for block in page.blocks if block.letters >= PASSAGE_LETTERS]
    return replace(page, blocks=tuple(passages[-1:]), anchors=())


def required_fields(manifest: SnapshotManifest) -> frozenset[str]:
    """Canonical names of fields that every point must fill."""
    present = present_fields(manifest.fields, manifest.required)
    return frozenset(name for name, path in manifest.fields.items() if path in present)
