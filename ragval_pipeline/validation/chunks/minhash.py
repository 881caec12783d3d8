"""MinHash signatures and their buckets: which texts may be alike, without comparing all pairs.

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

ROWS, BANDS = 3, 64
#: In larger buckets each member is compared with its nearest neighbours only, in the order of the following bands.
ALL_PAIRS, NEIGHBOURS = 24, 8
_SEED = 20_011


def signatures(sets: Sequence[npt.NDArray[np.uint32]]) -> npt.NDArray[np.uint32]:
    """Signatures of sets of hashes.

    Args:
        sets: Arrays of hashes, none of them empty.

    Returns:
        Array of shape ``(len(sets), ROWS * BANDS)``.
    """
    import numpy as np

    rng = np.random.default_rng(_SEED)
    factors = rng.integers(1, 2**63, ROWS * BANDS, dtype=np.uint64) | np.uint64(1)
    offsets = rng.integers(0, 2**63, ROWS * BANDS, dtype=np.uint64)
    found = np.empty((len(sets), ROWS * BANDS), dtype=np.uint32)
    for index, hashes in enumerate(sets):
        # Multiply-shift: the upper half of the product is what is well mixed.
        found[index] = ((hashes[:, None].astype(np.uint64) * factors + offsets) >> np.uint64(32)).min(axis=0)
    return found


def candidate_pairs(found: npt.NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
    """Pairs of rows of ``signatures`` that share a band, lower index first; some pairs come several times."""
    import numpy as np

    if len(found) < 2:
        return
    keys = np.stack([_band_key(found, band) for band in range(BANDS)])
    for band in range(BANDS):
        order = np.lexsort([keys[(band + step) % BANDS] for step in (3, 2, 1, 0)])
        sorted_keys = keys[band][order]
        edges = np.flatnonzero(np.diff(sorted_keys)) + 1
        sizes = np.diff(np.concatenate(([0], edges, [len(order)])))
        starts = np.concatenate(([0], edges))
        for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
            yield from _pairs(order[start : start + size].tolist())


def _band_key(found: npt.NDArray[np.uint32], band: int) -> npt.NDArray[np.uint64]:
    import numpy as np

    key = np.zeros(len(found), dtype=np.uint64)
    for column in range(band * ROWS, (band + 1) * ROWS):
        key = (key ^ found[:, column]) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


def _pairs(members: Sequence[int]) -> Iterator[tuple[int, int]]:
    reach = len(members) if len(members) <= ALL_PAIRS else NEIGHBOURS
    for place, first in enumerate(members):
        for second in members[place + 1 : place + 1 + reach]:
            yield (first, second) if first < second else (second, first)
