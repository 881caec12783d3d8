"""Memory while much is read: what is freed is given back, and rows hardly ever looked at wait in a temporary file."""

from __future__ import annotations

import ctypes
import gc
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Objects that Python itself has frozen when it begins are fewer.
FROZEN_AT_START = 1_000
#: Objects that are made before cycles are looked for: facts have none, and looking takes a tenth of the time.
ALLOCATIONS = 100_000

#: Bytes of a block that is asked of the system by itself, and given back to it when it is freed.
LARGE_BLOCK = 256 * 1024
#: glibc's number for the setting (malloc.h); whoever sets it stops it from growing by itself, up to 32 MiB.
_M_MMAP_THRESHOLD = -3


def keep_large_blocks_apart() -> None:
    """Have large blocks live outside the heap, where freed ones cannot be kept by a small one behind them.

    A validation reads megabytes at a time, thousands of times: in the heap they leave gaps that stay with the process,
    a fifth of its memory at 200,000 chunks. Only glibc needs it; elsewhere nothing is done.
    """
    _ask_glibc("mallopt", _M_MMAP_THRESHOLD, LARGE_BLOCK)


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for cycles after ``ALLOCATIONS`` objects rather than after some hundred."""
    usual = gc.get_threshold()
    if usual[0]:  # zero: somebody wants none of it
        gc.set_threshold(max(usual[0], ALLOCATIONS), *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def collect_answers() -> None:
    """Take back what the answers of an embedder were read from: responses and their streams refer to each other.

    A batch of vectors is megabytes in a handful of objects, and the collector counts objects: it would leave thousands
    of batches. Only what is younger than the last call is looked at.
    """
    if gc.isenabled() and gc.get_threshold()[0]:  # else somebody wants none of it
        gc.collect(0)


@contextmanager
def sparing_memory() -> Iterator[None]:
    """Make many short-lived objects and buffers cheaply: a third of what a snapshot costs otherwise.

    Points are trees without cycles, for which the collector would look through all that the process has loaded, again
    and again; and the system's allocator keeps what is freed, where Arrow's own gives it back after each page.
    """
    import pyarrow as pa

    # What somebody else froze is not to be thawed; Python 3.12 begins with some hundred objects that are.
    usual, is_ours = pa.default_memory_pool(), gc.get_freeze_count() < FROZEN_AT_START
    if is_ours:
        gc.freeze()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(usual)
        if is_ours:
            gc.unfreeze()
        give_back_memory()


def give_back_memory() -> None:
    """Give the system back what was freed, so that the memory of one piece of work is not added to the next one's."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    _ask_glibc("malloc_trim", 0)


def _ask_glibc(function: str, *numbers: int) -> None:
    """Call a function of the process's C library; nothing is done where that has none of the name."""
    with suppress(AttributeError, OSError, TypeError):
        getattr(ctypes.CDLL(None), function)(*numbers)


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
            self._file.seek(0, os.SEEK_END)
            self._file.write(block.tobytes())
            self._count, self._width, self._kind = self._count + len(block), block.shape[1], block.dtype.str

    def between(self, start: int, end: int) -> NDArray[Any]:
        """Some of them, held by nobody else."""
        import numpy as np

        width = self._width * np.dtype(self._kind).itemsize
        self._file.seek(start * width)
        return np.frombuffer(self._file.read((end - start) * width), dtype=self._kind).reshape(-1, self._width)

    def rows(self) -> NDArray[Any]:
        """All of them, read when they are looked at; what was looked at may stay in memory."""
        import numpy as np

        if not self._count:
            return np.empty((0, self._width), dtype=self._kind)
        self._file.flush()
        # As a plain array: what is made of it is held in memory.
        return np.asarray(np.memmap(self._file, dtype=self._kind, mode="r", shape=(self._count, self._width)))
