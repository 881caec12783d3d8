from __future__ import annotations

import pytest

from ragval_pipeline.validation.quality import distribution, measure_quality
from tests.validation.factory import NOW


def test_a_distribution_is_smallest_largest_mean_and_median() -> None:
    found = distribution([4, 1, 3, 10])
    assert (found.min, found.max, found.avg, found.median) == (1, 10, 4.5, 3.5)


def test_of_nothing_every_figure_is_null() -> None:
    assert set(distribution([]).model_dump().values()) == {None}


def test_the_seeds_metrics_are_filled_from_tokens_and_best_scores() -> None:
    measurement = measure_quality(token_counts=[450, None, 1024], best_scores=[0.65, -0.1, 0.92], points=3, now=NOW)
    metrics = measurement.sections["quality_metrics"]
    assert metrics["total_chunks"] == 3
    assert metrics["token_distribution"] == {"min": 450, "max": 1024, "avg": 737.0, "median": 737.0}
    assert metrics["similarity_distribution"]["min"] == -0.1
    assert metrics["avg_similarity_score"] == pytest.approx(0.49)
    assert metrics["chunks_with_complete_metadata"] is None
    assert metrics["metadata_completeness_rate"] is None
    assert metrics["timestamp"] == "2026-11-20T12:00:00.000Z"
    assert measurement.values == ()


def test_an_index_without_tokens_and_queries_has_null_figures_and_not_zeros() -> None:
    metrics = measure_quality(token_counts=[], best_scores=[], points=0, now=NOW).sections["quality_metrics"]
    assert metrics["total_chunks"] == 0
    assert metrics["avg_similarity_score"] is None
    assert set(metrics["token_distribution"].values()) == {None}
