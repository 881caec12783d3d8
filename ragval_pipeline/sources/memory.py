"""Saving memory during large reads: freed memory is returned, and rarely used rows go to a temporary file."""

from __future__ import annotations

import ctypes
import gc
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from ragval_pipeline.lazy import np, pa

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: More objects than Python itself freezes at start.
FROZEN_AT_START = 1_000
#: Allocations between garbage collections: facts have no cycles, and collecting takes a tenth of the time.
ALLOCATIONS = 100_000

#: Bytes of a block that is allocated from the system separately, and returned to it when freed.
LARGE_BLOCK = 256 * 1024
#: glibc's number for the setting (malloc.h); setting it stops its automatic growth up to 32 MiB.
_M_MMAP_THRESHOLD = -3


def keep_large_blocks_apart() -> None:
    """Allocate large blocks outside the heap, where a small block after them cannot keep freed ones.

    A validation reads megabytes thousands of times: in the heap they would leave gaps, a fifth of the process's memory
    at 200,000 chunks. Only for glibc; a no-op elsewhere.
    """
    _ask_glibc("mallopt", _M_MMAP_THRESHOLD, LARGE_BLOCK)


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Collect garbage every ``ALLOCATIONS`` objects instead of every few hundred."""
    usual = gc.get_threshold()
    if usual[0]:  # zero: collection is switched off
        gc.set_threshold(max(usual[0], ALLOCATIONS), *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def collect_answers() -> None:
    """Free the responses of an embedder: responses and their streams refer to each other.

    A batch of vectors is megabytes in a handful of objects, and the collector counts objects: thousands of batches
    would pile up. Only objects younger than the last call are examined.
    """
    if gc.isenabled() and gc.get_threshold()[0]:  # else collection is switched off
        gc.collect(0)


@contextmanager
def sparing_memory() -> Iterator[None]:
    """Create many short-lived objects and buffers cheaply: a snapshot would cost three times as much otherwise.

    Points are trees without cycles, for which the collector would scan everything loaded again and again; and the
    system's allocator keeps freed memory, while Arrow's returns it after each page.
    """
    # Objects frozen by others must not be thawed; Python 3.12 starts with some hundred frozen objects.
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
    """Return freed memory to the system, so that it does not add up over steps."""
    pa.default_memory_pool().release_unused()
    _ask_glibc("malloc_trim", 0)


def _ask_glibc(function: str, *numbers: int) -> None:
    """Call a function of the process's C library, if it has one of that name."""
    with suppress(AttributeError, OSError, TypeError):
        getattr(ctypes.CDLL(None), function)(*numbers)


def scratch_file(owner: object) -> IO[bytes]:
    """A temporary file that is deleted with its owner."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  it is open as long as its owner is there
    weakref.finalize(owner, file.close)
    return file


class ScratchRows:
    """Blocks of rows of one type and length in a temporary file that is deleted with the object."""

    def __init__(self) -> None:
        self._file = scratch_file(self)
        self._count, self._width, self._kind = 0, 1, "f2"

    def __len__(self) -> int:
        return self._count

    def add(self, block: NDArray[Any]) -> None:
        """Append rows."""
        if len(block):
            self._file.seek(0, os.SEEK_END)
            self._file.write(block.tobytes())
            self._count, self._width, self._kind = self._count + len(block), block.shape[1], block.dtype.str

    def between(self, start: int, end: int) -> NDArray[Any]:
        """A copy of some rows."""
        width = self._width * np.dtype(self._kind).itemsize
        self._file.seek(start * width)
        return np.frombuffer(self._file.read((end - start) * width), dtype=self._kind).reshape(-1, self._width)

    def rows(self) -> NDArray[Any]:
        """All rows, read on access; what was read may stay in memory."""
        if not self._count:
            return np.empty((0, self._width), dtype=self._kind)
        self._file.flush()
        # As a plain array: derived arrays are held in memory.
        return np.asarray(np.memmap(self._file, dtype=self._kind, mode="r", shape=(self._count, self._width)))
