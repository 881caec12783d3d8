"""Parquet files by bucket: a page and its chunks share a bucket on every machine, so that each can be judged alone."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from functools import lru_cache
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.memory import give_back_memory
from ragval_pipeline.sources.snapshot.manifest import Part

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from upath import UPath

#: More files are not kept open at once.
MOST_BUCKETS = 256
#: Bytes of rows in memory after which they are written.
BYTES_HELD = 32_000_000
#: Columns whose values hardly repeat, so that a dictionary of them costs and gains nothing.
UNIQUE = frozenset({"point_id", "text", "embedded_text", "text_sha256", "chunk_id", "text_hash"})
#: Bytes of a value from which its column is compressed: for one of the small others, setting a compressor up takes
#: longer than writing it.
LARGE = 32


@lru_cache(maxsize=1 << 16)  # the chunks of a page come here one by one, in the order of their ids
def bucket_of(key: str, buckets: int) -> int:
    """The bucket of a canonical page, or of the id of a point that names none.

    Buckets of a larger power of two are parts of those of a smaller one: bucket 5 of 8 lies in bucket 1 of 4.

    Args:
        key: Canonical form of the page's address.
        buckets: A power of two.
    """
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big") % buckets


def buckets_for(rows: int, per_bucket: int) -> int:
    """How many buckets hold about ``per_bucket`` of so many rows each: a power of two, at most ``MOST_BUCKETS``."""
    wanted = max(1, -(-rows // per_bucket))
    return min(MOST_BUCKETS, 1 << (wanted - 1).bit_length())


class BucketWriter(AbstractContextManager["BucketWriter"]):
    """Writes rows into one Parquet file a bucket while they come.

    Args:
        folder: Where the files go; it exists.
        schema: Of all rows.
        buckets: A power of two.
    """

    def __init__(self, folder: UPath, schema: pa.Schema, buckets: int) -> None:
        self.buckets = buckets
        self.schema, self._folder = schema, folder
        self._held: list[pa.RecordBatch] = []
        self._numbers: list[NDArray[np.int32]] = []
        self._bytes = 0
        self._rows: dict[int, int] = {}
        self._writers: dict[int, Any] = {}
        self._files = ExitStack()
        # Sorting and compressing need no lock of Python's: the next rows are read meanwhile.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ragval-parts")
        self._writing: Future[None] | None = None

    def add(self, batch: pa.RecordBatch, keys: pa.Array) -> None:
        """Take in rows and the key of each, a text."""
        import numpy as np

        once = keys.dictionary_encode()
        buckets = np.array([bucket_of(key, self.buckets) for key in once.dictionary.to_pylist()], dtype=np.int32)
        self._held.append(batch)
        self._numbers.append(buckets[once.indices.to_numpy()])
        self._bytes += batch.nbytes
        if self._bytes >= BYTES_HELD:
            self._hand_over()

    def close(self) -> tuple[Part, ...]:
        """Write what is held, close all files, and tell them by bucket."""
        self._hand_over()
        self._wait()
        for writer in self._writers.values():
            writer.close()
        self._files.close()
        return tuple(Part(name=_name(bucket), rows=rows, bucket=bucket) for bucket, rows in sorted(self._rows.items()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()
        self._files.close()

    def _hand_over(self) -> None:
        """Have the held rows written, once those before them are."""
        self._wait()
        if self._held:
            self._writing = self._pool.submit(self._write, self._held, self._numbers)
        self._held, self._numbers, self._bytes = [], [], 0

    def _wait(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def _write(self, held: list[pa.RecordBatch], keys: list[NDArray[np.int32]]) -> None:
        import numpy as np
        import pyarrow as pa

        numbers = np.concatenate(keys)
        order = np.argsort(numbers, kind="stable")
        sorted_rows = pa.Table.from_batches(held, schema=self.schema).take(pa.array(order))
        starts = [0, *(np.flatnonzero(np.diff(numbers[order])) + 1).tolist(), len(order)]
        for start, end in pairwise(starts):
            if start == end:
                continue
            bucket = int(numbers[order[start]])
            self._writer(bucket, sorted_rows).write_table(sorted_rows.slice(start, end - start))
            self._rows[bucket] = self._rows.get(bucket, 0) + end - start
        del sorted_rows
        held.clear()
        give_back_memory()

    def _writer(self, bucket: int, rows: pa.Table) -> Any:
        import pyarrow.parquet as pq

        if bucket not in self._writers:
            file = self._files.enter_context((self._folder / _name(bucket)).open("wb"))
            self._writers[bucket] = pq.ParquetWriter(file, self.schema, **encoding_of(rows, unique=UNIQUE))
        return self._writers[bucket]


def encoding_of(rows: pa.Table, *, unique: Collection[str], hashes: Collection[str] = ()) -> dict[str, Any]:
    """How Parquet's writer encodes such rows at the least cost.

    Args:
        rows: Some of them.
        unique: Columns whose values hardly repeat.
        hashes: Columns that no compressor makes smaller.
    """
    kept = {*unique, *hashes}
    large = {name for name in rows.schema.names if rows.column(name).nbytes >= LARGE * len(rows)}.difference(hashes)
    return {
        "compression": {path: "zstd" if path.partition(".")[0] in large else "none" for path in _leaves(rows.schema)},
        "use_dictionary": [path for path in _leaves(rows.schema) if path.partition(".")[0] not in kept],
        "write_statistics": False,
    }


def in_bucket(parts: Sequence[Part], bucket: int, buckets: int) -> list[Part]:
    """The parts of one of ``buckets`` buckets, which were written as at least as many."""
    return [part for part in parts if part.bucket % buckets == bucket]


def read_parts(folder: UPath, parts: Sequence[Part], columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of some parts, a row group in memory at a time."""
    import pyarrow.parquet as pq

    for part in parts:
        with (folder / part.name).open("rb") as file:
            yield from pq.ParquetFile(file).iter_batches(columns=columns)


def _leaves(kind: pa.Schema | pa.DataType, path: str = "") -> list[str]:
    """The columns as Parquet names them, where what is nested is a column each."""
    import pyarrow as pa

    if isinstance(kind, pa.Schema) or pa.types.is_struct(kind):
        start = f"{path}." if path else ""
        return [leaf for entry in kind for leaf in _leaves(entry.type, start + entry.name)]
    return _leaves(kind.value_type, f"{path}.list.element") if pa.types.is_list(kind) else [path]


def _name(bucket: int) -> str:
    return f"part-{bucket:05d}.parquet"
