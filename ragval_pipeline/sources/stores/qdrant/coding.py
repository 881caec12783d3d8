"""How whole numbers of a collection with the datatype uint8 come from the numbers of a model.

Qdrant stores numbers from 0 to 255 as they are given, not normalised. Ingestions scale and shift what the model
returns, each in its own way, or the model returns such numbers itself; no collection says which. It is learnt from
stored vectors and their texts, once a run, and all that is embedded like the collection goes through it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ragval_pipeline.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

#: Points from which it is learnt.
LEARNT_FROM = 24
#: Correlation of a stored vector with that of its text from which one is the other, scaled, shifted and rounded.
_SAME = 0.9
_LOWEST, _HIGHEST = 0.0, 255.0


class Coding(BaseModel):
    """A stored number is ``scale`` times the model's plus ``offset``, rounded, from 0 to 255.

    Attributes:
        scale: Per unit of the model's numbers.
        offset: Of a zero.
        centre: Mean of the stored numbers. Without it all vectors would point the same way.
        length: Mean length of a stored vector around the centre.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    scale: float
    offset: float
    centre: float
    length: float

    def coded(self, vectors: Rows) -> Rows:
        """The model's vectors, row by row, as the collection stores them; vectors of zeros stay."""
        return self._kept(vectors, np.rint(vectors * self.scale + self.offset))

    def centred(self, stored: Rows) -> Rows:
        """Vectors as they are compared: around their centre; vectors of zeros stay."""
        made: Rows = np.where(stored.any(axis=1, keepdims=True), stored - np.float32(self.centre), 0).astype(np.float32)
        return made

    def uncentred(self, direction: Rows) -> Rows:
        """Vectors to search with, from directions around the centre, shape (n, dimension)."""
        return self._kept(direction, np.rint(direction * self.length + self.centre))

    def _kept(self, given: Rows, made: Rows) -> Rows:
        within: Rows = np.clip(made, _LOWEST, _HIGHEST).astype(np.float32)
        return np.where(given.any(axis=1, keepdims=True), within, 0).astype(np.float32)


def learn_coding(stored: Rows, given: Rows) -> Coding:
    """How some stored vectors come from those of their texts, rows alike, shape (n, dimension), n > 0.

    By the points whose vector is that of their text, the median of their regressions: wrong vectors among them do not
    count. If there is none, by mean and spread of all numbers: another model's then have the right size.
    """
    centre = float(stored.mean())
    length = float(np.linalg.norm(stored - centre, axis=1).mean())
    left, right = (rows - rows.mean(axis=1, keepdims=True) for rows in (given.astype(np.float64), stored))
    squares, shared = (left**2).sum(axis=1), (left * right).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = shared / squares
        same = shared / np.sqrt(squares * (right**2).sum(axis=1)) >= _SAME
    if same.any():
        offsets = stored.mean(axis=1) - slope * given.mean(axis=1)
        scale, offset = float(np.median(slope[same])), float(np.median(offsets[same]))
    else:
        scale = float(stored.std() / (given.std() or 1.0))
        offset = centre - scale * float(given.mean())
    return Coding(scale=scale, offset=offset, centre=centre, length=length)
