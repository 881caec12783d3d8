"""``content_integrity``: whether each chunk stands on its page, and each page's content in its chunks."""

import dagster as dg

from ragval_pipeline.orchestration.assets.chunk_facts import run_facts
from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.measuring import measure
from ragval_pipeline.orchestration.names import CONTENT_INTEGRITY, PAGE_COPIES, PAYLOAD_SNAPSHOT
from ragval_pipeline.orchestration.run_place import run_place
from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def build_content_integrity(suite: Suite) -> dg.AssetsDefinition:
    """The asset."""

    @suite_asset(
        suite,
        CONTENT_INTEGRITY,
        kinds={"parquet"},
        ins=upstream(suite, pages=PAGE_COPIES, manifest=PAYLOAD_SNAPSHOT),
        description=__doc__,
    )
    def content_integrity(
        context: dg.AssetExecutionContext, pages: PageCopiesManifest, manifest: SnapshotManifest
    ) -> dg.MaterializeResult[Measurement]:
        def work() -> Measurement:
            from ragval_pipeline.validation.integrity.measure import measure_integrity

            return measure_integrity(run_facts(run_place(context, resolve_suite(suite)), pages, manifest))

        return measure(
            context,
            asset=CONTENT_INTEGRITY,
            work=work,
            severities=suite.severity,
        )

    return content_integrity
