"""Rows of Arrow tables as bytes that no other rows have, and digests of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.sources.arrow import array_of, constant

#: Bytes of a digest: two different contents have the same one by chance once in 2**64 pairs.
DIGEST = 16
#: Stands for a missing value; a present one begins with its length.
_MISSING = "~"


def digest_of(*parts: bytes | memoryview) -> bytes:
    """A digest of some parts in order, each counted with its length."""
    found = hashlib.blake2b(digest_size=DIGEST)
    for part in parts:
        found.update(b"%d:" % len(part))
        found.update(part)
    return found.digest()


def encoded_rows(rows: pa.Table, columns: Sequence[str]) -> pa.Array:
    """Each row as a text that differs whenever any of its values does.

    Args:
        rows: A table; its columns have texts, numbers, booleans, and lists and structs of them.
        columns: Names of the columns that count.

    Raises:
        pyarrow.ArrowException: The texts have more than 2 GiB together.
    """
    return _joined([_encoded(rows.column(name).combine_chunks()) for name in columns], len(rows))


def slices_of(texts: pa.Array, ends: Sequence[int]) -> Iterator[memoryview]:
    """The bytes of consecutive rows; ``ends`` begins with 0."""
    _, offsets, content = texts.buffers()
    places = memoryview(offsets).cast("i")[texts.offset : texts.offset + len(texts) + 1]
    held = memoryview(content if content is not None else b"")
    return (held[places[start] : places[end]] for start, end in pairwise(ends))


def _encoded(values: pa.Array) -> pa.Array:
    """Each value as a text: its length or number of entries, then itself; no text is the beginning of another one."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _encoded(values.dictionary_decode())
    if pa.types.is_struct(kind):
        return _joined([_encoded(field) for field in values.flatten()], len(values))
    if pa.types.is_list(kind):
        counts = pc.list_value_length(values)
        ends = pc.cumulative_sum(pc.coalesce(counts, constant(0, pa.int32())))
        starts = pa.concat_arrays([array_of([0], pa.int32()), ends.cast(pa.int32())])
        entries = pc.binary_join(pa.ListArray.from_arrays(starts, _encoded(values.flatten())), constant(""))
        return _beside(counts.cast(pa.string()), entries, "[")
    texts = values if pa.types.is_string(kind) else values.cast(pa.string())
    return _beside(pc.binary_length(texts).cast(pa.string()), texts, ":")


def _beside(lengths: pa.Array, texts: pa.Array, sign: str) -> pa.Array:
    return pc.binary_join_element_wise(
        lengths, texts, constant(sign), null_handling="replace", null_replacement=_MISSING
    )


def _joined(columns: Sequence[pa.Array], rows: int) -> pa.Array:
    if not columns:
        return array_of([""] * rows, pa.string())
    return pc.binary_join_element_wise(*columns, constant("")) if len(columns) > 1 else columns[0]
