"""Statistics of chunks and scores: ``retrieval-pipeline-testing``'s QualityMetrics."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from datetime import datetime

from ragval_pipeline.text.times import utc_text
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.report import Distribution, QualityMetrics

ASSET = "quality_metrics"


def distribution(numbers: Iterable[float]) -> Distribution:
    """Smallest, largest, mean and median; all None without numbers."""
    values = list(numbers)
    if not values:
        return Distribution()
    return Distribution(
        min=min(values), max=max(values), avg=statistics.fmean(values), median=statistics.median(values)
    )


def measure_quality(
    *, token_counts: Iterable[int | None], best_scores: Sequence[float], points: int, now: datetime
) -> Measurement:
    """Distributions of stored token counts and of the best score of every query with hits.

    Args:
        token_counts: Stored token count of each point, or None.
        best_scores: Best raw score of each query with hits, negative queries included.
        points: Points of the collection.
        now: Time of the run, aware.
    """
    scores = distribution(best_scores)
    metrics = QualityMetrics(
        total_chunks=points,
        token_distribution=distribution(count for count in token_counts if count is not None),
        similarity_distribution=scores,
        avg_similarity_score=scores.avg,
        timestamp=utc_text(now),
    )
    return Measurement(asset=ASSET, sections={"quality_metrics": metrics.model_dump()})
