"""The compared points as arrays, for everything that decides on them.

What lives here: the view. What does not: deciding.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.validation.vectors.compared import MATCH, ROUNDING, Compared

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sampled points whose stored and re-embedded vectors both have a direction.

    Args:
        ids: The points.
        cosine: Of each, shape (n,).
        chars: Characters of each text, shape (n,).
        kept: Points whose vectors were kept.
        stored: Their unit vectors as stored, shape (number kept, dimension).
        again: Unit vectors of their re-embedded texts, of the same shape.
    """

    ids: tuple[str, ...]
    cosine: Floats
    chars: NDArray[np.int64]
    kept: tuple[str, ...]
    stored: Floats
    again: Floats

    @property
    def dimension(self) -> int:
        """Of the vectors."""
        return int(self.stored.shape[1])

    @property
    def noise(self) -> float:
        """Distance from 1 of a cosine that is rounding and the provider's own variation: ten times the usual one."""
        import numpy as np

        matching = 1 - self.cosine[self.cosine >= MATCH]
        return max(ROUNDING, 10 * float(np.median(matching))) if len(matching) else ROUNDING

    def cosines(self) -> dict[str, float]:
        """Cosine by point."""
        return dict(zip(self.ids, self.cosine.tolist(), strict=True))

    def without(self, ids: Collection[str]) -> Pairs:
        """The same without some points."""
        import numpy as np

        stay = np.array([name not in ids for name in self.ids], dtype=bool)
        stay_kept = np.array([name not in ids for name in self.kept], dtype=bool)
        return Pairs(
            tuple(name for name in self.ids if name not in ids),
            self.cosine[stay],
            self.chars[stay],
            tuple(name for name in self.kept if name not in ids),
            self.stored[stay_kept],
            self.again[stay_kept],
        )

    def with_points(self, ids: Sequence[str], stored: Floats, again: Floats, chars: Sequence[int]) -> Pairs:
        """The same with further points, whose vectors are unit rows."""
        import numpy as np

        cosine = np.einsum("ij,ij->i", stored, again)
        return Pairs(
            (*self.ids, *ids),
            np.concatenate([self.cosine, cosine]),
            np.concatenate([self.chars, np.array(chars, dtype=np.int64)]),
            (*self.kept, *ids),
            np.concatenate([self.stored, stored]),
            np.concatenate([self.again, again]),
        )


def pairs_of(compared: Compared) -> Pairs:
    """The compared points that both have a vector and whose text is the one that was embedded.

    A text that its stored hash does not belong to was changed afterwards: its vector says nothing about the model, and
    ``text.hash_mismatch`` names it.
    """
    import numpy as np

    cosine = np.array(compared.cosine, dtype=np.float32)
    stale = stale_texts(compared)
    fine = np.isfinite(cosine) & np.array([name not in stale for name in compared.ids], dtype=bool)
    stored = np.concatenate(compared.stored) if compared.stored else np.empty((0, 0), dtype=np.float32)
    again = np.concatenate(compared.again) if compared.again else np.empty((0, 0), dtype=np.float32)
    every = Pairs(
        tuple(name for name, stays in zip(compared.ids, fine, strict=True) if stays),
        cosine[fine],
        np.array(compared.chars, dtype=np.int64)[fine],
        tuple(compared.kept),
        stored,
        again,
    )
    return every.without(stale)


def stale_texts(compared: Compared) -> frozenset[str]:
    """Points whose text was changed after it was hashed; none where hardly any hash holds."""
    checked = [name for name, holds in zip(compared.ids, compared.hash_holds, strict=True) if holds is not None]
    stale = [name for name, holds in zip(compared.ids, compared.hash_holds, strict=True) if holds is False]
    return frozenset(stale) if len(stale) <= len(checked) * 3 // 4 else frozenset()
