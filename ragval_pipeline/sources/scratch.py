"""Rows of numbers that are kept for later and hardly ever looked at: in a temporary file, not in memory."""

from __future__ import annotations

import tempfile
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ScratchRows:
    """Blocks of rows of one kind and length, written one after the other; gone with the object."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  it is open as long as this object is there
        weakref.finalize(self, self._file.close)
        self._count, self._width, self._kind = 0, 1, "f2"

    def __len__(self) -> int:
        return self._count

    def add(self, block: NDArray[Any]) -> None:
        """Put some rows behind those that are there."""
        if len(block):
            self._file.write(block.tobytes())
            self._count, self._width, self._kind = self._count + len(block), block.shape[1], block.dtype.str

    def rows(self) -> NDArray[Any]:
        """All of them, read when they are looked at."""
        import numpy as np

        if not self._count:
            return np.empty((0, self._width), dtype=self._kind)
        self._file.flush()
        # As a plain array: what is made of it is held in memory.
        return np.asarray(np.memmap(self._file, dtype=self._kind, mode="r", shape=(self._count, self._width)))
