from __future__ import annotations

import pytest

from ragval_pipeline.reporting.profiles.entities import is_share


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, 1.0000002, -1e-7])
def test_a_cosine_a_rounding_beyond_its_range_breaks_no_rule(value: float) -> None:
    assert is_share(value)


@pytest.mark.parametrize("value", [-0.02, 1.01])
def test_a_value_beyond_rounding_breaks_the_rule(value: float) -> None:
    assert not is_share(value)
