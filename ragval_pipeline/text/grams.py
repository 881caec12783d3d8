"""Runs of letters: an index of where each stands in a text, and the long common runs of two texts."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ragval_pipeline.text.folding import code_points

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Letters of a run. Twelve are about two words and a half: chance hits on a wrong page stay near 1 %.
SIZE = 12
#: For texts of fewer than ``SHORT`` letters, whose runs between two differences are short.
SHORT_SIZE, SHORT = 8, 48
#: Places of one run that are followed at most: a run that stands in more is told apart by the letters around it.
PLACES = 16
_BASE = 0x9E3779B97F4A7C15
_MIX = 0xC2B2AE3D27D4EB4F
#: A key is the upper bits of a run's hash and, below them, its place: one sort orders both.
_PLACE_BITS = 26

if TYPE_CHECKING:
    Hashes = npt.NDArray[np.uint64]


def width_for(letters: str) -> int:
    """Letters of the runs by which a folded text is looked for."""
    return SHORT_SIZE if len(letters) < SHORT else SIZE


def gram_hashes(letters: str, width: int) -> Hashes:
    """A hash of each run of ``width`` letters; shape ``(len(letters) - width + 1,)``, empty for a shorter text."""
    import numpy as np

    codes = code_points(letters).astype(np.uint64)
    count = len(codes) - width + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    powers, inverses = _powers(1 << max(12, (len(codes)).bit_length()))
    sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(codes * powers[: len(codes)], dtype=np.uint64)))
    hashes = (sums[width:] - sums[:count]) * inverses[:count]
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(_MIX)
    hashes ^= hashes >> np.uint64(32)
    return hashes


class GramIndex:
    """Where each run of letters of a text stands.

    Args:
        letters: Folded text of at most 2**26 letters.
        width: Letters of a run.
    """

    def __init__(self, letters: str, width: int) -> None:
        import numpy as np

        self._letters, self._width = letters[: 1 << _PLACE_BITS], width
        hashes = gram_hashes(self._letters, width)
        low = np.uint64((1 << _PLACE_BITS) - 1)
        keys = np.sort((hashes & ~low) | np.arange(len(hashes), dtype=np.uint64))
        self._places = (keys & low).astype(np.int64)
        self._keys, self._low = keys & ~low, low
        # Where the places of each key end.
        ends = np.append(np.flatnonzero(np.diff(self._keys)) + 1, len(keys))
        self._ends = np.repeat(ends, np.diff(ends, prepend=0))

    def common_runs(self, letters: str) -> list[tuple[int, int, int]]:
        """The longest runs of at least ``width`` letters that both texts have, as (start, place here, length).

        A run of ``letters`` that stands here in several places comes several times, for the first ``PLACES`` of them.
        """
        import numpy as np

        wanted = gram_hashes(letters, self._width) & ~self._low
        if not len(wanted) or not len(self._keys):
            return []
        first = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        known = np.flatnonzero(self._keys[first] == wanted)
        if not len(known):
            return []
        first = first[known]
        many = np.minimum(self._ends[first] - first, PLACES)
        starts = np.repeat(known, many)
        within = np.arange(len(starts)) - np.repeat(np.cumsum(many) - many, many)
        places = self._places[np.repeat(first, many) + within]
        # Runs that go on for a letter lie one after the other on one diagonal.
        diagonals = places - starts
        order = np.lexsort((starts, diagonals))
        starts, places, diagonals = starts[order], places[order], diagonals[order]
        breaks = np.flatnonzero((np.diff(diagonals) != 0) | (np.diff(starts) != 1)) + 1
        begins = np.concatenate(([0], breaks))
        lengths = np.diff(np.concatenate((begins, [len(starts)]))) + self._width - 1
        found = zip(starts[begins].tolist(), places[begins].tolist(), lengths.tolist(), strict=True)
        return [
            (start, place, length)
            for start, place, length in found
            if letters[start : start + length] == self._letters[place : place + length]
        ]

    def places(self, letters: str) -> list[int] | None:
        """Where the first run of at least ``width`` letters stands; None for more places than ``PLACES``."""
        if len(self._letters) == 1 << _PLACE_BITS:
            return None
        import numpy as np

        wanted = gram_hashes(letters[: self._width], self._width)[0] & ~self._low
        first = int(np.searchsorted(self._keys, wanted))
        if first == len(self._keys) or self._keys[first] != wanted:
            return []
        last = int(self._ends[first])
        return None if last - first > PLACES else self._places[first:last].tolist()


def runs_of(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Stretches of true values as (start, end), end exclusive."""
    import numpy as np

    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


@lru_cache(maxsize=4)
def _powers(count: int) -> tuple[Hashes, Hashes]:
    """Powers of the base and of its inverse modulo 2**64."""
    import numpy as np

    def powers(base: int) -> Hashes:
        factors = np.full(count, base & (2**64 - 1), dtype=np.uint64)
        factors[0] = 1
        return np.cumprod(factors, dtype=np.uint64)

    return powers(_BASE), powers(pow(_BASE, -1, 2**64))
