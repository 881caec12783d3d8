"""Which letters of one text stand in another, by runs of letters that both have.

What lives here: sets of letter n-grams as sorted hashes, and coverage by them. What does not: which texts are compared
and what coverage means (``forward``, ``backward``).

A letter counts as found when it lies in a run of ``SIZE`` letters that the other text has too. Of the ways measured
on fresh chunks made by other extractors (substring, word shingles, partial_ratio, token LCS, difflib) it was the one
that is both fast and indifferent to blanks, marks and the order of blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragval_pipeline.validation.integrity.folding import code_points

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Letters of a run. Twelve are about two words and a half: chance hits on a wrong page stay near 1 %.
SIZE = 12
#: For texts of fewer than ``SHORT`` letters, whose runs between two differences are short.
SHORT_SIZE = 8
SHORT = 48
_BASE = 0x9E3779B97F4A7C15


class GramSet:
    """The runs of letters of a text.

    Args:
        text: Folded text; parts divided by ``SEPARATOR``, which no looked-for text holds.
    """

    def __init__(self, text: str) -> None:
        self._codes = code_points(text)
        self._known: dict[int, npt.NDArray[np.uint64]] = {}

    def covers(self, letters: str, *, size: int | None = None) -> npt.NDArray[np.bool_]:
        """Which letters of a folded text lie in a run that this text has too; shape ``(len(letters),)``."""
        import numpy as np

        width = size or self.width_for(letters)
        hashes = _hashes(code_points(letters), width)
        if not len(hashes):
            return np.zeros(len(letters), dtype=np.bool_)
        found = _is_in(hashes, self._sorted(width))
        return _widen(found, width)

    def runs_shared_with(self, letters: str) -> npt.NDArray[np.bool_]:
        """Where a run begins in this text that a folded text has too; shape ``(runs of this text,)``."""
        import numpy as np

        width = self.width_for(letters)
        return _is_in(_hashes(self._codes, width), np.sort(_hashes(code_points(letters), width)))

    @staticmethod
    def width_for(letters: str) -> int:
        """Letters of the runs by which a folded text is looked for."""
        return SHORT_SIZE if len(letters) < SHORT else SIZE

    def _sorted(self, width: int) -> npt.NDArray[np.uint64]:
        import numpy as np

        if width not in self._known:
            self._known[width] = np.sort(_hashes(self._codes, width))
        return self._known[width]


def _hashes(codes: npt.NDArray[np.uint32], width: int) -> npt.NDArray[np.uint64]:
    """A polynomial hash modulo 2**64 of each run; empty when the text is shorter than a run."""
    import numpy as np

    count = len(codes) - width + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    wide = codes.astype(np.uint64)
    hashes = wide[:count].copy()
    base = np.uint64(_BASE)
    for step in range(1, width):
        hashes *= base
        hashes += wide[step : step + count]
    return hashes


def _is_in(wanted: npt.NDArray[np.uint64], known: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    import numpy as np

    if not len(known):
        return np.zeros(len(wanted), dtype=np.bool_)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found: npt.NDArray[np.bool_] = known[places] == wanted
    return found


def _widen(found: npt.NDArray[np.bool_], width: int) -> npt.NDArray[np.bool_]:
    """From runs to the letters that they hold."""
    import numpy as np

    change = np.zeros(len(found) + width, dtype=np.int64)
    change[: len(found)] += found
    change[width : width + len(found)] -= found
    covered: npt.NDArray[np.bool_] = np.cumsum(change)[:-1] > 0
    return covered


def runs_of(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Stretches of true values as (start, end), end exclusive."""
    import numpy as np

    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
