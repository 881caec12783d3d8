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
_BLOCK = 512  # work


def candidate_pairs(hashes: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Pairs of sets that share a band, lower index first; some pairs come several times.

    Args:
        hashes: Distinct hashes of each set, one set after the other, none of them empty.
        offsets: Where each set begins, and where the last one ends; shape ``(sets + 1,)``.
    """
    import numpy as np

    if len(offsets) <= 2:
        return
    rng = np.random.default_rng(_SEED)
    factors = rng.integers(1, 2**63, ROWS * BANDS, dtype=np.uint64) | np.uint64(1)  # definition
    added = rng.integers(0, 2**63, ROWS * BANDS, dtype=np.uint64)  # definition

    def band_keys(band: int, sets: Sequence[int] | None = None) -> npt.NDArray[np.uint64]:
        rows = slice(band % BANDS * ROWS, (band % BANDS + 1) * ROWS)
        some = (hashes, offsets) if sets is None else _some(hashes, offsets, sets)
        return _keys(*some, factors[rows], added[rows])

    for band in range(BANDS):
        keys = band_keys(band)
        order = np.argsort(keys, kind="stable")
        edges = np.flatnonzero(np.diff(keys[order])) + 1
        sizes = np.diff(np.concatenate(([0], edges, [len(order)])))
        starts = np.concatenate(([0], edges))
        for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
            members = order[start : start + size]
            if size > ALL_PAIRS:
                following = [band_keys(band + later, members.tolist()) for later in range(1, _FOLLOWING + 1)]
                members = members[np.lexsort(following[::-1])]
            yield from _pairs(members.tolist())


def _some(
    hashes: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64], sets: Sequence[int]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Some of the sets, as hashes and offsets."""
    import numpy as np

    chosen = [hashes[offsets[number] : offsets[number + 1]] for number in sets]
    return np.concatenate(chosen), np.cumsum([0, *map(len, chosen)])


def _keys(
    hashes: npt.NDArray[np.uint32],
    offsets: npt.NDArray[np.int64],
    factors: npt.NDArray[np.uint64],
    added: npt.NDArray[np.uint64],
) -> npt.NDArray[np.uint64]:
    """A key of each set in one band: sets have the same when the smallest of their hashes are the same."""
    import numpy as np

    key = np.zeros(len(offsets) - 1, dtype=np.uint64)
    for start in range(0, len(key), _BLOCK):
        part = key[start : start + _BLOCK]
        edges = offsets[start : start + len(part) + 1]
        block, starts = hashes[edges[0] : edges[-1]].astype(np.uint64), edges[:-1] - edges[0]
        mixed = np.empty_like(block)
        for factor, offset in zip(factors, added, strict=True):
            np.multiply(block, factor, out=mixed)
            mixed += offset
            # Multiply-shift: the upper half of the product is what is well mixed. The smallest product has the
            # smallest upper half, so that only the smallest ones are shifted.
            part ^= np.minimum.reduceat(mixed, starts) >> np.uint64(32)  # definition
            part *= np.uint64(0x9E3779B97F4A7C15)  # definition
            part ^= part >> np.uint64(29)  # definition
    return key


def _pairs(members: Sequence[int]) -> Iterator[tuple[int, int]]:
    reach = len(members) if len(members) <= ALL_PAIRS else NEIGHBOURS
    for place, first in enumerate(members):
        for second in members[place + 1 : place + 1 + reach]:
            yield (first, second) if first < second else (second, first)
