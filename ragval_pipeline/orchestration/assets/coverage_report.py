"""``coverage_report``: which pages of the sitemap have chunks, which have none, and which chunks have no page."""

from datetime import UTC, datetime

from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.validation.measurement import Measurement


def compare_pages(inventory: SiteInventory, manifest: SnapshotManifest) -> Measurement:
    """Compare the pages of the sitemap with those of the index."""
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.coverage.compare import measure_coverage
    from ragval_pipeline.validation.coverage.indexed import COLUMNS, collect_pages

    indexed = collect_pages(Snapshot(manifest).rows(COLUMNS))
    return measure_coverage(inventory, indexed, points=manifest.points, now=datetime.now(UTC))
