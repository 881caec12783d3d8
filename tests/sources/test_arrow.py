from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ragval_pipeline.sources.arrow import array_from, array_of, constant, numbers_of, one_of, without_nulls

TEXTS = pa.string()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], TEXTS),
        (["", "a", "ä\U0001f600", "\0"], TEXTS),
        ([None, "a", None], TEXTS),
        ([b"", b"\xff\0", None], pa.binary()),
        ([True, None, False, *[True] * 9], pa.bool_()),
        ([1, None, -(2**63), 2**63 - 1], pa.int64()),
        ([2**64 - 1], pa.uint64()),
        ([0.5, None], pa.float64()),
        ([["a", "b"], [], None, ["", "ä"]], pa.list_(TEXTS)),
        ([(1, 2), (), (3,)], pa.list_(pa.int32())),
        ([[None, "a"]], pa.list_(TEXTS)),
    ],
)
def test_values_become_the_array_that_arrow_itself_would_make(values: list[Any], kind: pa.DataType) -> None:
    made = array_of(values, kind)
    made.validate(full=True)
    assert made == pa.array(values, kind)


def test_a_struct_takes_its_fields_from_attributes() -> None:
    kind = pa.list_(pa.struct([("name", TEXTS), ("size", pa.int32())]))
    entries = [[SimpleNamespace(name="a", size=1)], []]
    assert array_of(entries, kind).to_pylist() == [[{"name": "a", "size": 1}], []]


@pytest.mark.parametrize(
    ("values", "kind", "error"),
    [(["\ud800"], TEXTS, UnicodeEncodeError), ([2**63], pa.int64(), OverflowError), ([300], pa.int8(), OverflowError)],
)
def test_a_value_without_room_is_an_error(values: list[Any], kind: pa.DataType, error: type[Exception]) -> None:
    with pytest.raises(error):
        array_of(values, kind)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint64, np.float64, np.bool_])
def test_numbers_go_to_arrow_and_come_back_also_from_the_middle_and_in_pieces(kind: type[np.generic]) -> None:
    numbers = (np.arange(20) % 3).astype(kind)
    array = array_from(numbers)
    array.validate(full=True)
    assert array.to_pylist() == numbers.tolist()
    pieces = pa.chunked_array([array.slice(3, 9), array.slice(12)])
    for found in (numbers_of(pieces), numbers_of(array.slice(3))):
        assert found.dtype == numbers.dtype
        assert found.tolist() == numbers[3:].tolist()
    assert numbers_of(array.slice(0, 0)).tolist() == numbers_of(pa.chunked_array([], array.type)).tolist() == []


def test_every_second_number_goes_to_arrow_as_well() -> None:
    assert array_from(np.arange(6)[::2]).to_pylist() == [0, 2, 4]


def test_what_is_missing_is_null_in_arrow_and_nan_in_numpy() -> None:
    array = array_from(np.arange(3), missing=np.array([False, True, False]))
    assert array.to_pylist() == [0, None, 2]
    first, second, third = numbers_of(array).tolist()
    assert (first, third) == (0, 2)
    assert math.isnan(second)
    assert without_nulls(array, -1).to_pylist() == [0, -1, 2]
    assert numbers_of(array_of([True, None, False], pa.bool_())).tolist() == [True, False, False]


def test_a_constant_has_the_type_of_its_value() -> None:
    kinds = [constant(value).type for value in (1, 1.0, "1")]
    assert kinds == [pa.int64(), pa.float64(), pa.string()]
    assert constant(1, pa.int8()).type == pa.int8()


def test_rows_are_chosen_by_the_texts_of_a_column_and_a_row_without_one_is_not() -> None:
    rows = pa.record_batch({"name": array_of(["a", None, "b", "a"], TEXTS)})
    assert one_of("name", {"a", "c"})(rows).to_pylist() == [True, False, False, True]
    assert one_of("name", ())(rows).to_pylist() == [False] * 4
