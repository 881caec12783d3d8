"""Vectors that belong to another point's text.

What lives here: finding whose text a vector belongs to. What does not: vectors of another model (``populations``) and
copies, where one of two equal vectors is right (``identical``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    """Where a vector belongs.

    Args:
        point: The point whose text it is the vector of; null when that point is not known.
        cosine: With the re-embedded vector of that text.
        holder: The point that holds this point's own vector; null when that is not known.
    """

    point: str | None
    cosine: float | None = None
    holder: str | None = None


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
    holders = {owner.point: name for name, owner in found.items()}
    return {name: replace(owner, holder=holders.get(name)) for name, owner in found.items()}


def with_displaced(found: Mapping[str, Owner], off: Collection[str]) -> dict[str, Owner]:
    """Add the points whose own vector another one holds, although it is not known whose vector they hold.

    Args:
        found: Points whose owner is known.
        off: Points whose vector is not their own.
    """
    holders = {owner.point: name for name, owner in found.items()}
    return {**{name: Owner(None, holder=holders[name]) for name in off if name in holders}, **found}


def without_copies(
    found: Mapping[str, Owner], groups: Iterable[Sequence[str]], pairs: Pairs, text_of: Callable[[str], str | None]
) -> dict[str, Owner]:
    """Leave out vectors that are copies of another point's own right vector.

    A copy may come close to a third text that resembles the copied one. Where the owner has the very text of the right
    point, nothing was copied: its twin was spared.

    Args:
        found: As ``find_swapped`` gives it.
        groups: Points that hold the same vector.
        pairs: All compared points.
        text_of: Hash of a point's text.
    """
    cosines, noise = pairs.cosines(), pairs.noise
    copies: set[str] = set()
    for group in groups:
        right = {text_of(name) for name in group if cosines.get(name, 0.0) >= 1 - noise}
        copies.update(
            name for name in group if right and name in found and text_of(found[name].point or "") not in right
        )
    return {name: owner for name, owner in found.items() if name not in copies}


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
