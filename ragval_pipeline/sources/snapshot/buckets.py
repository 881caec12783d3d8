"""Parquet files by bucket: a page and its chunks always share a bucket, so that each can be judged separately."""

from __future__ import annotations

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np, pa, pc, pq
from ragval_pipeline.sources.arrow import array_from, numbers_of
from ragval_pipeline.sources.memory import give_back_memory
from ragval_pipeline.sources.snapshot.manifest import Part
from ragval_pipeline.sources.storage import local_path, writing_to

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from upath import UPath

#: Every reading step opens each file: many small ones take longer in an object store.
MOST_BUCKETS = 1024
#: Bytes of rows in memory after which they are sorted.
BYTES_HELD = 32_000_000
#: Columns whose values hardly repeat, for which a dictionary is useless.
UNIQUE = frozenset({"point_id", "text", "embedded_text", "text_sha256", "chunk_id", "text_hash"})
#: Bytes of a value from which its column is compressed: for smaller ones, setting up a compressor takes longer than
#: writing.
LARGE = 32


@lru_cache(maxsize=1 << 16)  # called for each chunk of a page, in id order
def bucket_of(key: str, buckets: int) -> int:
    """The bucket of a canonical page, or of the id of a point without a page.

    Buckets of a larger power of two are parts of those of a smaller one: bucket 5 of 8 is in bucket 1 of 4. ``buckets``
    is a power of two.
    """
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big") % buckets


def buckets_for(rows: int, per_bucket: int) -> int:
    """Number of buckets for about ``per_bucket`` rows each: a power of two, at most ``MOST_BUCKETS``."""
    wanted = max(1, -(-rows // per_bucket))
    return min(MOST_BUCKETS, 1 << (wanted - 1).bit_length())


class BucketWriter(AbstractContextManager["BucketWriter"]):
    """Sorts rows into one Parquet file per bucket; rows are collected in a temporary file first.

    Writing rows as they arrive would create many small row groups: at a million points their metadata takes most of the
    memory, and reading it most of the time.

    Args:
        folder: Where the files go.
        schema: Schema of the rows.
        buckets: Number of buckets, a power of two.
        finish: What the rows of a bucket, with its number, become before they are written.
    """

    def __init__(
        self,
        folder: UPath,
        schema: pa.Schema,
        buckets: int,
        *,
        finish: Callable[[int, pa.Table], pa.Table] = lambda _, rows: rows,
    ) -> None:
        self.buckets = buckets
        self._finish = finish
        self.schema, self._folder = schema, folder
        self._held: list[pa.RecordBatch] = []
        self._numbers: list[NDArray[np.int32]] = []
        self._bytes = 0
        # Next to the files, where there is space; the system's temporary folder may be in memory.
        self._waiting = tempfile.TemporaryFile(dir=local_path(folder))  # noqa: SIM115  open as long as the writer is
        #: For each bucket, start and end of its rows in the temporary file.
        self._places: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        # Sorting and compressing release the GIL: the next rows are read meanwhile.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ragval-parts")
        self._sorting: Future[None] | None = None

    def add(self, batch: pa.RecordBatch, keys: pa.Array) -> None:
        """Add rows with their keys."""
        once = keys.dictionary_encode()
        buckets = np.array([bucket_of(key, self.buckets) for key in once.dictionary.to_pylist()], dtype=np.int32)
        self._held.append(batch)
        self._numbers.append(buckets[numbers_of(once.indices)])
        self._bytes += batch.nbytes
        if self._bytes >= BYTES_HELD:
            self._hand_over()

    def close(self) -> tuple[Part, ...]:
        """Write all files; returns them by bucket."""
        self._hand_over()
        self._wait()
        parts = []
        for bucket in sorted(self._places):
            rows = self._finish(bucket, self._rows(bucket))
            part = Part(name=f"part-{bucket:05d}.parquet", rows=rows.num_rows, bucket=bucket)
            with writing_to(self._folder), (self._folder / part.name).open("wb") as file:
                pq.write_table(rows, file, **encoding_of(rows, unique=UNIQUE))
            parts.append(part)
        give_back_memory()
        return tuple(parts)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()
        self._waiting.close()

    def _hand_over(self) -> None:
        """Sort the collected rows in the background, after the previous ones."""
        self._wait()
        if self._held:
            self._sorting = self._pool.submit(self._sort, self._held, self._numbers)
        self._held, self._numbers, self._bytes = [], [], 0

    def _wait(self) -> None:
        sorting, self._sorting = self._sorting, None
        if sorting is not None:
            sorting.result()

    def _sort(self, held: list[pa.RecordBatch], keys: list[NDArray[np.int32]]) -> None:
        numbers = np.concatenate(keys)
        order = np.argsort(numbers, kind="stable")
        rows = pa.Table.from_batches(held, schema=self.schema).take(array_from(order))
        for start, end in pairwise([0, *(np.flatnonzero(np.diff(numbers[order])) + 1).tolist(), len(order)]):
            if start < end:
                begins = self._waiting.tell()
                # Uncompressed: compressing rows that are read again soon takes longer than writing them.
                with pa.ipc.new_stream(self._waiting, self.schema) as stream:
                    stream.write_table(rows.slice(start, end - start))
                self._places[int(numbers[order[start]])].append((begins, self._waiting.tell()))
        del rows
        held.clear()
        give_back_memory()

    def _rows(self, bucket: int) -> pa.Table:
        """The rows of a bucket, in order of arrival."""
        found = []
        for start, end in self._places[bucket]:
            self._waiting.seek(start)
            found.append(pa.ipc.open_stream(self._waiting.read(end - start)).read_all())
        return pa.concat_tables(found).unify_dictionaries()


def encoding_of(rows: pa.Table, *, unique: Collection[str], hashes: Collection[str] = ()) -> dict[str, Any]:
    """The cheapest encoding options of Parquet's writer for such rows.

    Args:
        rows: A sample.
        unique: Columns whose values hardly repeat.
        hashes: Incompressible columns.
    """
    kept = {*unique, *hashes}
    large = {name for name in rows.schema.names if _bytes_of(rows.column(name)) >= LARGE * len(rows)}.difference(hashes)
    return {
        "compression": {path: "zstd" if path.partition(".")[0] in large else "none" for path in _leaves(rows.schema)},
        "use_dictionary": [path for path in _leaves(rows.schema) if path.partition(".")[0] not in kept],
        "write_statistics": False,
    }


def in_bucket(parts: Sequence[Part], bucket: int, buckets: int) -> list[Part]:
    """The parts of one of ``buckets`` buckets, which were written as at least as many."""
    return [part for part in parts if part.bucket % buckets == bucket]


def read_parts(folder: UPath, parts: Sequence[Part], columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of some parts, one row group in memory at a time."""
    for part in parts:
        with (folder / part.name).open("rb") as file:
            yield from pq.ParquetFile(file).iter_batches(columns=columns)


def _bytes_of(column: pa.ChunkedArray) -> int:
    """Bytes of a column's values and lengths, however its arrays are laid out: equal rows are to be equal files."""
    return sum(map(_bytes_of_array, column.chunks))


def _bytes_of_array(values: pa.Array) -> int:
    kind = values.type
    if pa.types.is_list(kind):
        return 4 * len(values) + _bytes_of_array(values.flatten())
    if pa.types.is_struct(kind):
        return sum(map(_bytes_of_array, values.flatten()))
    if pa.types.is_dictionary(kind):
        return _bytes_of_array(values.indices)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return 4 * len(values) + (pc.sum(pc.binary_length(values)).as_py() or 0)
    return len(values) * int(kind.bit_width) // 8


def _leaves(kind: pa.Schema | pa.DataType, path: str = "") -> list[str]:
    """Parquet's column names, with nested fields as separate columns."""
    if isinstance(kind, pa.Schema) or pa.types.is_struct(kind):
        start = f"{path}." if path else ""
        return [leaf for entry in kind for leaf in _leaves(entry.type, start + entry.name)]
    return _leaves(kind.value_type, f"{path}.list.element") if pa.types.is_list(kind) else [path]
