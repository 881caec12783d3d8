"""Prints of the points of a read: a few bytes by which a later read of the same point is recognised.

The print of a payload is a hash. That of a vector is its norm and some projections, so that two vectors that differ by
rounding are the same: an embedded Qdrant normalises vectors in place, and their bytes change.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np, pa, pq
from ragval_pipeline.sources.arrow import array_of
from ragval_pipeline.sources.snapshot.manifest import Part
from ragval_pipeline.sources.storage import writing_to
from ragval_pipeline.sources.stores.qdrant.names import id_order

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from upath import UPath

    from ragval_pipeline.sources.stores.qdrant.protocol import Point, VectorBatch

#: Files of the prints of payloads, and of vectors.
PAYLOADS, VECTORS = "payloads.parquet", "vectors.parquet"
#: A difference per component of a vector of length 1 that is rounding.
CLOSE = 1e-6
#: Random projections of a vector: the mean square of their differences estimates that of the vectors.
_DIRECTIONS = 4
#: Prints of points whose vector cannot be compared.
_MISSING, _OTHER = b"missing", b"other"
#: Norm, dimension and projections.
_VECTOR = struct.Struct(f"<{2 + _DIRECTIONS}d")

#: The id of a point as text, and the print of its payload or of its vector.
Print = tuple[str, bytes]


class PrintWriter:
    """Writes the prints of points into a file, page by page, in id order."""

    def __init__(self, folder: UPath, name: str) -> None:
        self._folder, self._name, self._rows = folder, name, 0
        self._schema = pa.schema([("point_id", pa.string()), ("print", pa.binary())])

    def __enter__(self) -> PrintWriter:
        with writing_to(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = (self._folder / self._name).open("wb")
        self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd", use_dictionary=False)
        return self

    def __exit__(self, *_: object) -> None:
        with writing_to(self._folder):
            self._writer.close()
            self._file.close()

    def add(self, prints: Sequence[Print]) -> None:
        """Add the prints of some points, in id order."""
        if prints:
            ids, values = zip(*prints, strict=True)
            columns = [array_of(ids, pa.string()), array_of(values, pa.binary())]
            self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
            self._rows += len(prints)

    @property
    def part(self) -> Part:
        """The file."""
        return Part(name=self._name, rows=self._rows)


def payload_print(payload: Mapping[str, Any]) -> bytes:
    """Eight bytes that differ between payloads."""
    try:
        text = json.dumps(payload, sort_keys=True, default=str)
    except (ValueError, TypeError, RecursionError):  # numbers of thousands of digits, keys that are not texts, depth
        text = ""
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def payload_prints(points: Sequence[Point]) -> list[Print]:
    """The prints of the payloads of some points, in their order."""
    return [(point.id, payload_print(point.payload)) for point in points]


def vector_prints(batch: VectorBatch) -> list[Print]:
    """The prints of the vectors of some points, in id order."""
    prints = [*((name, _MISSING) for name in batch.missing), *((name, _OTHER) for name in batch.other)]
    if batch.ids:
        exact = batch.matrix.astype(np.float64)
        with np.errstate(all="ignore"):  # vectors with non-finite numbers are somebody else's finding
            shown = exact @ _directions(exact.shape[1])
            norms = np.sqrt(np.einsum("ij,ij->i", exact, exact))
        sizes = np.full(len(norms), exact.shape[1], dtype=np.float64)
        rows = np.column_stack([norms, sizes, shown]).astype("<f8")
        prints += zip(batch.ids, map(bytes, rows), strict=True)
    return sorted(prints, key=lambda entry: id_order(entry[0]))


def same_vector(one: bytes, other: bytes) -> bool:
    """Whether two vectors are the same except for rounding, by their prints."""
    if one == other:
        return True
    if len(one) != _VECTOR.size or len(other) != _VECTOR.size:
        return False
    length, dimension, *shown = _VECTOR.unpack(one)
    other_length, other_dimension, *again = _VECTOR.unpack(other)
    if dimension != other_dimension:
        return False
    if not math.isfinite(length) or not math.isfinite(other_length):
        return math.isfinite(length) == math.isfinite(other_length)
    off = math.sqrt(sum((a - b) ** 2 for a, b in zip(shown, again, strict=True)) / _DIRECTIONS)
    return bool(off <= CLOSE * math.sqrt(dimension) * max(length, other_length))


def estimated_cosine(one: bytes, other: bytes) -> float | None:
    """The cosine of two vectors by their prints, from a few projections; None if they cannot be compared.

    Its error is about the distance from 1: a cosine of 0.5 may be estimated as anything up to 1, but rarely near it.
    """
    if len(one) != _VECTOR.size or len(other) != _VECTOR.size:
        return None
    length, dimension, *shown = _VECTOR.unpack(one)
    other_length, other_dimension, *again = _VECTOR.unpack(other)
    if dimension != other_dimension or not (0 < length * other_length < math.inf):
        return None
    apart = sum((a / length - b / other_length) ** 2 for a, b in zip(shown, again, strict=True)) / _DIRECTIONS
    return float(1 - apart / 2)


@lru_cache(maxsize=4)
def _directions(dimension: int) -> NDArray[np.float64]:
    """Random directions as columns, the same in every process."""
    return np.random.default_rng(dimension).standard_normal((dimension, _DIRECTIONS))


def read_prints(file: UPath) -> Iterator[Print]:
    """The prints in a file, in id order."""
    with file.open("rb") as opened:
        for batch in pq.ParquetFile(opened).iter_batches(batch_size=4096):
            yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
