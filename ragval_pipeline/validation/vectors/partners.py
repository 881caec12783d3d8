"""Where only a sample was re-embedded: finding the points that hold what sampled points lack.

What lives here: looking up who holds the vector of a sampled text. What does not: judging the pairs (``swapped``). A
sample of 200 points hardly ever holds both members of a swapped pair; one search a differing point finds the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.blanks import is_blank
from ragval_pipeline.sources.snapshot.embedded import embedded_text
from ragval_pipeline.validation.vectors.compared import MATCH
from ragval_pipeline.validation.vectors.pairs import Pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragval_pipeline.sources.qdrant.vectors import VectorBatch

    Floats = NDArray[np.float32]

#: Points that are looked for: as many as a paid sample has.
LOOKED_FOR = 200
#: Snapshot columns of the points found.
COLUMNS = ("point_id", "text", "embedded_text", "text_sha256")


@dataclass(frozen=True)
class Lookups:
    """Ways to ask for what the pass did not keep.

    Args:
        nearest: Ids of the few points nearest to a vector.
        vectors: The stored vectors of some points.
        embed: Vectors of texts, as documents.
    """

    nearest: Callable[[Floats], Sequence[str]]
    vectors: Callable[[Sequence[str]], Collection[VectorBatch]]
    embed: Callable[[Sequence[str]], Floats]


def with_partners(pairs: Pairs, ask: Lookups, rows_of: Callable[..., Mapping[str, Mapping[str, Any]]]) -> Pairs:
    """The compared points, and those outside the sample that hold the vector of a sampled text.

    Raises:
        SystemFailure: Qdrant or the embedder fails.
    """
    import numpy as np

    cosines = pairs.cosines()
    off = [place for place, name in enumerate(pairs.kept) if cosines[name] < 1 - pairs.noise][:LOOKED_FOR]
    near = {name for place in off for name in ask.nearest(pairs.again[place])} - set(pairs.ids)
    stored = _unit_vectors(ask.vectors(sorted(near))) if near else {}
    holders = [
        name for name, vector in stored.items() if len(off) and float((pairs.again[off] @ vector).max()) >= MATCH
    ]
    rows = rows_of(frozenset(holders), COLUMNS)
    holders = [name for name in holders if name in rows and rows[name]["text"] and not is_blank(rows[name]["text"])]
    if not holders:
        return pairs
    again = ask.embed([embedded_text(rows[name]) for name in holders])
    norms = np.linalg.norm(again, axis=1, keepdims=True)
    unit = np.divide(again, norms, out=np.zeros_like(again), where=norms > 0)
    chars = [len(embedded_text(rows[name])) for name in holders]
    return pairs.with_points(holders, np.stack([stored[name] for name in holders]), unit, chars)


def _unit_vectors(batches: Collection[VectorBatch]) -> dict[str, Floats]:
    import numpy as np

    found = {}
    for batch in batches:
        for name, vector in zip(batch.ids, batch.matrix, strict=True):
            length = float(np.linalg.norm(vector))
            if length > 0:
                found[name] = vector / length
    return found
