"""Nearly the same text under points of different pages: ``chunk.near_duplicate``.

Chunks of one page overlap on purpose. Texts are compared by the Jaccard similarity of their word trigrams, candidates
found by ``minhash`` and then compared exactly. Two texts are nearly the same from 0.7 on, and where they differ by two
words at most: each changed word costs three trigrams on either side, so that two changed words leave 0.89 of a chunk of
100 words, 0.73 of 40, 0.60 of 26 and 0.50 of 20. Measured on chunks of 50 to 99 words: one and two changed words are
always named, four in three of four chunks, eight never; of 100 words and more four always and eight in one of eight.
Pages that differ in so much say different things.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.scratch import ScratchRows
from ragval_pipeline.validation.chunks.columns import Columns
from ragval_pipeline.validation.chunks.evidence import ChunkEvidence
from ragval_pipeline.validation.chunks.minhash import Bands, candidate_pairs
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.points import PointRef
from ragval_pipeline.validation.thresholds import NEAR_DUPLICATE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Trigrams by which texts differ that differ by two words: three on either side for each.
_TWO_WORDS = 12  # definition
_SHOWN = 20  # shown
#: Neighbours of one text after which no more are looked for: it is a near duplicate, whatever else there is.
_ENOUGH = 50  # work


@dataclass(frozen=True)
class Shingled:
    """The word trigrams of the chunks that are long enough to be compared.

    Attributes:
        texts: All chunks; equal texts, blanks folded, are duplicates, not near duplicates, unless it is the site that
            repeats them.
        rows: The place of each of these chunks among all.
        shingles: Sorted hashes of the trigrams of each, each once, one chunk after the other; in a temporary file.
        offsets: Where those of each chunk begin, and where the last ones end; shape ``(chunks + 1,)``.
        bands: Their keys, by which those that may be alike are found.
        on_site: Hashes of texts that several pages have in common.
    """

    texts: Columns
    rows: npt.NDArray[np.intp]
    shingles: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    bands: Bands
    on_site: frozenset[int] = frozenset()

    @classmethod
    def of(cls, evidence: ChunkEvidence) -> Shingled:
        """Those of a run."""
        import numpy as np

        bands, kept, lengths = Bands(), ScratchRows(), [np.empty(0, dtype=np.int64)]
        for batch in evidence.facts.batches("chunks", ("shingles",)):
            shingles = batch.column("shingles")
            hashes, each = shingles.flatten().to_numpy(), np.diff(shingles.offsets.to_numpy())
            bands.add(hashes, np.cumsum(np.append(0, each[each > 0]), dtype=np.int64))
            kept.add(hashes[:, None])
            lengths.append(each)
        every = np.concatenate(lengths)
        offsets = np.cumsum(np.append(0, every[every > 0]), dtype=np.int64)
        shingles = kept.rows()[:, 0]
        return cls(evidence.texts, np.flatnonzero(every), shingles, offsets, bands, evidence.same_texts.on_site)

    def __getitem__(self, index: int) -> npt.NDArray[np.uint32]:
        """The trigrams of a chunk."""
        return self.shingles[self.offsets[index] : self.offsets[index + 1]]

    def ref(self, index: int) -> PointRef:
        """The point of a chunk."""
        return self.texts.ref(int(self.rows[index]))

    def _value(self, name: str, index: int) -> Any:
        return self.texts.value(name, int(self.rows[index]))

    def are_comparable(self, first: int, second: int) -> bool:
        """Whether two chunks are of different pages, and not equal unless their pages are."""
        page, other = (self._value("page_key", index) for index in (first, second))
        if page is not None and page == other:
            return False
        digest = self._value("digest", first)
        return bool(digest != self._value("digest", second)) or digest in self.on_site


@detector("chunk.near_duplicate", needs=ChunkEvidence)
def find_near_duplicates(evidence: ChunkEvidence) -> Iterator[Finding]:
    """Every member of each pair; the details name the others, the most alike first."""
    chunks = Shingled.of(evidence)
    alike = _neighbours(chunks)
    subjects = []
    for index, found in alike.items():
        nearest = sorted(found.items(), key=lambda item: (-item[1], chunks.ref(item[0]).point_id))[:_SHOWN]
        others = [chunks.ref(other).point_id for other, _ in nearest]
        subjects.append(chunks.ref(index).subject(others=others, similarity=round(nearest[0][1], 4)))
    if subjects:
        details = {"similar_from": NEAR_DUPLICATE, "pairs": sum(len(found) for found in alike.values()) // 2}
        yield make_finding("chunk.near_duplicate", subjects, details=details)


def similarity(first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]) -> float:
    """Jaccard similarity of two sorted arrays of distinct hashes."""
    import numpy as np

    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (len(first) + len(second) - common)


def _neighbours(chunks: Shingled) -> dict[int, dict[int, float]]:
    """By chunk its near duplicates on other pages, with their similarity."""
    alike: dict[int, dict[int, float]] = {}
    seen: set[tuple[int, int]] = set()
    for pair in candidate_pairs(chunks.bands):
        first, second = pair
        if pair in seen or min(len(alike.get(first, ())), len(alike.get(second, ()))) >= _ENOUGH:
            continue
        seen.add(pair)
        if chunks.are_comparable(first, second):
            found = similarity(chunks[first], chunks[second])
            if _is_near(found, len(chunks[first]), len(chunks[second])):
                alike.setdefault(first, {})[second] = found
                alike.setdefault(second, {})[first] = found
    return alike


def _is_near(found: float, first: int, second: int) -> bool:
    common = round(found / (1 + found) * (first + second))
    return found >= NEAR_DUPLICATE or first + second - 2 * common <= _TWO_WORDS
