"""The word trigrams of a text as hashes, by which nearly equal texts are found."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from ragval_pipeline.validation.thresholds import SHORT_TEXT

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def hash_of(text: str) -> int:
    """A hash of 64 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())  # definition


def shingles_of(texts: Sequence[Sequence[str]]) -> list[npt.NDArray[np.uint32]]:
    """Sorted hashes of the trigrams of each text, each once; none below ``SHORT_TEXT`` words.

    Args:
        texts: The words of each.
    """
    import numpy as np

    long = [(number, words) for number, words in enumerate(texts) if len(words) >= SHORT_TEXT]
    counts = np.array([len(words) for _, words in long], dtype=np.int64)
    shingles = [np.empty(0, dtype=np.uint32)] * len(texts)
    if not long:
        return shingles
    words = chain.from_iterable(words for _, words in long)
    hashes = np.fromiter(map(_WORDS.__getitem__, words), dtype=np.uint64, count=int(counts.sum()))
    mixed = hashes[:-2] * np.uint64(0x9E3779B97F4A7C15)  # definition
    mixed += hashes[1:-1] * np.uint64(0xC2B2AE3D27D4EB4F)  # definition
    mixed += hashes[2:] * np.uint64(0x165667B19E3779F9)  # definition
    mixed ^= mixed >> np.uint64(31)  # definition
    # Below the number of their text, so that one sort puts all in order; none reaches from one text into the next.
    keys = mixed >> np.uint64(16) & np.uint64(0xFFFFFFFF)  # definition
    keys |= np.repeat(np.arange(len(long), dtype=np.uint64) << np.uint64(32), counts)[: len(keys)]  # definition
    ends = np.cumsum(counts)
    kept = np.ones(len(keys), dtype=np.bool_)
    kept[ends[:-1] - 2] = kept[ends[:-1] - 1] = False
    keys = np.sort(keys[kept])
    keys = keys[np.diff(keys, prepend=~keys[:1]) != 0]
    cuts = np.searchsorted(keys, np.arange(len(long) + 1, dtype=np.uint64) << np.uint64(32)).tolist()  # definition
    distinct = keys.astype(np.uint32)
    for (number, _), (start, end) in zip(long, pairwise(cuts), strict=True):
        shingles[number] = distinct[start:end]
    return shingles


class _Hashes(dict[str, int]):
    """Hash of each word, the same in every process; forgotten when there are too many."""

    def __missing__(self, word: str) -> int:
        if len(self) > 1 << 18:  # work
            self.clear()
        value = self[word] = hash_of(word)
        return value


_WORDS = _Hashes()
