"""``metadata_expectations``: whether every point holds the metadata that readers rely on, also as a GX suite."""

from datetime import UTC, datetime
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.measuring import measure
from ragval_pipeline.orchestration.names import METADATA_EXPECTATIONS, PAYLOAD_SNAPSHOT, SITEMAP_URLS
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def build_metadata_expectations(suite: Suite) -> dg.AssetsDefinition:
    """The asset."""

    @suite_asset(
        suite,
        METADATA_EXPECTATIONS,
        kinds={"greatexpectations"},
        ins=upstream(suite, inventory=SITEMAP_URLS, manifest=PAYLOAD_SNAPSHOT),
        description=__doc__,
    )
    def metadata_expectations(
        context: dg.AssetExecutionContext, inventory: SiteInventory, manifest: SnapshotManifest
    ) -> dg.MaterializeResult[Measurement]:
        return measure(
            context,
            asset=METADATA_EXPECTATIONS,
            groups=frozenset({"metadata"}),
            severities=suite.severity,
            work=lambda: judge_payload(manifest, urls_required=inventory.configured),
        )

    return metadata_expectations


def judge_payload(manifest: SnapshotManifest, *, urls_required: bool) -> Measurement:
    """Count the four levels over the snapshot and have Great Expectations judge the same points."""
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.metadata.expectations import run_expectations
    from ragval_pipeline.validation.metadata.levels import count_levels, needed_columns
    from ragval_pipeline.validation.metadata.measure import measure_metadata

    snapshot, now = Snapshot(manifest), datetime.now(UTC)
    columns = needed_columns(manifest.fields, manifest.required)
    arguments: dict[str, Any] = {
        "fields": manifest.fields, "required": manifest.required, "now": now, "urls_required": urls_required,
    }  # fmt: skip
    counts = count_levels(snapshot.batches(columns), **arguments)
    expectations = run_expectations(snapshot.table(columns), **arguments) if manifest.points else {}
    return measure_metadata(counts, fields=manifest.fields, expectations=expectations)
