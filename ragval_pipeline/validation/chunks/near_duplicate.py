"""Nearly the same text under points of different pages: ``chunk.near_duplicate``.

Chunks of one page overlap on purpose. Texts are compared by the Jaccard similarity of their word trigrams, candidates
found by ``minhash`` and then compared exactly. Two texts are nearly the same from 0.7 on, and where they differ by two
words at most: each changed word costs three trigrams on either side, so that two changed words leave 0.89 of a chunk of
100 words, 0.73 of 40, 0.60 of 26 and 0.50 of 20. Measured on chunks of 50 to 99 words: one and two changed words are
always named, four in three of four chunks, eight never; of 100 words and more four always and eight in one of eight.
Pages that differ in so much say different things.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.minhash import candidate_pairs
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.points import PointRef
from ragval_pipeline.validation.thresholds import NEAR_DUPLICATE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

#: Trigrams by which texts differ that differ by two words: three on either side for each.
_TWO_WORDS = 12  # definition
_SHOWN = 20  # shown
#: Neighbours of one text after which no more are looked for: it is a near duplicate, whatever else there is.
_ENOUGH = 50  # work


@dataclass(frozen=True, slots=True)
class Shingled:
    """A chunk's word trigrams.

    Args:
        ref: The point.
        shingles: Sorted hashes of its trigrams, each once.
        digest: Hash of the text with blanks folded: equal texts are duplicates, not near duplicates.
    """

    ref: PointRef
    shingles: npt.NDArray[np.uint32]
    digest: int | None


@detector("chunk.near_duplicate", needs=ChunkEvidence)
def find_near_duplicates(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Every member of each pair; the details name the others, the most alike first."""
    chunks = list(_shingled(evidence.facts.table("point_id", "page_key", "page_url", "digest", "shingles")))
    alike = _neighbours(chunks)
    subjects = []
    for index, found in alike.items():
        nearest = sorted(found.items(), key=lambda item: (-item[1], chunks[item[0]].ref.point_id))[:_SHOWN]
        others = [chunks[other].ref.point_id for other, _ in nearest]
        subjects.append(chunks[index].ref.subject(others=others, similarity=round(nearest[0][1], 4)))
    if subjects:
        details = {"similar_from": NEAR_DUPLICATE, "pairs": sum(len(found) for found in alike.values()) // 2}
        yield make_finding("chunk.near_duplicate", subjects, details=details)


def _shingled(table: pa.Table) -> Iterator[Shingled]:
    """The texts that are long enough; their trigrams are views of the table's memory."""
    for batch in table.to_batches():
        lists = batch.column("shingles")
        values, offsets = lists.values.to_numpy(), lists.offsets.to_numpy()
        columns = [batch.column(name).to_pylist() for name in ("point_id", "page_key", "page_url", "digest")]
        for start, end, *ref, digest in zip(offsets, offsets[1:], *columns, strict=False):
            if end > start:
                yield Shingled(PointRef(*ref), values[start:end], digest)


def similarity(first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]) -> float:
    """Jaccard similarity of two sorted arrays of distinct hashes."""
    import numpy as np

    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (len(first) + len(second) - common)


def _neighbours(chunks: Sequence[Shingled]) -> dict[int, dict[int, float]]:
    """By chunk its near duplicates on other pages, with their similarity."""
    alike: dict[int, dict[int, float]] = {}
    seen: set[tuple[int, int]] = set()
    for pair in candidate_pairs([chunk.shingles for chunk in chunks]):
        first, second = pair
        if pair in seen or min(len(alike.get(first, ())), len(alike.get(second, ()))) >= _ENOUGH:
            continue
        seen.add(pair)
        if _are_comparable(chunks[first], chunks[second]):
            found = similarity(chunks[first].shingles, chunks[second].shingles)
            if _is_near(found, len(chunks[first].shingles), len(chunks[second].shingles)):
                alike.setdefault(first, {})[second] = found
                alike.setdefault(second, {})[first] = found
    return alike


def _are_comparable(first: Shingled, second: Shingled) -> bool:
    one_page = first.ref.page_key is not None and first.ref.page_key == second.ref.page_key
    return not one_page and first.digest != second.digest


def _is_near(found: float, first: int, second: int) -> bool:
    common = round(found / (1 + found) * (first + second))
    return found >= NEAR_DUPLICATE or first + second - 2 * common <= _TWO_WORDS
