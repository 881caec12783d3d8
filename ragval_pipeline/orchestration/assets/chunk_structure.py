"""``chunk_structure``: whether the chunks of each page are complete and single."""

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.measuring import measure
from ragval_pipeline.orchestration.names import CHUNK_STRUCTURE, PAYLOAD_SNAPSHOT
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def build_chunk_structure(suite: Suite) -> dg.AssetsDefinition:
    """The asset."""

    @suite_asset(
        suite,
        CHUNK_STRUCTURE,
        kinds={"parquet"},
        ins=upstream(suite, manifest=PAYLOAD_SNAPSHOT),
        description=__doc__,
    )
    def chunk_structure(
        context: dg.AssetExecutionContext, manifest: SnapshotManifest
    ) -> dg.MaterializeResult[Measurement]:
        def work() -> Measurement:
            from ragval_pipeline.sources.snapshot.reader import Snapshot
            from ragval_pipeline.validation.chunks.order import COLUMNS, collect_order, order_findings

            findings = order_findings(collect_order(Snapshot(manifest).rows(COLUMNS)))
            return Measurement(asset=CHUNK_STRUCTURE, findings=tuple(findings))

        return measure(
            context, asset=CHUNK_STRUCTURE, groups=frozenset({"chunks"}), severities=suite.severity, work=work
        )

    return chunk_structure
