"""Which compared vectors are of another model's space, and which are only off.

What lives here: sorting the points into populations. What does not: naming the defect (``identity``).

Vectors of two models are unrelated: their cosines are as those of random directions, so none of ``m`` of them in ``d``
dimensions comes above ``(sqrt(2 ln m) + margin) / sqrt(d)``, whatever the texts say. A vector of the right model always
finds a text that it is close to, also when its own text was changed. Measured with static vectors (d = 256) on three
corpora of 13, 41 and 91 chunks against rotated vectors and hashed words: the best of all cosines with the re-embedded
texts is 0.03 to 0.20 for the other model and 0.26 to 1.00 (medians 0.52, 0.72, 0.78) for the same model; the bound for
91 texts is 0.38. Own cosines: -0.19 to 0.13 for the other model, 0.96 to 1.00 after 1 % of the words were changed, 0.76
to 0.97 after 20 %, 0.50 to 0.98 after 50 %, 0.87 to 1.00 with a title in front. Some models share a direction that all
their vectors lean to; where that hides the difference, both sides are centred first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.validation.vectors.compared import MATCH, REFERENCES, id_hash
from ragval_pipeline.validation.vectors.pairs import Pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: Standard deviations beyond the expected highest of the cosines with all texts: of one point, and of the middle one.
MARGIN, MIDDLE_MARGIN = 3.0, 1.5
#: Points whose mean says which direction a space leans to.
CENTRED_FROM = 8


@dataclass(frozen=True)
class Populations:
    """The compared points by what their vectors have to do with their texts.

    Args:
        matching: Cosine of at least ``MATCH``.
        related: Below it, yet closer to the own text than unrelated vectors are.
        foreign: Of another space: unrelated to every text.
        stray: Of the same space, unrelated to the own text.
    """

    matching: tuple[str, ...]
    related: tuple[str, ...]
    foreign: tuple[str, ...]
    stray: tuple[str, ...]

    @property
    def total(self) -> int:
        """All compared points."""
        return len(self.matching) + len(self.related) + len(self.foreign) + len(self.stray)


def sort_points(pairs: Pairs) -> Populations:
    """Sort the points into populations."""
    import numpy as np

    cosines = pairs.cosines()
    matching = tuple(name for name in pairs.ids if cosines[name] >= MATCH)
    off = [name for name in pairs.ids if cosines[name] < MATCH]
    place = {name: number for number, name in enumerate(pairs.kept)}
    rows = [name for name in off if name in place]
    places = [place[name] for name in rows]
    texts = _texts(pairs)
    foreign: set[str] = set()
    unrelated: set[str] = set()
    if rows and len(texts) > 1:
        stored, again = pairs.stored[places], pairs.again
        own = np.array([cosines[name] for name in rows], dtype=np.float32)
        limit = _bound(len(texts), pairs.dimension, MARGIN)
        middle = _bound(len(texts), pairs.dimension, MIDDLE_MARGIN)
        is_foreign = _foreign(own, _best_other(stored, again, places, texts), limit, middle)
        unrelated = {name for name, low in zip(rows, own <= limit, strict=True) if low}
        if not is_foreign.any() and len(rows) >= CENTRED_FROM:
            centred, reference = _centred(stored), _centred(again, again[texts].mean(axis=0))
            own = np.einsum("ij,ij->i", centred, reference[places])
            is_foreign = _foreign(own, _best_other(centred, reference, places, texts), limit, middle)
        foreign = {name for name, yes in zip(rows, is_foreign, strict=True) if yes}
    return Populations(
        matching=matching,
        related=tuple(name for name in off if name not in foreign and name not in unrelated),
        foreign=tuple(name for name in off if name in foreign),
        stray=tuple(name for name in off if name in unrelated and name not in foreign),
    )


def unrelated_below(pairs: Pairs) -> float:
    """Cosine below which a vector has nothing to do with a text."""
    return _bound(max(2, min(REFERENCES, len(pairs.ids))), max(pairs.dimension, 1), MARGIN)


def _texts(pairs: Pairs) -> list[int]:
    """Places of the re-embedded texts that vectors are held against: at most ``REFERENCES``, the same in every run."""
    order = sorted(range(len(pairs.kept)), key=lambda place: id_hash(pairs.kept[place]))
    return order[:REFERENCES]


def _bound(texts: int, dimension: int, margin: float) -> float:
    return (math.sqrt(2 * math.log(texts)) + margin) / math.sqrt(dimension)


def _best_other(stored: Floats, again: Floats, places: list[int], texts: list[int]) -> Floats:
    """For each vector the best cosine with any text but its own."""
    import numpy as np

    cosines = stored @ again[texts].T
    column = {place: number for number, place in enumerate(texts)}
    for row, place in enumerate(places):
        if place in column:
            cosines[row, column[place]] = -1.0
    best: Floats = np.asarray(cosines.max(axis=1))
    return best


def _foreign(own: Floats, best: Floats, limit: float, middle: float) -> NDArray[np.bool_]:
    """Vectors close to no text; none when even the middle one of them is closer than chance brings it."""
    import numpy as np

    low: NDArray[np.bool_] = (own <= limit) & (best <= limit)
    return low if low.any() and float(np.median(best[low])) <= middle else np.zeros_like(low)


def _centred(vectors: Floats, mean: Floats | None = None) -> Floats:
    import numpy as np

    moved = vectors - (vectors.mean(axis=0) if mean is None else mean)
    norms = np.linalg.norm(moved, axis=1, keepdims=True)
    unit: Floats = np.divide(moved, norms, out=np.zeros_like(moved), where=norms > 0)
    return unit
