"""The narrow columns of all texts, shared by all detectors, and texts stored in several points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np, pa, pc
from ragval_pipeline.sources.arrow import array_from, constant, numbers_of, without_nulls
from ragval_pipeline.sources.embedders.tokens import Script
from ragval_pipeline.validation.facts.rows import AGAIN, ChunkFacts
from ragval_pipeline.validation.points import PointRef

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.float64]
    Mask = NDArray[np.bool_]


_REF = ("point_id", "page_key", "page_url")
#: Columns with repeated texts: each is stored once.
_SHARED = ("page_key", "page_url", "model", "script")
#: Columns of the facts that are kept.
COLUMNS = (
    *_REF, "model", "script", "digest", "claimed", "characters", "parts", "marks", "tokens", "added", "exact",
)  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """Some texts, one row each; counts are floats, with NaN for None.

    Attributes:
        table: ``COLUMNS``, one row per chunk.
    """

    table: pa.Table

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch]) -> Columns:
        """Those of all texts of a run."""
        from ragval_pipeline.validation.facts.tables import chunk_schema

        types = [chunk_schema().field(name) for name in COLUMNS]
        shared = [pa.field(field.name, pa.dictionary(pa.int32(), pa.string())) for field in types]
        schema = pa.schema([two if one.name in _SHARED else one for one, two in zip(types, shared, strict=True)])
        held = [batch.select(COLUMNS).cast(schema) for batch in batches]
        table = pa.Table.from_batches(held, schema=schema)
        return cls(table.unify_dictionaries().combine_chunks())

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def some(self, rows: NDArray[Any]) -> Columns:
        """The rows with these numbers, or selected by a mask."""
        numbers = rows.nonzero()[0] if rows.dtype == bool else rows
        return Columns(self.table.take(array_from(numbers)).combine_chunks())

    def value(self, name: str, row: int) -> Any:
        """One value of a column."""
        return self.table.column(name)[row].as_py()

    def ref(self, row: int) -> PointRef:
        """The point of a row."""
        return PointRef(*(self.value(name, row) for name in _REF))

    def codes(self, name: str) -> tuple[list[str | None], NDArray[np.int64]]:
        """The distinct texts of a shared column, and each row's index into them; the last one is None."""
        column = self.table.column(name).combine_chunks()
        known = column.dictionary.to_pylist()
        return [*known, None], numbers_of(without_nulls(column.indices, len(known))).astype("int64")

    def counts(self, name: str) -> Counts:
        """The numbers of a column, as described in ``TextFacts``."""
        counts: Counts = numbers_of(self.table.column(name).combine_chunks()).astype(np.float64)
        return counts

    def by_script(self) -> dict[Script, Mask]:
        """The rows of each script, in order of first appearance."""
        names, codes = self.codes("script")
        present, first = np.unique(codes, return_index=True)
        found: dict[Any, Mask] = {names[code]: codes == code for code in present[np.argsort(first)].tolist()}
        return found


@dataclass(frozen=True)
class SameTexts:
    """Texts stored in several points.

    Attributes:
        groups: By hash, the points of texts with at least one copy.
        copies: Ids of the points without a position of their own: their text is not on their page, or another point
            with the same text has the same position.
    """

    groups: Mapping[int, Sequence[PointRef]]
    copies: frozenset[str]

    @classmethod
    def of(
        cls,
        texts: Columns,
        on_pages: Callable[[Collection[str]], Iterator[tuple[str, Sequence[ChunkFacts]]]],
        is_gone: Callable[[ChunkFacts], bool],
        partition: Mapping[str, str] | None = None,
    ) -> SameTexts:
        """Those of a run; ``partition`` is the value of a field by which equal texts are no copies, by point id."""
        groups = same_texts(texts)
        if partition is not None:
            groups = _within(groups, partition)
        digests = {ref.point_id: digest for digest, refs in groups.items() for ref in refs}
        own: set[str] = set()
        for _, chunks in on_pages({ref.page_key for refs in groups.values() for ref in refs if ref.page_key}):
            # A larger chunk that is not divided equals its only smaller one, and each partition has the whole page.
            layers: dict[tuple[int, str | None], list[ChunkFacts]] = {}
            for chunk in chunks:
                layers.setdefault((chunk.depth, (partition or {}).get(chunk.point_id)), []).append(chunk)
            for layer in layers.values():
                by_text: dict[int, list[ChunkFacts]] = {}
                for chunk in layer:
                    if chunk.point_id in digests:
                        by_text.setdefault(digests[chunk.point_id], []).append(chunk)
                for same in by_text.values():
                    if _have_their_places(same, layer, is_gone):
                        own.update(chunk.point_id for chunk in same)
        copies = frozenset(digests.keys() - own)
        return cls({digests[name]: groups[digests[name]] for name in sorted(copies)}, copies)


def _within(groups: Mapping[int, Sequence[PointRef]], partition: Mapping[str, str]) -> dict[int, list[PointRef]]:
    """The groups that are left within each partition."""
    found: dict[int, list[PointRef]] = {}
    for digest, refs in groups.items():
        for ref in refs:
            found.setdefault(hash((digest, partition.get(ref.point_id))), []).append(ref)
    return {key: refs for key, refs in found.items() if len(refs) > 1}


def same_texts(texts: Columns) -> dict[int, list[PointRef]]:
    """The points of each text with several."""
    digests = texts.table.column("digest").combine_chunks()
    counted = pc.value_counts(digests.drop_null())
    several = counted.field("values").filter(pc.greater(counted.field("counts"), constant(1)))
    found: dict[int, list[PointRef]] = {}
    for row in np.flatnonzero(numbers_of(pc.is_in(digests, several))).tolist():
        found.setdefault(digests[row].as_py(), []).append(texts.ref(row))
    return {digest: sorted(refs) for digest, refs in found.items()}


def _have_their_places(
    same: Sequence[ChunkFacts], own: Sequence[ChunkFacts], is_gone: Callable[[ChunkFacts], bool]
) -> bool:
    """Whether chunks with the same text each have a position on their page that no other chunk has.

    ``own`` are all chunks of the page.
    """
    runs = [chunk.longest_part for chunk in same]
    if None in runs or any(map(is_gone, same)):
        return False
    if len(same) == 1:
        return True
    owners = {run[1]: chunk for chunk, run in zip(same, runs, strict=True) if run}
    names = {chunk.point_id for chunk in same}
    others = [(chunk, span) for chunk in own if chunk.point_id not in names for span in chunk.spans]
    places = {*owners, *(place for chunk in same for place in chunk.again)}
    if len(places) > AGAIN >= len(same):
        return True  # not all positions are known
    length = same[0].longest
    free = {
        place
        for place in places
        if not any(
            first <= place and place + length <= end and not _overlaps(owners.get(place), other, place == first)
            for other, (first, end) in others
        )
    }
    return len(free) >= min(len(same), AGAIN)


def _overlaps(chunk: ChunkFacts | None, other: ChunkFacts, at_the_beginning: bool) -> bool:
    """Whether a chunk may be the overlap of another one with its neighbour, at its beginning or end."""
    if chunk is None or chunk.chunk_index is None or other.chunk_index is None:
        return False
    return other.chunk_index - chunk.chunk_index == (1 if at_the_beginning else -1)
