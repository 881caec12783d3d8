"""The rows of a file of points in temporary files: in memory are their ids, and where each one's values are."""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, overload

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.stores.qdrant.names import id_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Longest id, in bytes, that is held in a row of fixed width.
_WIDE = 64
#: Digits of the greatest integer id.
_DIGITS = 20


class PointIds(Sequence[str]):
    """Ids in Qdrant's order.

    Each is held as bytes that sort in this order: integers, with all their digits, before texts.

    Attributes:
        rows: Of each id its row among those that it was made of.
    """

    def __init__(self, keys: Sequence[NDArray[np.bytes_] | NDArray[np.object_]]) -> None:
        # A file without points has no keys.
        every = keys or [self.keys([])]
        found = np.concatenate([each.astype(object) for each in every] if _is_mixed(keys) else every)
        self.rows: NDArray[np.int64] = np.argsort(found, kind="stable")
        self._keys = found[self.rows]

    @staticmethod
    def keys(names: Sequence[str]) -> NDArray[np.bytes_] | NDArray[np.object_]:
        """Keys of some ids."""
        found = list(map(_key, names))
        # An array of bytes drops zeros at the end, and gives each as much space as the longest.
        is_plain = max(map(len, found), default=0) <= _WIDE and not any(key.endswith(b"\0") for key in found)
        return np.array(found, dtype=np.bytes_ if is_plain else object)

    def repeated(self) -> tuple[int, int] | None:
        """Rows of the first id, in order, that occurs twice; None without any."""
        again = np.flatnonzero(self._keys[1:] == self._keys[:-1])
        return (int(self.rows[again[0]]), int(self.rows[again[0] + 1])) if len(again) else None

    def numbers(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The place of each of some ids in the order; -1 for others."""
        if not len(self) or not names:
            return np.full(len(names), -1, np.int64)
        asked = self.keys(names).astype(self._keys.dtype.type)
        places = np.minimum(np.searchsorted(self._keys, asked), len(self) - 1)
        return np.where(self._keys[places] == asked, places, -1)

    def some(self, numbers: slice | NDArray[np.int64]) -> list[str]:
        """The ids at some places."""
        return list(map(_name, self._keys[numbers].tolist()))

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        return self.some(number) if isinstance(number, slice) else _name(self._keys[number])

    def __iter__(self) -> Iterator[str]:
        return (name for start in range(0, len(self), _DECODED) for name in self[start : start + _DECODED])


#: Ids made texts at once.
_DECODED = 4096


def _is_mixed(keys: Sequence[NDArray[np.bytes_] | NDArray[np.object_]]) -> bool:
    return any(each.dtype == object for each in keys)


def _key(name: str) -> bytes:
    kind, value, text = id_order(name)
    if kind:
        return b"1" + text.encode()
    # Leading zeros do not change the value, but the name.
    return b"0%0*d%s" % (_DIGITS, value, b"" if str(value) == name else name.encode())


def _name(key: bytes) -> str:
    text = key.decode()
    return text[1:] if text[0] == "1" else text[_DIGITS + 1 :] or str(int(text[1 : _DIGITS + 1]))


class _Temporary:
    """A temporary file that is deleted with the object; one thread reads it at a time."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  open as long as this object is there
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()

    def put(self, place: int, data: bytes | memoryview) -> None:
        """Write at a place."""
        left = memoryview(data).cast("B")
        with self._lock:
            self._file.seek(place)
            while left:
                left = left[self._file.write(left) or 0 :]

    def fill(self, places: Iterable[int], into: Iterable[memoryview]) -> None:
        """Read what is at some places."""
        with self._lock:
            for place, part in zip(places, into, strict=True):
                self._file.seek(place)
                left = part
                while left:
                    read = self._file.readinto(left)
                    if not read:
                        raise OSError("a temporary file was cut off")
                    left = left[read:]


class HeldPayloads:
    """The payload of each row as JSON text; empty without one."""

    def __init__(self) -> None:
        self._file = _Temporary()
        self._ends: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
        self._size = 0

    def add(self, texts: Iterable[str | None]) -> None:
        """The payloads of the next rows."""
        data = [b"" if text is None else text.encode() for text in texts]
        ends = self._size + np.cumsum([len(text) for text in data], dtype=np.int64)
        self._file.put(self._size, b"".join(data))
        self._ends.append(ends)
        self._size = int(ends[-1]) if len(ends) else self._size

    def closed(self) -> HeldPayloads:
        """These, when all are added."""
        self._ends = [np.concatenate(self._ends)]
        return self

    def texts(self, rows: NDArray[np.int64]) -> list[str]:
        """The texts of some rows."""
        [ends] = self._ends
        starts = ends[rows]
        sizes = (ends[rows + 1] - starts).tolist()
        found = [bytearray(size) for size in sizes]
        self._file.fill(starts.tolist(), map(memoryview, found))
        return [text.decode() for text in found]


class HeldVectors:
    """The vectors of the rows that have one.

    Attributes:
        width: Numbers of each; 0 if there are none.
    """

    def __init__(self) -> None:
        self._file, self.width = _Temporary(), 0
        self._held: list[NDArray[np.bool_]] = [np.zeros(0, np.bool_)]
        self._finite: list[NDArray[np.bool_]] = [np.zeros(0, np.bool_)]
        self._rows = 0

    def add(self, held: NDArray[np.bool_], matrix: NDArray[np.float32]) -> None:
        """Whether each of the next rows has a vector, and the vectors of those that do."""
        first, self._rows = self._rows, self._rows + len(held)
        finite = held.copy()
        if len(matrix):
            self.width = matrix.shape[1]
            finite[held] = np.isfinite(matrix).all(axis=1)
            where = np.flatnonzero(held)
            for start, end in _runs(where):
                place = first + int(where[start])
                self._file.put(4 * self.width * place, np.ascontiguousarray(matrix[start:end]).data)
        self._held.append(held)
        self._finite.append(finite)

    def skip(self, rows: int) -> HeldVectors:
        """These, with rows without a vector up to a number of rows."""
        missing = np.zeros(rows - self._rows, np.bool_)
        if len(missing):
            self.add(missing, np.empty((0, 0), np.float32))
        return self

    def closed(self) -> HeldVectors:
        """These, when all are added."""
        self._held, self._finite = [np.concatenate(self._held)], [np.concatenate(self._finite)]
        return self

    def have(self, rows: NDArray[np.int64], *, finite: bool = False) -> NDArray[np.bool_]:
        """Whether each of some rows has a vector, or one of finite numbers."""
        return (self._finite if finite else self._held)[0][rows]

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of some rows that have one: float32 array of shape (number of rows, width)."""
        found = np.empty((len(rows), self.width), np.float32)
        if found.size:
            parts = list(_runs(rows))
            places = (rows[[start for start, _ in parts]] * 4 * self.width).tolist()
            self._file.fill(places, (found[start:end].data.cast("B") for start, end in parts))
        return found


def _runs(rows: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Start and end of what follows one another."""
    if len(rows):
        yield from pairwise([0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)])
