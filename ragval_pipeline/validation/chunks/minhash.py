"""MinHash bands: which texts may be alike, without comparing all pairs.

Broder 1997, "On the resemblance and containment of documents"; Indyk and Motwani 1998 for the bands. With ``ROWS`` = 3
and ``BANDS`` = 64 two sets of Jaccard similarity s become candidates with probability 1 - (1 - s^3)^64: 0.9998 at 0.5,
1 - 1e-11 at 0.7, 0.06 at 0.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
_BLOCK = 4096  # work


def candidate_pairs(sets: Sequence[npt.NDArray[np.uint32]]) -> Iterator[tuple[int, int]]:
    """Pairs of sets that share a band, lower index first; some pairs come several times.

    Args:
        sets: Arrays of distinct hashes, none of them empty.
    """
    import numpy as np

    if len(sets) < 2:
        return
    rng = np.random.default_rng(_SEED)
    factors = rng.integers(1, 2**63, ROWS * BANDS, dtype=np.uint64) | np.uint64(1)  # definition
    offsets = rng.integers(0, 2**63, ROWS * BANDS, dtype=np.uint64)  # definition

    def band_keys(band: int) -> npt.NDArray[np.uint64]:
        rows = slice(band % BANDS * ROWS, (band % BANDS + 1) * ROWS)
        return _keys(sets, factors[rows], offsets[rows])

    keys = [band_keys(band) for band in range(_FOLLOWING + 1)]
    for band in range(BANDS):
        order = np.lexsort(keys[::-1])
        edges = np.flatnonzero(np.diff(keys[0][order])) + 1
        sizes = np.diff(np.concatenate(([0], edges, [len(order)])))
        starts = np.concatenate(([0], edges))
        for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
            yield from _pairs(order[start : start + size].tolist())
        keys = [*keys[1:], band_keys(band + _FOLLOWING + 1)]


def _keys(
    sets: Sequence[npt.NDArray[np.uint32]], factors: npt.NDArray[np.uint64], offsets: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """A key of each set in one band: sets have the same when the smallest of their hashes are the same."""
    import numpy as np

    key = np.zeros(len(sets), dtype=np.uint64)
    for start in range(0, len(sets), _BLOCK):
        block = sets[start : start + _BLOCK]
        hashes = np.concatenate(block).astype(np.uint64)
        starts = np.concatenate(([0], np.cumsum([len(each) for each in block[:-1]]))).astype(np.int64)
        part = key[start : start + _BLOCK]
        for factor, offset in zip(factors, offsets, strict=True):
            # Multiply-shift: the upper half of the product is what is well mixed.
            part ^= np.minimum.reduceat((hashes * factor + offset) >> np.uint64(32), starts)  # definition
            part *= np.uint64(0x9E3779B97F4A7C15)  # definition
            part ^= part >> np.uint64(29)  # definition
    return key


def _pairs(members: Sequence[int]) -> Iterator[tuple[int, int]]:
    reach = len(members) if len(members) <= ALL_PAIRS else NEIGHBOURS
    for place, first in enumerate(members):
        for second in members[place + 1 : place + 1 + reach]:
            yield (first, second) if first < second else (second, first)
