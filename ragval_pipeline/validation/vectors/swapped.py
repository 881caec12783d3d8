"""Vectors that belong to another point's text.

What lives here: finding whose text a vector belongs to. What does not: vectors of another model (``populations``) and
copies, where one of two equal vectors is right (``identical``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.validation.vectors.compared import MATCH
from ragval_pipeline.validation.vectors.pairs import Pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: A vector belongs to another text when it is at least ``MATCH`` close to it and this much closer than to its own, as
#: distances of cosines from 1: pages that resemble each other are close to each other's vectors, but not that close.
MUCH_CLOSER = 0.1
#: Vectors that are compared with each other at once.
BLOCK = 1024
#: So many vectors are compared with all others first; when none of them belongs elsewhere, hardly any does, and a
#: collection that was embedded with another model costs no comparison of all with all.
LOOKED_AT_FIRST = 2048
LOOKED_AT_IN_FULL = 20_000


@dataclass(frozen=True)
class Owner:
    """The text that a vector belongs to: its point, and the cosine with its re-embedded vector."""

    point: str
    cosine: float


def find_swapped(pairs: Pairs) -> dict[str, Owner]:
    """Points whose vector belongs to the text of another point, which does not hold its own vector either.

    Args:
        pairs: All compared points, copies included.

    Returns:
        The owner of each such vector, by the point that holds it.
    """
    import numpy as np

    cosines = pairs.cosines()
    own = np.array([cosines[name] for name in pairs.kept], dtype=np.float32)
    off = np.flatnonzero(own < 1 - pairs.noise)
    names = [pairs.kept[place] for place in off]
    found: dict[str, Owner] = {}
    for start, best, owner in _best_owners(pairs.stored[off], pairs.again[off]):
        belongs = (best >= MATCH) & (1 - best <= MUCH_CLOSER * (1 - own[off[start : start + len(best)]]))
        for place in np.flatnonzero(belongs):
            found[names[start + place]] = Owner(names[int(owner[place])], float(best[place]))
    return found


def _best_owners(stored: Floats, again: Floats) -> Iterator[tuple[int, Floats, NDArray[np.int64]]]:
    """For blocks of vectors: where the block starts, the best cosine with another text, and which text that is."""
    import numpy as np

    hits = 0
    for start in range(0, len(stored), BLOCK):
        if start >= LOOKED_AT_FIRST and not hits and len(stored) > LOOKED_AT_IN_FULL:
            return
        cosines = stored[start : start + BLOCK] @ again.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -2.0
        owner = cosines.argmax(axis=1)
        best = cosines[rows, owner]
        hits += int((best >= MATCH).sum())
        yield start, best, owner
