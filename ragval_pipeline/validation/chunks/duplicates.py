"""Identical and nearly identical texts in several points: ``chunk.duplicate_text`` and ``chunk.near_duplicate``.

MinHash signatures are in a file, one band of them in memory at a time: datasketch and rensa hold all, which is a
gigabyte at a million chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.factory import SHOWN, make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.chunk.duplicate_text import RULE as DUPLICATE_TEXT
from ragval_pipeline.rules.chunk.duplicate_text import Details as SameText
from ragval_pipeline.rules.chunk.near_duplicate import RULE as CHUNK_NEAR_DUPLICATE
from ragval_pipeline.rules.chunk.near_duplicate import Details as Alike
from ragval_pipeline.sources.arrow import numbers_of
from ragval_pipeline.sources.memory import ScratchRows, scratch_file
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.chunks.columns import Columns, SameTexts
from ragval_pipeline.validation.chunks.contained import contained
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.partitions import Partition, documents_of
from ragval_pipeline.validation.points import PointRef, on_page
from ragval_pipeline.validation.thresholds import FEWEST, NEAR_DUPLICATE

if TYPE_CHECKING:
    import numpy.typing as npt


_READ_TWICE = (
    "One ingestion stored parts of a page twice: on their own and with what is around them, such as a table and its "
    "section, or an element and the element that it is in. Or chunks of an earlier ingestion with another chunk size "
    "are left: larger chunks under the ids of smaller ones overwrite only some of them."
)
_READ_ONCE = (
    "Correct the extraction or the chunker so that it takes each part of a page once, then ingest again: re-ingesting "
    "alone stores the same. If the chunk size was changed, delete the points of each page before ingesting it again. "
    "If small chunks are within larger ones on purpose, map payload.fields.parent_id. "
    "review_point_ids in remediation.json lists the smaller ones."
)
#: LlamaIndex's SentenceSplitter stores such a chunk now and then: the sentences with which the next one begins again.
_SO_FEW = (
    "So few may also be what a splitter that repeats whole sentences leaves now and then; nothing tells the two apart."
)


@detector(DUPLICATE_TEXT, needs=ChunkEvidence)
def find_duplicates(evidence: ChunkEvidence) -> Iterator[Finding]:
    """The points of each group without a position of their own, and those within another chunk of their page.

    The details name all others, or the other one.
    """
    same = evidence.same_texts
    documents = documents_of(evidence.copies, evidence.labels) if same.copies and evidence.partition is None else None
    copies, inner = list(_copies(same, documents)), list(_inner(evidence))
    if not copies and not inner:
        return
    usual = DUPLICATE_TEXT
    has = usual.means if len(copies) == 1 else usual.many
    sentences = [f"{plural(len(copies), 'point')} {has}."] if copies else []
    if documents is not None:
        sentences.append(f"The copies are of different documents, which {documents.path} tells apart.")
    if inner:
        lie, page = ("lies", "its page") if len(inner) == 1 else ("lie", "their page")
        sentences.append(f"{plural(len(inner), 'point')} {lie} whole within another chunk of {page}.")
    are_few = not copies and len({subject.page for subject in inner}) < FEWEST
    finding = make_finding(
        DUPLICATE_TEXT.code,
        [*copies, *inner],
        details={"groups": len(same.groups), **({"within": len(inner)} if inner else {})},
        message=" ".join(sentences),
        cause=" ".join(
            [
                *([usual.cause] if copies else []),
                *([_READ_TWICE] if inner else []),
                *([_SO_FEW] if are_few else []),
            ]
        ),
        remedy=" ".join([*([usual.remedy] if copies else []), *([_READ_ONCE] if inner else [])]),
    )
    yield finding.model_copy(update={"severity": "info"}) if are_few else finding


def _copies(same: SameTexts, documents: Partition | None) -> Iterator[Subject]:
    for group in same.groups.values():
        ids = [ref.point_id for ref in group]
        for ref in group:
            if ref.point_id in same.copies:
                others = [other for other in ids[: SHOWN + 1] if other != ref.point_id][:SHOWN]
                document = "" if documents is None else documents.values.get(ref.point_id, "")
                # A problem of one copy may cause the other to be one.
                subject = ref.subject(SameText(others, len(ids)), points=tuple(others))
                yield replace(subject, copies=tuple(others), document=document)


def _inner(evidence: ChunkEvidence) -> Iterator[Subject]:
    for chunk, holder in contained(evidence):
        if chunk.point_id not in evidence.same_texts.copies:
            within = holder.point_id
            details = on_page(evidence.read[chunk.page_key or ""], SameText(within=within))
            yield Subject(chunk.point_id, details, page=chunk.page_key, points=(within,), within=within)


ROWS, BANDS = 3, 64  # work
#: In larger buckets each member is only compared with its neighbours in the order of the following bands.
ALL_PAIRS, NEIGHBOURS = 24, 8  # work
_FOLLOWING = 3  # work
_SEED = 20_011  # work
#: Sets hashed at once.
_BLOCK = 512  # work
#: Bytes of a key.
_KEY = 8  # definition


class Bands:
    """The keys of sets in all bands, in a temporary file: only one band is in memory at a time."""

    def __init__(self) -> None:
        rng = np.random.default_rng(_SEED)
        self._factors = rng.integers(1, 2**63, ROWS * BANDS, dtype=np.uint64) | np.uint64(1)  # definition
        self._added = rng.integers(0, 2**63, ROWS * BANDS, dtype=np.uint64)  # definition
        self._blocks: list[int] = []
        self._file = scratch_file(self)

    def __len__(self) -> int:
        return sum(self._blocks)

    def add(self, hashes: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]) -> None:
        """Append some sets.

        Args:
            hashes: Distinct hashes of all sets, concatenated; no set is empty.
            offsets: Start of each set, and end of the last; shape ``(sets + 1,)``.
        """
        for start in range(0, len(offsets) - 1, _BLOCK):
            edges = offsets[start : start + _BLOCK + 1]
            keys = _keys(hashes[edges[0] : edges[-1]], edges[:-1] - edges[0], self._factors, self._added)
            self._file.write(keys.tobytes())
            self._blocks.append(keys.shape[1])

    def keys(self, band: int) -> npt.NDArray[np.uint64]:
        """The key of each set in a band: equal if their minimum hashes are equal."""
        read, start = [np.empty(0, dtype=np.uint64)], 0
        for size in self._blocks:
            self._file.seek(start + _KEY * size * band)
            read.append(np.frombuffer(self._file.read(_KEY * size), dtype=np.uint64))
            start += _KEY * size * BANDS
        return np.concatenate(read)


def candidate_pairs(bands: Bands) -> Iterator[tuple[int, int]]:
    """Pairs of sets that share a band, lower index first; with duplicates."""
    if len(bands) <= 1:
        return
    keys_of = lru_cache(maxsize=_FOLLOWING + 1)(bands.keys)
    for band in range(BANDS):
        keys = keys_of(band)
        order = np.argsort(keys, kind="stable")
        edges = np.flatnonzero(np.diff(keys[order])) + 1
        sizes = np.diff(np.concatenate(([0], edges, [len(order)])))
        starts = np.concatenate(([0], edges))
        for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
            members = order[start : start + size]
            if size > ALL_PAIRS:
                following = [keys_of((band + later) % BANDS)[members] for later in range(1, _FOLLOWING + 1)]
                members = members[np.lexsort(following[::-1])]
            yield from _pairs(members.tolist())


def _keys(
    hashes: npt.NDArray[np.uint32],
    starts: npt.NDArray[np.int64],
    factors: npt.NDArray[np.uint64],
    added: npt.NDArray[np.uint64],
) -> npt.NDArray[np.uint64]:
    """Keys of some sets in all bands; shape ``(BANDS, sets)``."""
    keys = np.zeros((BANDS, len(starts)), dtype=np.uint64)
    block = hashes.astype(np.uint64)
    mixed = np.empty_like(block)
    for number, (factor, offset) in enumerate(zip(factors, added, strict=True)):
        part = keys[number // ROWS]
        np.multiply(block, factor, out=mixed)
        mixed += offset
        # Multiply-shift: the upper half of the product is well mixed. The smallest product has the smallest upper half,
        # so only minima are shifted.
        part ^= np.minimum.reduceat(mixed, starts) >> np.uint64(32)  # definition
        part *= np.uint64(0x9E3779B97F4A7C15)  # definition
        part ^= part >> np.uint64(29)  # definition
    return keys


def _pairs(members: Sequence[int]) -> Iterator[tuple[int, int]]:
    reach = len(members) if len(members) <= ALL_PAIRS else NEIGHBOURS
    for place, first in enumerate(members):
        for second in members[place + 1 : place + 1 + reach]:
            yield (first, second) if first < second else (second, first)


#: Different trigrams of texts that differ by two words: three on either side for each.
_TWO_WORDS = 12  # definition
#: Maximum neighbours of one text: more would not change that it is a near duplicate.
_ENOUGH = 50  # work


@dataclass(frozen=True)
class Shingled:
    """The word trigrams of chunks that are long enough to compare.

    Attributes:
        texts: All chunks; equal texts, with whitespace collapsed, are duplicates, not near duplicates, unless both have
            positions of their own.
        rows: The row of each of these chunks among all.
        shingles: Sorted distinct hashes of each chunk's trigrams, concatenated.
        offsets: Start of each chunk's, and end of the last; shape ``(chunks + 1,)``.
        bands: Their keys, for finding candidates.
        copies: Ids of points with the text of another one and no position of their own.
    """

    texts: Columns
    rows: npt.NDArray[np.intp]
    shingles: ScratchRows
    offsets: npt.NDArray[np.int64]
    bands: Bands
    copies: frozenset[str] = frozenset()

    @classmethod
    def of(cls, evidence: ChunkEvidence) -> Shingled:
        """Those of a run."""
        bands, kept, lengths = Bands(), ScratchRows(), [np.empty(0, dtype=np.int64)]
        for batch in evidence.facts.batches("chunks", ("shingles",)):
            shingles = batch.column("shingles")
            hashes, each = numbers_of(shingles.flatten()), np.diff(numbers_of(shingles.offsets))
            bands.add(hashes, np.cumsum(np.append(0, each[each > 0]), dtype=np.int64))
            kept.add(hashes[:, None])
            lengths.append(each)
        every = np.concatenate(lengths)
        offsets = np.cumsum(np.append(0, every[every > 0]), dtype=np.int64)
        return cls(evidence.texts, np.flatnonzero(every), kept, offsets, bands, evidence.same_texts.copies)

    def __getitem__(self, index: int) -> npt.NDArray[np.uint32]:
        """The trigrams of a chunk."""
        found: npt.NDArray[np.uint32] = self.shingles.between(self.offsets[index], self.offsets[index + 1])[:, 0]
        return found

    def ref(self, index: int) -> PointRef:
        """The point of a chunk."""
        return self.texts.ref(int(self.rows[index]))

    def _value(self, name: str, index: int) -> Any:
        return self.texts.value(name, int(self.rows[index]))

    def are_comparable(self, first: int, second: int) -> bool:
        """Whether two chunks are from different pages, and not equal unless their pages are."""
        page, other = (self._value("page_key", index) for index in (first, second))
        if page is not None and page == other:
            return False
        if self._value("digest", first) != self._value("digest", second):
            return True
        return self.copies.isdisjoint(self._value("point_id", index) for index in (first, second))


@detector(CHUNK_NEAR_DUPLICATE, needs=ChunkEvidence)
def find_near_duplicates(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Every member of each pair; the details name the others, the most similar first."""
    chunks = Shingled.of(evidence)
    alike = _neighbours(chunks)
    # No search returns both of two partitions, and what two versions have in common is said of their pages.
    partition = evidence.editions.by_point(evidence.texts) if evidence.stated is None else evidence.stated.joined
    if partition:
        values = {index: partition.get(chunks.ref(index).point_id) for index in alike}
        within = {
            index: {other: found for other, found in others.items() if values[other] == values[index]}
            for index, others in alike.items()
        }
        alike = {index: others for index, others in within.items() if others}
    subjects = []
    for index, found in alike.items():
        nearest = sorted(found.items(), key=lambda item: (-item[1], chunks.ref(item[0]).point_id))[:SHOWN]
        others = [chunks.ref(other).point_id for other, _ in nearest]
        subject = chunks.ref(index).subject(Alike(others, round(nearest[0][1], 4)))
        subjects.append(replace(subject, copies=tuple(others)))
    if subjects:
        details = {"similar_from": NEAR_DUPLICATE, "pairs": sum(len(found) for found in alike.values()) // 2}
        verb = "has" if len(subjects) == 1 else "have"
        pageless = f"{plural(len(subjects), 'point')} {verb} nearly the same text as another point."
        message = None if any(subject.page for subject in subjects) else pageless
        yield make_finding(CHUNK_NEAR_DUPLICATE.code, subjects, details=details, message=message)


def similarity(first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]) -> float:
    """Jaccard similarity of two sorted arrays of distinct hashes."""
    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (len(first) + len(second) - common)


def _neighbours(chunks: Shingled) -> dict[int, dict[int, float]]:
    """Near duplicates on other pages by chunk, with their similarity."""
    alike: dict[int, dict[int, float]] = {}
    seen: set[tuple[int, int]] = set()
    for pair in candidate_pairs(chunks.bands):
        first, second = pair
        if pair in seen or min(len(alike.get(first, ())), len(alike.get(second, ()))) >= _ENOUGH:
            continue
        seen.add(pair)
        if chunks.are_comparable(first, second):
            share = similarity(chunks[first], chunks[second])
            if _is_near(share, len(chunks[first]), len(chunks[second])):
                alike.setdefault(first, {})[second] = share
                alike.setdefault(second, {})[first] = share
    return alike


def _is_near(found: float, first: int, second: int) -> bool:
    common = round(found / (1 + found) * (first + second))
    return found >= NEAR_DUPLICATE or first + second - 2 * common <= _TWO_WORDS
