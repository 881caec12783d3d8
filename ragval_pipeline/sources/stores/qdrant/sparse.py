"""Stored sparse vectors, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SparseBatch:
    """The sparse vectors of some points under one name.

    Attributes:
        ids: Points that have the vector, as text; it may be empty.
        lengths: int64 array of shape (number of ids,): the numbers of each vector.
        indices: uint32 array of the vectors' indices, one after another.
        values: float32 array of their values.
        missing: Points without the vector.
    """

    ids: tuple[str, ...]
    lengths: NDArray[np.int64]
    indices: NDArray[np.uint32]
    values: NDArray[np.float32]
    missing: tuple[str, ...] = ()

    @property
    def empty(self) -> tuple[str, ...]:
        """Points whose vector has no numbers."""
        return tuple(name for name, length in zip(self.ids, self.lengths.tolist(), strict=True) if not length)

    def rows(self) -> Iterable[tuple[str, NDArray[np.uint32], NDArray[np.float32]]]:
        """Id, indices and values of each vector."""
        ends = np.cumsum(self.lengths).tolist()
        for name, length, end in zip(self.ids, self.lengths.tolist(), ends, strict=True):
            yield name, self.indices[end - length : end], self.values[end - length : end]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, Any]], name: str) -> SparseBatch:
        """The batch of records: their ids, and their vectors as qdrant-client returns them."""
        ids, missing = list[str](), list[str]()
        indices, values = list[Sequence[int]](), list[Sequence[float]]()
        for point, vectors in rows:
            vector = vectors.get(name) if isinstance(vectors, dict) else None
            if vector is None or not hasattr(vector, "indices"):
                missing.append(point)
                continue
            ids.append(point)
            indices.append(vector.indices)
            values.append(vector.values)
        return cls(
            tuple(ids),
            np.array([len(row) for row in indices], dtype=np.int64),
            np.concatenate([np.empty(0, dtype=np.uint32), *(np.array(row, dtype=np.uint32) for row in indices)]),
            np.concatenate([np.empty(0, dtype=np.float32), *(np.array(row, dtype=np.float32) for row in values)]),
            tuple(missing),
        )
