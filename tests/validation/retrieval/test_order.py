from __future__ import annotations

import math

import pytest

from ragval_pipeline.sources.stores.qdrant.facts import Distance
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.retrieval.repeats import invalid_order


def hits(*scores: float) -> tuple[Hit, ...]:
    return tuple(Hit(rank, f"{rank}", score) for rank, score in enumerate(scores, 1))


@pytest.mark.parametrize(
    ("distance", "scores"),
    [
        ("Cosine", (1.00000006, 0.5, 0.5, -1.0)),
        ("Cosine", (0.5, 0.5000005)),
        ("Cosine", ()),
        ("Dot", (1200.0, 3.0, -40.0)),
        ("Euclid", (0.0, 0.2, 17.0)),
        ("Manhattan", (1.0, 1.0, 90.0)),
    ],
)
def test_best_first_within_the_range_is_right(distance: Distance, scores: tuple[float, ...]) -> None:
    assert invalid_order(hits(*scores), distance) is None


@pytest.mark.parametrize(
    ("distance", "scores", "problem", "rank"),
    [
        ("Cosine", (0.4, 0.5), "order", 2),
        ("Cosine", (0.6, 0.5, 0.500002), "order", 3),
        ("Euclid", (0.5, 0.4), "order", 2),
        ("Cosine", (1.2, 0.4), "range", 1),
        ("Cosine", (0.4, -1.1), "range", 2),
        ("Manhattan", (-0.1, 0.4), "range", 1),
        ("Cosine", (0.4, math.nan), "range", 2),
        ("Dot", (math.inf, 0.4), "range", 1),
        ("Dot", (0.4, -math.inf), "range", 2),
        ("Dot", (math.nan, 0.4), "range", 1),
        ("Euclid", (0.4, math.inf), "range", 2),
    ],
)
def test_what_is_wrong_is_said_with_its_rank(
    distance: Distance, scores: tuple[float, ...], problem: str, rank: int
) -> None:
    found = invalid_order(hits(*scores), distance)
    assert found is not None
    assert (found["problem"], found["rank"]) == (problem, rank)
