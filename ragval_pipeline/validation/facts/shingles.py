"""The word trigrams of a text as hashes, by which nearly equal texts are found."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.validation.thresholds import SHORT_TEXT

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def hash_of(text: str) -> int:
    """A hash of 64 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())  # definition


def shingles_of(words: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Sorted hashes of the trigrams of a text, each once; empty below ``SHORT_TEXT`` words."""
    import numpy as np

    if len(words) < SHORT_TEXT:
        return np.empty(0, dtype=np.uint32)
    hashes = np.array(list(map(_WORDS.__getitem__, words)), dtype=np.uint64)
    mixed = hashes[:-2] * np.uint64(0x9E3779B97F4A7C15)  # definition
    mixed += hashes[1:-1] * np.uint64(0xC2B2AE3D27D4EB4F)  # definition
    mixed += hashes[2:] * np.uint64(0x165667B19E3779F9)  # definition
    found = ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(16)).astype(np.uint32)  # definition
    found.sort()
    distinct = np.empty(len(found), dtype=np.bool_)
    distinct[0] = True
    np.not_equal(found[1:], found[:-1], out=distinct[1:])
    return found[distinct]


class _Hashes(dict[str, int]):
    """Hash of each word, the same in every process; forgotten when there are too many."""

    def __missing__(self, word: str) -> int:
        if len(self) > 1 << 18:  # work
            self.clear()
        value = self[word] = hash_of(word)
        return value


_WORDS = _Hashes()
