from __future__ import annotations

import pytest

from ragval_pipeline.validation.vectors.sample import spread_over


@pytest.mark.parametrize(
    ("number", "wanted", "expected"),
    [(3, 5, [0, 1, 2]), (10, 5, [0, 2, 4, 6, 8]), (7, 3, [0, 2, 4]), (5, 5, [0, 1, 2, 3, 4]), (0, 3, []), (4, 0, [])],
)
def test_items_are_taken_evenly_and_in_their_order(number: int, wanted: int, expected: list[int]) -> None:
    assert spread_over(range(number), wanted) == expected
