"""MinHash bands: which texts may be alike, without comparing all pairs.

Broder 1997, "On the resemblance and containment of documents"; Indyk and Motwani 1998 for the bands. With ``ROWS`` = 3
and ``BANDS`` = 64 two sets of Jaccard similarity s become candidates with probability 1 - (1 - s^3)^64: 0.9998 at 0.5,
1 - 1e-11 at 0.7, 0.06 at 0.1.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ROWS, BANDS = 3, 64  # work
#: In larger buckets each member is compared with its nearest neighbours only, in the order of the following bands.
ALL_PAIRS, NEIGHBOURS = 24, 8  # work
_FOLLOWING = 3  # work
_SEED = 20_011  # work
#: Sets that are hashed at once.
_BLOCK = 512  # work
#: Bytes of a key.
_KEY = 8  # definition


class Bands:
    """The keys of sets in all bands, in a temporary file: one band is in memory at a time."""

    def __init__(self) -> None:
        import numpy as np

        rng = np.random.default_rng(_SEED)
        self._factors = rng.integers(1, 2**63, ROWS * BANDS, dtype=np.uint64) | np.uint64(1)  # definition
        self._added = rng.integers(0, 2**63, ROWS * BANDS, dtype=np.uint64)  # definition
        self._blocks: list[int] = []
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  it is open as long as this object is there
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return sum(self._blocks)

    def add(self, hashes: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]) -> None:
        """Put some sets behind those that are there.

        Args:
            hashes: Distinct hashes of each set, one set after the other, none of them empty.
            offsets: Where each set begins, and where the last one ends; shape ``(sets + 1,)``.
        """
        for start in range(0, len(offsets) - 1, _BLOCK):
            edges = offsets[start : start + _BLOCK + 1]
            keys = _keys(hashes[edges[0] : edges[-1]], edges[:-1] - edges[0], self._factors, self._added)
            self._file.write(keys.tobytes())
            self._blocks.append(keys.shape[1])

    def keys(self, band: int) -> npt.NDArray[np.uint64]:
        """The key of each set in a band: sets have the same when the smallest of their hashes are the same."""
        import numpy as np

        read, start = [np.empty(0, dtype=np.uint64)], 0
        for size in self._blocks:
            self._file.seek(start + _KEY * size * band)
            read.append(np.frombuffer(self._file.read(_KEY * size), dtype=np.uint64))
            start += _KEY * size * BANDS
        return np.concatenate(read)


def candidate_pairs(bands: Bands) -> Iterator[tuple[int, int]]:
    """Pairs of sets that share a band, lower index first; some pairs come several times."""
    import numpy as np

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
    import numpy as np

    keys = np.zeros((BANDS, len(starts)), dtype=np.uint64)
    block = hashes.astype(np.uint64)
    mixed = np.empty_like(block)
    for number, (factor, offset) in enumerate(zip(factors, added, strict=True)):
        part = keys[number // ROWS]
        np.multiply(block, factor, out=mixed)
        mixed += offset
        # Multiply-shift: the upper half of the product is what is well mixed. The smallest product has the
        # smallest upper half, so that only the smallest ones are shifted.
        part ^= np.minimum.reduceat(mixed, starts) >> np.uint64(32)  # definition
        part *= np.uint64(0x9E3779B97F4A7C15)  # definition
        part ^= part >> np.uint64(29)  # definition
    return keys


def _pairs(members: Sequence[int]) -> Iterator[tuple[int, int]]:
    reach = len(members) if len(members) <= ALL_PAIRS else NEIGHBOURS
    for place, first in enumerate(members):
        for second in members[place + 1 : place + 1 + reach]:
            yield (first, second) if first < second else (second, first)
