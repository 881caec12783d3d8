"""Collections of a few points: what can be said of them is said, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from tests.validation.vectors.space import SIZE, embedded, other_model, space, subjects

SIZES = [2, 3, 5, 13]


@pytest.mark.parametrize("number", SIZES)
def test_two_swapped_vectors_among_a_few_are_named(number: int) -> None:
    points = space(number)
    points.vectors[0], points.vectors[1] = points.vectors[1], points.vectors[0]
    assert subjects(points.examined()) == {"vector.swapped": points.named([0, 1])}


@pytest.mark.parametrize("number", SIZES)
def test_a_copied_vector_among_a_few_names_both(number: int) -> None:
    points = space(number)
    points.vectors[1] = points.vectors[0]
    assert subjects(points.examined()) == {
        "vector.identical": points.named([0, 1]),
        "vector.text_mismatch": points.named([1]),
    }


@pytest.mark.parametrize("number", SIZES)
def test_a_zero_and_a_missing_vector_among_a_few_are_named(number: int) -> None:
    points = space(number)
    points.vectors[0] = np.zeros(SIZE, dtype=np.float32)
    points.vectors[1] = None
    assert subjects(points.examined()) == {"vector.zero": points.named([0]), "vector.missing": points.named([1])}


@pytest.mark.parametrize("number", [3, 5, 13])
def test_another_model_for_a_few_points_is_a_mismatch(number: int) -> None:
    points = space(number)
    points.vectors = list(other_model(points.vectors))
    [finding] = points.examined().findings
    assert finding.code == "vector.model_mismatch"
    assert "unrelated" in finding.cause


@pytest.mark.parametrize("number", [6, 13])
def test_half_of_a_few_points_from_another_model_is_a_part(number: int) -> None:
    points = space(number)
    half = number // 2
    points.vectors[:half] = other_model(points.vectors[:half])
    assert subjects(points.examined()) == {"vector.mixed_models": points.named(range(half))}


@pytest.mark.parametrize("joint", ["\n", ": ", " - "])
@pytest.mark.parametrize("number", [5, 60])
def test_a_title_in_front_is_found_out_however_it_is_joined(number: int, joint: str) -> None:
    points = space(number)
    points.vectors = list(embedded([f"{row['title']}{joint}{row['text']}" for row in points.rows]))
    [finding] = points.examined().findings
    assert finding.code == "vector.model_mismatch"
    assert "the page title in front" in finding.cause
