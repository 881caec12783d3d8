"""The factory: from a suite to its assets, checks, job, schedule, sensor and resources.

What lives here: putting the parts together. What does not: any part. There are no module-global definitions, so tests,
other projects and the Component build the same thing with other parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.assets.chunk_structure import build_chunk_structure
from ragval_pipeline.orchestration.assets.content_integrity import build_content_integrity
from ragval_pipeline.orchestration.assets.coverage_report import build_coverage_report
from ragval_pipeline.orchestration.assets.golden_set import build_golden_set
from ragval_pipeline.orchestration.assets.index_health import build_index_health
from ragval_pipeline.orchestration.assets.latency_profile import build_latency_profile
from ragval_pipeline.orchestration.assets.metadata_expectations import build_metadata_expectations
from ragval_pipeline.orchestration.assets.page_copies import build_page_copies
from ragval_pipeline.orchestration.assets.payload_snapshot import build_payload_snapshot
from ragval_pipeline.orchestration.assets.quality_metrics import build_quality_metrics
from ragval_pipeline.orchestration.assets.query_validation_results import build_query_validation_results
from ragval_pipeline.orchestration.assets.regression import build_regression
from ragval_pipeline.orchestration.assets.self_retrieval import build_self_retrieval
from ragval_pipeline.orchestration.assets.sitemap_urls import build_sitemap_urls
from ragval_pipeline.orchestration.assets.validation_report import build_validation_report
from ragval_pipeline.orchestration.assets.vector_health import build_vector_health
from ragval_pipeline.orchestration.checks import build_measurement_checks, build_report_gates, gated_criteria
from ragval_pipeline.orchestration.external import external_assets
from ragval_pipeline.orchestration.io_manager import ReportStoreIOManager
from ragval_pipeline.orchestration.jobs import build_job
from ragval_pipeline.orchestration.names import (
    CHUNK_STRUCTURE,
    CONTENT_INTEGRITY,
    COVERAGE_REPORT,
    GOLDEN_SET,
    INDEX_HEALTH,
    LATENCY_PROFILE,
    METADATA_EXPECTATIONS,
    PAGE_COPIES,
    PAYLOAD_SNAPSHOT,
    QUALITY_METRICS,
    QUERY_VALIDATION_RESULTS,
    REGRESSION,
    SELF_RETRIEVAL,
    SITEMAP_URLS,
    VALIDATION_REPORT,
    VECTOR_HEALTH,
    asset_key,
    resource_key,
)
from ragval_pipeline.orchestration.resources import EmbedderConnection, QdrantConnection
from ragval_pipeline.orchestration.triggers.condition import condition_for, with_condition
from ragval_pipeline.orchestration.triggers.schedule import build_schedule
from ragval_pipeline.orchestration.triggers.sensors import build_sensors
from ragval_pipeline.orchestration.triggers.upstream import watched_asset
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.suite.model import Suite

#: The measuring assets: name and builder, in the order in which the report gathers them.
MEASURING = {
    COVERAGE_REPORT: build_coverage_report,
    METADATA_EXPECTATIONS: build_metadata_expectations,
    CHUNK_STRUCTURE: build_chunk_structure,
    CONTENT_INTEGRITY: build_content_integrity,
    QUERY_VALIDATION_RESULTS: build_query_validation_results,
    SELF_RETRIEVAL: build_self_retrieval,
    GOLDEN_SET: build_golden_set,
    VECTOR_HEALTH: build_vector_health,
    INDEX_HEALTH: build_index_health,
    LATENCY_PROFILE: build_latency_profile,
    QUALITY_METRICS: build_quality_metrics,
    REGRESSION: build_regression,
}

#: Every asset of a suite, in the order in which they are built.
ASSETS = (SITEMAP_URLS, PAYLOAD_SNAPSHOT, PAGE_COPIES, *MEASURING, VALIDATION_REPORT)


def build_validation_defs(
    suite: Suite,
    *,
    resources: Mapping[str, Any] | None = None,
    executor: dg.ExecutorDefinition | None = None,
    io_manager: Any = None,
    upstream: dg.AssetKey | str | Sequence[str] | None = None,
    declarative: bool = False,
    inventory: SiteInventory | None = None,
) -> dg.Definitions:
    """Everything that one suite needs in a code location.

    Args:
        suite: As ``load_suite`` reads it; its placeholders are read when a run starts.
        resources: ``qdrant`` and ``embedder`` in place of the suite's own. ``qdrant`` may be anything with
            ``get_client()``.
        executor: Runs the steps; null: in the run's own process, because a validation is a few short steps.
        io_manager: Keeps values between assets; null: beside the reports, on any fsspec path.
        upstream: The asset that ingests; null: the suite's ``automation.after_asset``.
        declarative: An automation condition on every asset follows that asset, in place of the sensor.
        inventory: The site in place of what the sitemap says; None: ``sitemap_urls`` reads it.

    Returns:
        Definitions whose names all start with the suite's, so that several suites merge.

    Raises:
        SuiteError: ``automation`` names no cron expression, no asset key, no job, an asset or the job of the suite
            itself, or polls an embedded Qdrant.
    """
    watched = watched_asset(suite, upstream, [asset_key(suite.suite, name) for name in ASSETS])
    condition = condition_for(watched, declarative=declarative)
    assets = [
        build_sitemap_urls(suite, inventory),
        build_payload_snapshot(suite, ingestion=watched),
        build_page_copies(suite),
        *[build(suite) for build in MEASURING.values()],
        build_validation_report(suite, list(MEASURING)),
    ]
    keys = [asset.key for asset in assets]
    gated = gated_criteria(suite)
    checks = [build_measurement_checks(suite, name, gated, condition) for name in MEASURING]
    job = build_job(suite, keys, executor or dg.in_process_executor)
    if condition is not None:
        assets = with_condition(assets, condition)
    return dg.Definitions(
        assets=[*external_assets(suite, ingestion=watched), *assets],
        asset_checks=[*checks, build_report_gates(suite, gated, condition)],
        jobs=[job],
        schedules=[build_schedule(suite)],
        sensors=build_sensors(suite, watched, job, keys=keys, declarative=condition is not None),
        resources=_resources(suite, resources or {}, io_manager),
    )


def _resources(suite: Suite, given: Mapping[str, Any], io_manager: Any) -> dict[str, Any]:
    unknown = set(given) - {"qdrant", "embedder"}
    if unknown:
        raise ValueError(f"resources of a suite are qdrant and embedder, not {', '.join(sorted(unknown))}")
    parts = {
        "qdrant": given.get("qdrant") or QdrantConnection(url=None, api_key=None),
        "embedder": given.get("embedder") or EmbedderConnection(api_key=None, base_url=None),
        "io_manager": io_manager or store_of(suite),
    }
    return {resource_key(suite.suite, name): part for name, part in parts.items()}


def store_of(suite: Suite) -> ReportStoreIOManager:
    """The default IO manager: values beside the suite's reports."""
    separator = "" if suite.report_uri.endswith("/") else "/"
    return ReportStoreIOManager(base_uri=f"{suite.report_uri}{separator}{suite.suite}", folder=str(suite.folder))
