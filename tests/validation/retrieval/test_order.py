from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.facts import Distance
from ragval_pipeline.sources.stores.qdrant.protocol import Hit
from ragval_pipeline.validation.relational import find_by_query
from ragval_pipeline.validation.retrieval.outcome import Outcome
from tests.validation.factory import settings


def wrong(distance: Distance, *scores: float) -> list[dict[str, Any]]:
    """What is wrong with the hits of a query that have these scores."""
    hits = tuple(Hit(rank, f"{rank}", score) for rank, score in enumerate(scores, 1))
    outcome = Outcome((), (), {"q": Answer("q", hits)}, replace(settings(), distance=distance))
    found = find_by_query([CATALOGUE["retrieval.invalid_order"]], outcome)
    return [subject.details for finding in found for subject in finding.subjects]


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
    assert wrong(distance, *scores) == []


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
    [found] = wrong(distance, *scores)
    assert (found["problem"], found["rank"]) == (problem, rank)
