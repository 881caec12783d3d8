"""``validation_report``: the verdict on the index, written with all its evidence."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.costs import counted_embedding
from ragval_pipeline.orchestration.measuring import log_crash
from ragval_pipeline.orchestration.metadata import console_link, numbers, offenders_metadata, short, table
from ragval_pipeline.orchestration.names import (
    PAGE_COPIES,
    PAYLOAD_SNAPSHOT,
    SITEMAP_URLS,
    VALIDATION_REPORT,
    asset_key,
    resource_key,
)
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.run_place import run_place
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from ragval_pipeline.orchestration.repairs import Trial
    from ragval_pipeline.validation.repair.simulate import Simulated
    from ragval_pipeline.validation.report import ValidationReport


def build_validation_report(suite: Suite, measuring: Sequence[str]) -> dg.AssetsDefinition:
    """The asset.

    Args:
        suite: The suite.
        measuring: Names of the measuring assets that the report gathers.
    """
    ins = {
        **upstream(suite, inventory=SITEMAP_URLS, manifest=PAYLOAD_SNAPSHOT, pages=PAGE_COPIES),
        **{name: dg.AssetIn(asset_key(suite.suite, name), dagster_type=Measurement) for name in measuring},
    }

    @suite_asset(
        suite,
        VALIDATION_REPORT,
        kinds={"json", "html"},
        resources=("qdrant", "embedder"),
        ins=ins,
        description=__doc__,
        freshness_policy=freshness_of(suite),
    )
    def validation_report(
        context: dg.AssetExecutionContext,
        inventory: SiteInventory,
        manifest: SnapshotManifest,
        pages: PageCopiesManifest,
        **measurements: Measurement,
    ) -> dg.MaterializeResult[Any]:  # naming the report's model would load it with the definitions
        from ragval_pipeline.orchestration.repairs import Trial
        from ragval_pipeline.orchestration.report import write_report

        resolved = resolve_suite(suite)
        place = run_place(context, resolved)
        progress_of(VALIDATION_REPORT)(0, None)
        gathered = list(measurements.values())
        embedding = counted_embedding(context, suite)
        connection = getattr(context.resources, resource_key(suite.suite, "qdrant"))
        trial = Trial(resolved, inventory, manifest, pages, connection, embedding)
        simulated = _simulated(context, trial, gathered)
        gathered.append(Measurement(asset="repairs", sections=embedding.section()))
        report, folder = write_report(
            resolved, place, gathered, inventory=inventory, manifest=manifest, pages=pages, simulated=simulated
        )
        progress_of(VALIDATION_REPORT)(1, 1)
        return dg.MaterializeResult(value=report, metadata=_metadata(report, folder))

    return validation_report


def _simulated(
    context: dg.AssetExecutionContext, trial: "Trial", measurements: Sequence[Measurement]
) -> "Simulated | None":
    """What the repairs of the causes would clear; a defect of the simulation costs its claims, never the report."""
    from ragval_pipeline.validation.assemble import graded_findings

    try:
        simulated = trial.run(graded_findings(measurements, trial.suite.severity))
    except Exception as error:  # noqa: BLE001  it is logged, and nothing is claimed
        log_crash(context, VALIDATION_REPORT, error)
        return None
    for code, reason in simulated.left_out.items():
        context.log.info("the repair of %s was not simulated: %s", code, reason)
    return simulated


def freshness_of(suite: Suite) -> dg.FreshnessPolicy | None:
    """The policy that marks the report stale after ``automation.fresh_within_hours``; null when the suite has none."""
    hours = suite.automation.fresh_within_hours
    if hours is None:
        return None
    # Dagster knows no window below a minute.
    return dg.FreshnessPolicy.time_window(fail_window=max(timedelta(hours=hours), timedelta(minutes=1)))


def _metadata(report: "ValidationReport", folder: str) -> dict[str, Any]:
    """What the page of the report shows, the verdict first: the UI keeps this order."""
    from ragval_pipeline.reporting.markdown import summary_md

    severities = [finding.severity for finding in report.findings]
    counts = {
        "pass_rate": report.pass_rate,
        "warning_findings": severities.count("warning"),
        "duration_seconds": report.duration_seconds,
    }
    return {
        "verdict": dg.MetadataValue.text(report.verdict),
        "summary": dg.MetadataValue.md(summary_md(report).decode()),
        "report": dg.MetadataValue.path(f"{folder}/report.html"),
        **console_link(f"{folder}/report.html"),
        "collection": dg.MetadataValue.text(report.collection_name),
        "gates": table(_gates(report), ("criterion", "verdict", "value", "gate", "reason")),
        **offenders_metadata(report.findings),
        **numbers({criterion.name: criterion.value for criterion in report.criteria}),
        **numbers(counts),
    }


def _gates(report: "ValidationReport") -> Iterator[dict[str, Any]]:
    """The required criteria, those that fail first."""
    required = [criterion for criterion in report.criteria if criterion.required]
    for criterion in sorted(required, key=lambda criterion: not criterion.gate_fails):
        yield {
            "criterion": criterion.name,
            "verdict": criterion.verdict,
            "value": short(criterion.value),
            "gate": "none" if criterion.threshold is None else f"{criterion.operator} {criterion.threshold:g}",
            "reason": criterion.reason,
        }
