"""Arrow arrays of Python's values, without pandas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Values as Arrow has them; an entry of a list of structs has their fields as attributes.

    From buffers: ``pyarrow.array`` looks at each of a hundred hashes by itself, and imports pandas to ask whether a
    list is a series, which takes a worker as long as a thousand chunks.
    """
    import numpy as np
    import pyarrow as pa

    count = len(values)
    if pa.types.is_list(kind):
        ends = _ends_of(map(len, values), count)
        return pa.Array.from_buffers(kind, count, [None, ends], children=[_flat(values, kind.value_type)])
    if pa.types.is_struct(kind):
        entries = [array_of(list(map(attrgetter(entry.name), values)), entry.type) for entry in kind]
        return pa.Array.from_buffers(kind, count, [None], children=entries)
    valid = None
    if None in values:
        valid = _bits([value is not None for value in values])
    if pa.types.is_string(kind):
        encoded = [(value or "").encode() for value in values]
        data = pa.py_buffer(b"".join(encoded))
        return pa.Array.from_buffers(kind, count, [valid, _ends_of(map(len, encoded), count), data])
    if pa.types.is_boolean(kind):
        return pa.Array.from_buffers(kind, count, [valid, _bits(values)])
    held = values if valid is None else [value or 0 for value in values]
    return pa.Array.from_buffers(kind, count, [valid, pa.py_buffer(np.fromiter(held, kind.to_pandas_dtype(), count))])


def _flat(lists: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """The entries of all lists; those of numbers may be arrays."""
    import numpy as np
    import pyarrow as pa

    if not pa.types.is_integer(kind) or not lists or isinstance(lists[0], tuple):
        return array_of(list(chain.from_iterable(lists)), kind)
    numbers = np.concatenate([np.asarray(entry, dtype=kind.to_pandas_dtype()) for entry in lists])
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


def _bits(values: Sequence[bool]) -> pa.Buffer:
    import numpy as np
    import pyarrow as pa

    return pa.py_buffer(np.packbits(np.array(values, dtype=np.bool_), bitorder="little"))


def _ends_of(lengths: Iterable[int], count: int) -> pa.Buffer:
    """Where each value ends in the data of all, behind a zero."""
    import numpy as np
    import pyarrow as pa

    offsets = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.fromiter(lengths, np.int32, count), out=offsets[1:])
    return pa.py_buffer(offsets)
