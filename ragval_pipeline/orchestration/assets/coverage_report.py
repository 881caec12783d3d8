"""``coverage_report``: which pages of the sitemap have chunks, which have none, and which chunks have no page."""

from datetime import UTC, datetime

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.measuring import measure
from ragval_pipeline.orchestration.names import COVERAGE_REPORT, PAYLOAD_SNAPSHOT, SITEMAP_URLS
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def build_coverage_report(suite: Suite) -> dg.AssetsDefinition:
    """The asset."""

    @suite_asset(
        suite,
        COVERAGE_REPORT,
        kinds={"json"},
        ins=upstream(suite, inventory=SITEMAP_URLS, manifest=PAYLOAD_SNAPSHOT),
        description=__doc__,
    )
    def coverage_report(
        context: dg.AssetExecutionContext, inventory: SiteInventory, manifest: SnapshotManifest
    ) -> dg.MaterializeResult[Measurement]:
        def work() -> Measurement:
            from ragval_pipeline.sources.snapshot.reader import Snapshot
            from ragval_pipeline.validation.coverage.compare import measure_coverage
            from ragval_pipeline.validation.coverage.indexed import COLUMNS, collect_pages

            indexed = collect_pages(Snapshot(manifest).rows(COLUMNS))
            return measure_coverage(inventory, indexed, points=manifest.points, now=datetime.now(UTC))

        return measure(context, asset=COVERAGE_REPORT, severities=suite.severity, work=work)

    return coverage_report
