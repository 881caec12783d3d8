"""Conversion between Arrow arrays and Python or NumPy values, without pandas.

Arrow imports pandas to check whether its input is a series, unless that is an Arrow array, and for ``to_numpy``. That
is a fifth of a small run's import time, and takes a worker as long as a thousand chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import np, pa, pc

if TYPE_CHECKING:
    from numpy.typing import NDArray


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Values as an Arrow array; an entry of a list of structs has their fields as attributes.

    Args:
        values: Texts, bytes, booleans, numbers, lists or structs, all of one type; None for missing values.
        kind: Their type.

    Raises:
        UnicodeEncodeError: A text with a lone surrogate.
        OverflowError: A number out of the type's range.
    """
    count = len(values)
    valid = None
    if type(None) in map(type, values):
        valid = _bits([value is not None for value in values])
        absent: Any = "" if pa.types.is_string(kind) else b"" if pa.types.is_binary(kind) else 0
        absent = () if pa.types.is_list(kind) else absent
        values = [absent if value is None else value for value in values]
    if pa.types.is_list(kind):
        return pa.Array.from_buffers(kind, count, [valid, _ends_of(map(len, values))], children=[_flat(values, kind)])
    if pa.types.is_struct(kind):
        entries = [array_of(list(map(attrgetter(entry.name), values)), entry.type) for entry in kind]
        return pa.Array.from_buffers(kind, count, [valid], children=entries)
    if pa.types.is_string(kind):
        # Most columns are plain: joined first, their letters are encoded at once.
        plain = all(map(str.isascii, values))
        encoded = values if plain else [value.encode() for value in values]
        data = "".join(values).encode() if plain else b"".join(encoded)
        return pa.Array.from_buffers(kind, count, [valid, _ends_of(map(len, encoded)), pa.py_buffer(data)])
    if pa.types.is_binary(kind):
        return pa.Array.from_buffers(kind, count, [valid, _ends_of(map(len, values)), pa.py_buffer(b"".join(values))])
    if pa.types.is_boolean(kind):
        return pa.Array.from_buffers(kind, count, [valid, _bits(values)])
    numbers = np.fromiter(values, kind.to_pandas_dtype(), count)
    return pa.Array.from_buffers(kind, count, [valid, pa.py_buffer(numbers)])


def table_of(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """A row for each mapping, whose absent values are null; as ``array_of``, without importing pandas."""
    columns = [array_of([row.get(entry.name) for row in rows], entry.type) for entry in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def array_from(values: NDArray[Any], *, missing: NDArray[Any] | None = None) -> pa.Array:
    """NumPy numbers or booleans as an Arrow array; null where ``missing`` is true."""
    valid = None if missing is None else _bits(~missing)
    data = _bits(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


@lru_cache(maxsize=256, typed=True)
def constant(value: str | int | float, kind: pa.DataType | None = None) -> pa.Scalar:
    """A value to compare a column with; its type follows from the Python type."""
    usual = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    return array_of([value], kind or usual[type(value)])[0]


def one_of(column: str, texts: Collection[str]) -> Callable[[pa.RecordBatch | pa.Table], pa.BooleanArray]:
    """Select the rows of a batch with one of some texts in a column."""
    wanted = array_of([*texts], pa.string())
    return lambda rows: pc.is_in(rows.column(column), wanted)


def none_of(column: str, texts: Collection[str]) -> Callable[[pa.RecordBatch | pa.Table], pa.BooleanArray]:
    """Select the rows of a batch with none of some texts in a column."""
    chosen = one_of(column, texts)
    return lambda rows: pc.invert(chosen(rows))


def without_nulls(array: pa.Array | pa.ChunkedArray, value: str | int) -> pa.Array | pa.ChunkedArray:
    """The array with nulls replaced by a value."""
    return pc.coalesce(array, constant(value, array.type)) if array.null_count else array


def numbers_of(array: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Arrow numbers or booleans as a NumPy array, without a copy if possible; nulls are NaN, or false for booleans."""
    if isinstance(array, pa.ChunkedArray):
        return np.concatenate([numbers_of(array.chunk(number)) for number in range(array.num_chunks)] or [_none(array)])
    valid, data = array.buffers()
    if data is None:
        return _none(array)
    if pa.types.is_boolean(array.type):
        values = _truths(data, array)
        return values if valid is None else values & _truths(valid, array)
    values = np.frombuffer(data, array.type.to_pandas_dtype())[array.offset : array.offset + len(array)]
    return np.where(_truths(valid, array), values, np.nan) if array.null_count else values


def _none(array: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    return np.zeros(len(array), array.type.to_pandas_dtype())


def _truths(bits: pa.Buffer, array: pa.Array) -> NDArray[Any]:
    end = array.offset + len(array)
    held = np.frombuffer(bits, np.uint8)
    return np.unpackbits(held, count=end, bitorder="little")[array.offset :].astype(np.bool_)


def _flat(lists: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """The entries of all lists; lists of numbers may be arrays."""
    of = kind.value_type
    if not pa.types.is_integer(of) or not lists or isinstance(lists[0], tuple):
        return array_of(list(chain.from_iterable(lists)), of)
    numbers = np.concatenate([np.asarray(entry, dtype=of.to_pandas_dtype()) for entry in lists])
    return pa.Array.from_buffers(of, len(numbers), [None, pa.py_buffer(numbers)])


def _bits(values: Sequence[bool] | NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.array(values, dtype=np.bool_), bitorder="little"))


def _ends_of(lengths: Iterable[int]) -> pa.Buffer:
    """Offsets of the values in the joined data, beginning with zero."""
    offsets = np.cumsum(np.fromiter(chain([0], lengths), np.int64))
    if offsets[-1] > np.iinfo(np.int32).max:
        raise OverflowError("more than 2 GiB in one column")
    return pa.py_buffer(offsets.astype(np.int32))
