"""What stored vectors tell by themselves: which are missing, which are zero, and which are the same.

What lives here: one pass over batches of vectors, in partial results that merge. What does not: comparing them with
re-embedded text (``compared``). Of each vector only eight numbers are kept, so memory does not grow with the dimension.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.qdrant.vectors import VectorBatch

    Floats = NDArray[np.float32]

#: Directions that a vector is projected on; two vectors with equal projections on all of them are the same.
DIRECTIONS = 8
#: Projections of a copy differ by rounding alone: a copied vector is normalised again when it is written. Different
#: vectors this close have a cosine above 0.999999999.
SAME = 2e-6
#: Neighbours in the order of the first projection that a vector is compared with. A million vectors have about 20 that
#: come this close by chance.
NEIGHBOURS = 64
#: Norms from here on are a length; anything smaller is a vector without direction.
TINY = 1e-12


@dataclass
class StoredVectors:
    """What is known of the vectors read so far.

    Args:
        points: Points read, with and without a vector.
        missing: Points without a vector under the name that searches use.
        other: Points whose vector is no single list of numbers.
        zero: Points whose vector has no direction: all zeros, or not finite.
        ids: The points with a direction.
        prints: Projections of their unit vectors, float32 arrays of shape (n, ``DIRECTIONS``).
        longest: Largest distance of a norm from 1, which tells unit vectors from others.
    """

    points: int = 0
    missing: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    zero: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    prints: list[Floats] = field(default_factory=list)
    longest: float = 0.0

    def add(self, batch: VectorBatch) -> tuple[list[str], Floats]:
        """Take in one batch.

        Returns:
            The ids with a direction, and their unit vectors in the same order.
        """
        import numpy as np

        self.points += len(batch.ids) + len(batch.missing) + len(batch.other)
        self.missing.extend(batch.missing)
        self.other.extend(batch.other)
        if not batch.ids:
            return [], batch.matrix
        matrix = batch.matrix.astype(np.float64)
        norms = np.linalg.norm(matrix, axis=1)
        usable = np.isfinite(norms) & (norms > TINY)
        self.zero.extend(name for name, fine in zip(batch.ids, usable, strict=True) if not fine)
        ids = [name for name, fine in zip(batch.ids, usable, strict=True) if fine]
        unit = (matrix[usable] / norms[usable, None]).astype(np.float32)
        self.ids.extend(ids)
        self.prints.append(unit @ _directions(unit.shape[1]))
        self.longest = max(self.longest, float(np.abs(norms[usable] - 1).max(initial=0.0)))
        return ids, unit

    def merged(self, other: StoredVectors) -> StoredVectors:
        """What is known of both slices."""
        return StoredVectors(
            points=self.points + other.points,
            missing=self.missing + other.missing,
            other=self.other + other.other,
            zero=self.zero + other.zero,
            ids=self.ids + other.ids,
            prints=self.prints + other.prints,
            longest=max(self.longest, other.longest),
        )

    def same_vectors(self) -> list[list[str]]:
        """Groups of at least two points that hold the same vector."""
        import numpy as np

        if not self.prints:
            return []
        prints = np.concatenate(self.prints)
        order = np.argsort(prints[:, 0], kind="stable")
        return [[self.ids[order[place]] for place in group] for group in _groups(prints[order])]


def _groups(ordered: Floats) -> Iterable[list[int]]:
    """Places of equal rows, of rows in the order of their first column: a sort and a few shifted comparisons."""
    import numpy as np

    parent = list(range(len(ordered)))
    runs = np.arange(len(ordered))
    for shift in range(1, min(NEIGHBOURS, len(ordered) - 1) + 1):
        near = np.abs(ordered[shift:, 0] - ordered[:-shift, 0]) <= SAME
        if not near.any():
            break
        places = np.flatnonzero(near & (runs[shift:] != runs[:-shift]))
        places = places[(np.abs(ordered[places + shift] - ordered[places]) <= SAME).all(axis=1)]
        for place in places.tolist():
            _unite(parent, place, place + shift)
        if shift == 1:
            # Stretches of equal rows are united now: only what stands between them is left to compare.
            starts = np.ones(len(ordered), dtype=bool)
            starts[places + 1] = False
            runs = np.cumsum(starts)
    found: dict[int, list[int]] = {}
    for place in range(len(ordered)):
        found.setdefault(_root(parent, place), []).append(place)
    return [group for group in found.values() if len(group) > 1]


def _unite(parent: list[int], first: int, second: int) -> None:
    parent[_root(parent, second)] = _root(parent, first)


def _root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


def _directions(dimension: int) -> Floats:
    """The same directions of length 1 in every run, as columns."""
    import numpy as np

    drawn = np.random.default_rng(20_000 + dimension).standard_normal((dimension, DIRECTIONS))
    directions: Floats = (drawn / np.linalg.norm(drawn, axis=0)).astype(np.float32)
    return directions
