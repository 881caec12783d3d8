"""``quality_metrics``: distributions of chunk sizes and similarity scores."""

from datetime import UTC, datetime

from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.validation.measurement import Measurement


def describe_quality(manifest: SnapshotManifest, answers: Measurement) -> Measurement:
    """Describe chunks and answers; cheap, so it is done whatever groups are selected."""
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.quality import measure_quality
    from ragval_pipeline.validation.report import query_results_of

    results = query_results_of(answers.sections)
    scores = [entry.best_similarity for entry in results if entry.counted and entry.best_similarity is not None]
    counts = (row["token_count"] for row in Snapshot(manifest).rows(("token_count",)))
    return measure_quality(token_counts=counts, best_scores=scores, points=manifest.points, now=datetime.now(UTC))
