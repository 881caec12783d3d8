"""The partition of the re-embedded points into classes, from which all findings about single vectors are made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.rules.vector.text_mismatch import Look
from ragval_pipeline.validation.thresholds import MATCH, MOST, NOISE, SPREAD
from ragval_pipeline.validation.vectors.comparison import Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.kept.matches import Matches

    Floats = NDArray[np.float32]
    Rows = NDArray[np.intp]


class Label(IntEnum):
    """The class of a re-embedded point; ``OFF`` until something explains why it does not match."""

    OFF = 0
    MATCHING = auto()
    NEAR = auto()
    NO_DIRECTION = auto()
    SWAPPED = auto()
    OTHER_MODEL = auto()
    MISMATCH = auto()
    TEXT_MISMATCH = auto()


@dataclass(frozen=True)
class Owner:
    """The point whose text a vector matches.

    Attributes:
        point: Its index.
        cosine: Of the vector with that text.
        off: Whether that point itself is mismatched.
    """

    point: int
    cosine: float
    off: bool


class Partition:
    """The re-embedded points, each with one label.

    Labels are given to points that are still ``OFF``: points of a larger pattern are not reported again.

    Attributes:
        ids: The points of the sample, then those looked up outside it.
        sampled: Size of the sample.
        cosine: Of each stored vector with that of its text, shape (n,); NaN if one of them has no direction.
        texts: Unit vectors of the texts, float16, shape (at most n, dimension).
        stored: Stored unit vectors, float16, of the points at the indices ``at``.
        labels: Of each point, shape (n,).
        looks: Likely reasons for ``TEXT_MISMATCH``, by index.
        owners: Whose text a vector matches, by index.
    """

    def __init__(self, found: Comparison) -> None:
        def joined(blocks: Sequence[NDArray[np.generic]], empty: NDArray[np.generic]) -> NDArray[np.generic]:
            return np.concatenate(blocks) if blocks else empty

        self.ids, self.sampled, self._stride = list(found.sampled), len(found.sampled), found.stride
        self.cosine: Floats = joined(found.cosine, np.empty(0, dtype=np.float32))  # type: ignore[assignment]
        self.texts: NDArray[np.float16] = found.texts.rows()
        self.stored: NDArray[np.float16] = found.stored.rows()
        self.at: Rows = joined(found.stored_at, np.empty(0, dtype=np.intp))  # type: ignore[assignment]
        self.labels = _by_cosine(self.cosine)
        self.looks: dict[int, Look] = {}
        self.owners: dict[int, Owner] = {}

    def off(self, *, with_vector: bool = False) -> Rows:
        """Indices of unexplained sampled points; ``with_vector``: only those whose vector was kept."""
        off = np.flatnonzero(self.labels[: self.sampled] == Label.OFF)
        return off[np.isin(off, self.at)] if with_vector else off

    def inexact(self, beyond: float = NOISE, *, with_vector: bool = False) -> Rows:
        """Indices of sampled points that match nearly, but not exactly.

        ``beyond`` is the minimum distance of their cosines from 1; ``with_vector``: only those whose vector was kept.
        """
        matching = np.isin(self.labels[: self.sampled], (Label.MATCHING, Label.NEAR))
        found = np.flatnonzero(matching & (self.cosine[: self.sampled] < 1 - beyond))
        return found[np.isin(found, self.at)] if with_vector else found

    def assign(self, places: Iterable[int] | Rows, label: Label, *, instead_of: Collection[Label] = ()) -> None:
        """Label those of the points that are unlabelled, or have one of some other labels."""
        chosen = np.fromiter(places, dtype=np.intp)
        self.labels[chosen[np.isin(self.labels[chosen], (Label.OFF, *instead_of))]] = label

    def places(self, *labels: Label) -> list[int]:
        """Indices of the points with one of some labels."""
        found: list[int] = np.flatnonzero(np.isin(self.labels, labels)).tolist()
        return found

    def names(self, *labels: Label) -> list[str]:
        """Ids of the points with one of some labels."""
        return [self.ids[place] for place in self.places(*labels)]

    def count(self, *labels: Label) -> int:
        """Number of sampled points with one of some labels."""
        return int(np.isin(self.labels[: self.sampled], labels).sum())

    def vectors(self, places: Sequence[int] | Rows) -> Floats:
        """Stored unit vectors of points whose vector was kept."""
        vectors: Floats = self.stored[np.searchsorted(self.at, places)].astype(np.float32)
        return vectors

    def references(self) -> list[int]:
        """Indices of points that represent the whole sample, evenly spread."""
        return list(range(0, self.sampled, self._stride))

    def look_up(self, ids: Sequence[str], stored: Floats, again: Floats) -> None:
        """Add points outside the sample, with unit vectors as rows."""
        places = np.arange(len(self.ids), len(self.ids) + len(ids))
        cosine = np.einsum("ij,ij->i", stored, again)
        self.ids.extend(ids)
        self.cosine = np.concatenate([self.cosine, cosine])
        self.labels = np.concatenate([self.labels, _by_cosine(cosine)])
        self.texts = np.concatenate([self.texts, again.astype(np.float16)])
        self.stored = np.concatenate([self.stored, stored.astype(np.float16)])
        self.at = np.concatenate([self.at, places])


def with_texts(compare: Callable[[], Comparison], matches: Matches | None) -> Comparison:
    """What ``compare`` finds with some ``matches`` of an earlier run.

    They are forgotten, and it is called again, if one of them is no longer so, or if vectors are to be explained: that
    takes the texts of all points.
    """
    found = compare()
    if matches is None or not found.reused or not (found.stale or len(Partition(found).off())):
        return found
    matches.forget()
    return compare()


def _by_cosine(cosine: Floats) -> NDArray[np.int8]:
    """The labels from the cosine alone.

    Correct storage and providers stay far above ``MATCH``. If a whole collection is close to it, as with a quantised
    model, its matching half shows the spread of its points.
    """
    labels = np.full(len(cosine), Label.OFF, dtype=np.int8)
    labels[np.isnan(cosine)] = Label.NO_DIRECTION
    matching = cosine >= MATCH
    if matching.any() and matching.sum() >= MOST * np.isfinite(cosine).sum():
        usual = SPREAD * float(np.median(1 - cosine[matching]))
        labels[cosine >= 1 - usual] = Label.NEAR
    labels[matching] = Label.MATCHING
    return labels
