"""``quality_metrics``: distributions of chunk sizes and similarity scores."""

from datetime import UTC, datetime

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.measuring import measure
from ragval_pipeline.orchestration.names import (
    PAYLOAD_SNAPSHOT,
    QUALITY_METRICS,
    QUERY_VALIDATION_RESULTS,
)
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def build_quality_metrics(suite: Suite) -> dg.AssetsDefinition:
    """The asset; cheap, so it is measured whatever groups are selected."""

    @suite_asset(
        suite,
        QUALITY_METRICS,
        kinds={"json"},
        ins=upstream(suite, manifest=PAYLOAD_SNAPSHOT, queries=QUERY_VALIDATION_RESULTS),
        description=__doc__,
    )
    def quality_metrics(
        context: dg.AssetExecutionContext, manifest: SnapshotManifest, queries: Measurement
    ) -> dg.MaterializeResult[Measurement]:
        def work() -> Measurement:
            from ragval_pipeline.sources.snapshot.reader import Snapshot
            from ragval_pipeline.validation.quality import measure_quality
            from ragval_pipeline.validation.report import QueryReport

            results = map(QueryReport.model_validate, queries.sections.get("query_results", []))
            scores = [entry.best_similarity for entry in results if entry.counted and entry.best_similarity is not None]
            counts = (row["token_count"] for row in Snapshot(manifest).rows(("token_count",)))
            return measure_quality(
                token_counts=counts, best_scores=scores, points=manifest.points, now=datetime.now(UTC)
            )

        return measure(context, asset=QUALITY_METRICS, severities=suite.severity, work=work)

    return quality_metrics
