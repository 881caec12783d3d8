"""Letter n-grams: an index of their positions in a text, and the long common runs of two texts."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.text.folding import code_points

if TYPE_CHECKING:
    import numpy.typing as npt

#: Letters of an n-gram. Twelve are about two and a half words: chance hits on a wrong page stay near 1 %.
SIZE = 12
#: For texts of fewer than ``SHORT`` letters, whose runs between two differences are short, and for scripts whose
#: characters carry more than a letter: from Thai on, in Unicode order, one is a syllable or a part of a word.
SHORT_SIZE, SHORT = 8, 48
_FIRST_OF_SYLLABLES = 0x0E00
#: Positions of one n-gram that are followed at most; more frequent ones are disambiguated by the letters around.
PLACES = 16
_BASE = 0x9E3779B97F4A7C15
_MIX = 0xC2B2AE3D27D4EB4F
#: A key is the upper bits of an n-gram's hash with its position in at least so many lower bits: one sort orders both.
_PLACE_BITS = 26

if TYPE_CHECKING:
    Hashes = npt.NDArray[np.uint64]


def width_for(letters: str) -> int:
    """Letters of the n-grams by which a folded text is searched for."""
    if len(letters) < SHORT:
        return SHORT_SIZE
    return SIZE if letters.isascii() or not _is_of_syllables(letters) else SHORT_SIZE


@lru_cache(maxsize=4)
def _is_of_syllables(letters: str) -> bool:
    return 2 * int((code_points(letters) >= _FIRST_OF_SYLLABLES).sum()) > len(letters)


def gram_hashes(letters: str, width: int) -> Hashes:
    """A hash of each n-gram of ``width`` letters; shape ``(len(letters) - width + 1,)``, empty for a shorter text."""
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
    """The positions of each n-gram of a text.

    Args:
        letters: Folded text.
        width: Letters of an n-gram.
        at: Positions to index; None: all.
    """

    def __init__(self, letters: str, width: int, at: npt.NDArray[np.int64] | None = None) -> None:
        self._letters, self._width = letters, width
        hashes = gram_hashes(letters, width)
        low = np.uint64((1 << max(_PLACE_BITS, len(letters).bit_length())) - 1)
        places = np.arange(len(hashes), dtype=np.uint64) if at is None else at.astype(np.uint64)
        keys = np.sort((hashes if at is None else hashes[at]) & ~low | places)
        self._places = (keys & low).astype(np.int64)
        self._keys, self._low = keys & ~low, low
        # Where the places of each key end.
        ends = np.append(np.flatnonzero(np.diff(self._keys)) + 1, len(keys))
        self._ends = np.repeat(ends, np.diff(ends, prepend=0))

    def common_runs(self, letters: str) -> list[tuple[int, int, int]]:
        """The longest common runs of at least ``width`` letters, as (start, position here, length).

        A run with several positions here is returned several times, for the first ``PLACES`` of them.
        """
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
        # N-grams of one run lie next to each other on one diagonal.
        diagonals = places - starts
        order = np.lexsort((starts, diagonals))
        starts, places, diagonals = starts[order], places[order], diagonals[order]
        breaks = np.flatnonzero((np.diff(diagonals) != 0) | (np.diff(starts) != 1)) + 1
        begins = np.concatenate(([0], breaks))
        lengths = np.diff(np.concatenate((begins, [len(starts)]))) + self._width - 1
        matches = zip(starts[begins].tolist(), places[begins].tolist(), lengths.tolist(), strict=True)
        return [
            (start, place, length)
            for start, place, length in matches
            if letters[start : start + length] == self._letters[place : place + length]
        ]

    def first(self, letters: str, *, after: int = -1) -> int | None:
        """First position of at least ``width`` letters after a position; None if there is none.

        Only the positions of their rarest n-gram are checked: thousands of texts may begin alike and differ by a word.
        """
        starts = np.append(np.arange(0, len(letters) - self._width, self._width), len(letters) - self._width)
        wanted = gram_hashes(letters, self._width)[starts] & ~self._low
        first = np.searchsorted(self._keys, wanted)
        if not len(self._keys) or (self._keys[np.minimum(first, len(self._keys) - 1)] != wanted).any():
            return None
        counts = self._ends[first] - first
        rarest = int(counts.argmin())
        places = self._places[first[rarest] : first[rarest] + counts[rarest]] - starts[rarest]
        at, size = int(places.searchsorted(max(0, after + 1))), 1
        while at < len(places):
            some = places[at : at + size].tolist()
            start = next((place for place in some if self._letters.startswith(letters, place)), None)
            if start is not None:
                return int(start)
            at, size = at + size, 2 * size
        return None


def runs_of(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Stretches of true values as (start, end), end exclusive."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


@lru_cache(maxsize=4)
def _powers(count: int) -> tuple[Hashes, Hashes]:
    """Powers of the base and of its inverse modulo 2**64."""

    def powers(base: int) -> Hashes:
        factors = np.full(count, base & (2**64 - 1), dtype=np.uint64)
        factors[0] = 1
        return np.cumprod(factors, dtype=np.uint64)

    return powers(_BASE), powers(pow(_BASE, -1, 2**64))
