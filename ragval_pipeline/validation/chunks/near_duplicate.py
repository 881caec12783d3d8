"""Nearly the same text under points of different pages.

What lives here: ``chunk.near_duplicate``, from partial results that merge. What does not: exactly the same text
(``duplicate_text``), and chunks of one page, which overlap on purpose.

Texts are compared by the Jaccard similarity of their word trigrams, candidates found by ``minhash`` and then compared
exactly. Two texts are nearly the same from 0.7 on, and where they differ by two words at most: each changed word costs
three trigrams on either side, so that two changed words leave 0.89 of a chunk of 100 words, 0.73 of 40, 0.60 of 26 and
0.50 of 20. Below 20 words two changed words are another statement. Measured on chunks of 50 to 99 words: one and two
changed words are always named, four in three of four chunks, eight never; of 100 words and more four always and eight
in one of eight. Pages that differ in so much say different things.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.text.words import fold_blanks, words_of
from ragval_pipeline.validation.chunks.minhash import candidate_pairs, signatures
from ragval_pipeline.validation.points import REF_COLUMNS, PointRef, point_ref

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Snapshot columns that ``collect_shingles`` needs.
COLUMNS = (*REF_COLUMNS, "text")

SIMILAR = 0.7
MIN_WORDS = 20
_SIZE = 3
#: Trigrams by which texts differ that differ by two words: three on either side for each.
_TWO_WORDS = 12
_SHOWN = 20
#: Neighbours of one text after which no more are looked for: it is a near duplicate, whatever else there is.
_ENOUGH = 50


@dataclass(frozen=True, slots=True)
class Shingled:
    """A chunk's word trigrams.

    Args:
        ref: The point.
        shingles: Sorted hashes of its trigrams, each once.
        text: Digest of the text with blanks folded: equal texts are duplicates, not near duplicates.
    """

    ref: PointRef
    shingles: npt.NDArray[np.uint64]
    text: bytes


def collect_shingles(rows: Iterable[Mapping[str, Any]]) -> list[Shingled]:
    """Trigrams of every text of at least ``MIN_WORDS`` words; lists of slices concatenate."""
    import numpy as np

    vocabulary = _Vocabulary()
    factors = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
    chunks = []
    for row in rows:
        words = words_of(row["text"] or "")
        if len(words) < MIN_WORDS:
            continue
        hashes = np.array(list(map(vocabulary.__getitem__, words)), dtype=np.uint64)
        windows = np.lib.stride_tricks.sliding_window_view(hashes, _SIZE)
        mixed = (windows * factors).sum(axis=1, dtype=np.uint64)
        text = hashlib.blake2b(fold_blanks(row["text"]).encode(), digest_size=16).digest()
        chunks.append(Shingled(point_ref(row), np.unique(mixed ^ (mixed >> np.uint64(31))), text))
    return chunks


def near_duplicate_findings(chunks: Sequence[Shingled]) -> list[Finding]:
    """``chunk.near_duplicate``: every member of each pair; the details name the others, the most alike first."""
    alike = _neighbours(chunks)
    if not alike:
        return []
    subjects = []
    for index, found in alike.items():
        nearest = sorted(found.items(), key=lambda item: (-item[1], chunks[item[0]].ref.point_id))[:_SHOWN]
        others = [chunks[other].ref.point_id for other, _ in nearest]
        subjects.append(chunks[index].ref.subject(others=others, similarity=round(nearest[0][1], 4)))
    details = {"similar_from": SIMILAR, "pairs": sum(len(found) for found in alike.values()) // 2}
    return [make_finding("chunk.near_duplicate", subjects, details=details)]


def similarity(first: npt.NDArray[np.uint64], second: npt.NDArray[np.uint64]) -> float:
    """Jaccard similarity of two sorted arrays of distinct hashes."""
    import numpy as np

    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (len(first) + len(second) - common)


def _neighbours(chunks: Sequence[Shingled]) -> dict[int, dict[int, float]]:
    """By chunk its near duplicates on other pages, with their similarity."""
    alike: dict[int, dict[int, float]] = {}
    seen: set[tuple[int, int]] = set()
    for pair in candidate_pairs(signatures([chunk.shingles for chunk in chunks])):
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
    return not one_page and first.text != second.text


def _is_near(found: float, first: int, second: int) -> bool:
    common = found / (1 + found) * (first + second)
    return found >= SIMILAR or first + second - 2 * common <= _TWO_WORDS + 1e-6


class _Vocabulary(dict[str, int]):
    """Hash of each word, the same in every process."""

    def __missing__(self, word: str) -> int:
        value = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
        self[word] = value
        return value
