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
from ragval_pipeline.validation.thresholds import PASSAGE_LETTERS

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
#: All columns of a chunk but those that say in which other words or on which other pages it stands.
_PLACED = tuple(entry.name for entry in fields(ChunkFacts) if entry.name not in {"joins", "probes"})


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


def _brief(page: PageFacts) -> PageFacts:
    passages = [block for block in page.blocks if block.letters >= PASSAGE_LETTERS]
    return replace(page, blocks=tuple(passages[-1:]), anchors=())


def required_fields(manifest: SnapshotManifest) -> frozenset[str]:
    """Canonical names of fields that every point must fill."""
    present = present_fields(manifest.fields, manifest.required)
    return frozenset(name for name, path in manifest.fields.items() if path in present)
