"""How much of the chunks is on their pages, and of the pages in their chunks, for a collection and each partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragval_pipeline.lazy import np, pc
from ragval_pipeline.sources.arrow import one_of
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.facts.rows import BlockFacts, ChunkFacts
from ragval_pipeline.validation.facts.store import FactRows

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


class Amounts(NamedTuple):
    """Letters and digits.

    Attributes:
        found: Of chunks, that are on their page.
        letters: Of chunks whose page was read.
        held: Of page content, in chunks.
        content: Of page content.
    """

    found: int = 0
    letters: int = 0
    held: int = 0
    content: int = 0


def letters_found(facts: FactRows, walls: Collection[str]) -> tuple[int, int]:
    """Letters of the compared chunks found on their pages, and all of them."""
    found = letters = 0
    for judged in _judged(facts, walls):
        found += pc.sum(judged.column("found")).as_py() or 0
        letters += pc.sum(judged.column("letters")).as_py() or 0
    return found, letters


def _judged(facts: FactRows, walls: Collection[str], *more: str) -> Iterator[pa.RecordBatch]:
    """The chunks that are compared with their page."""
    beside = one_of("page_key", walls)
    for batch in facts.batches("chunks", ("page_key", "compared", "found", "letters", *more)):
        yield batch.filter(pc.and_not(batch.column("compared"), beside(batch)))


@dataclass
class OfPartitions:
    """The amounts of each partition, collected page by page.

    Attributes:
        partitions: Those of the collection.
        held: Letters of content in chunks, by partition.
        content: Letters of content, by partition.
        shared: The blocks of the pages with points of several partitions, each of which has chunks of its own.
    """

    partitions: Partitions
    held: Counter[str] = field(default_factory=Counter)
    content: Counter[str] = field(default_factory=Counter)
    shared: dict[str, Sequence[BlockFacts]] = field(default_factory=dict)

    def add(self, key: str, blocks: Sequence[BlockFacts]) -> None:
        """Count the content of a page."""
        values = self.partitions.of_page(key)
        self.content.update(dict.fromkeys(values, sum(block.letters for block in blocks)))
        if len(values) > 1:
            self.shared[key] = blocks
        else:
            self.held.update(dict.fromkeys(values, sum(block.held for block in blocks)))

    def amounts(self, facts: FactRows, walls: Collection[str]) -> dict[str, Amounts]:
        """All amounts, by partition."""
        held, found, letters = Counter(self.held), Counter[str](), Counter[str]()
        for batch in _judged(facts, walls, "point_id"):
            rows = zip(*(batch.column(name).to_pylist() for name in ("point_id", "found", "letters")), strict=True)
            for point, there, every in rows:
                for value in self.partitions.of_point(point):
                    found[value] += there
                    letters[value] += every
        for key, chunks in self._chunks_of_shared(facts).items():
            held.update(self._held(self.shared[key], chunks))
        return {
            value: Amounts(found[value], letters[value], held[value], self.content[value])
            for value in self.partitions.sizes
        }

    def _chunks_of_shared(self, facts: FactRows) -> dict[str, list[ChunkFacts]]:
        chunks: dict[str, list[ChunkFacts]] = {}
        for chunk in facts.chunks(one_of("page_key", self.shared)) if self.shared else ():
            chunks.setdefault(chunk.page_key or "", []).append(chunk)
        return chunks

    def _held(self, blocks: Sequence[BlockFacts], chunks: Sequence[ChunkFacts]) -> dict[str, int]:
        """How much of a shared page's content each partition's own chunks hold.

        What is held otherwise than in one piece at its place, such as a heading in a title, is counted for all.
        """
        end = max((block.start + block.letters for block in blocks), default=0)
        every = _covered(chunks, end)
        measured = {}
        for value, own in self.partitions.grouped(
            chunks, lambda chunk: self.partitions.of_point(chunk.point_id)
        ).items():
            covered = _covered(own, end) if own else every[:0]
            parts = ((block, block.start, block.start + block.letters) for block in blocks)
            measured[value] = sum(
                min(block.held, int(covered[start:stop].sum()) + max(0, block.held - int(every[start:stop].sum())))
                for block, start, stop in parts
                if own
            )
        return measured


def _covered(chunks: Sequence[ChunkFacts], end: int) -> NDArray[np.bool_]:
    """Which of the first letters of a page are in some chunks."""
    covered = np.zeros(end, dtype=bool)
    for first, last in (span for chunk in chunks for span in chunk.spans):
        covered[first:last] = True
    return covered
