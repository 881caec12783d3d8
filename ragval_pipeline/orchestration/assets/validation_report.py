"""``validation_report``: the verdict on the index, written with all its evidence."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.metadata import numbers, table
from ragval_pipeline.orchestration.names import (
    PAYLOAD_SNAPSHOT,
    SITEMAP_URLS,
    VALIDATION_REPORT,
    asset_key,
)
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.run_place import run_place
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.report import ValidationReport


def build_validation_report(suite: Suite, measuring: Sequence[str]) -> dg.AssetsDefinition:
    """The asset.

    Args:
        suite: The suite.
        measuring: Names of the measuring assets that the report gathers.
    """
    ins = {
        **upstream(suite, inventory=SITEMAP_URLS, manifest=PAYLOAD_SNAPSHOT),
        **{name: dg.AssetIn(asset_key(suite.suite, name), dagster_type=Measurement) for name in measuring},
    }

    @suite_asset(suite, VALIDATION_REPORT, kinds={"json", "html"}, ins=ins, description=__doc__)
    def validation_report(
        context: dg.AssetExecutionContext,
        inventory: SiteInventory,
        manifest: SnapshotManifest,
        **measurements: Measurement,
    ) -> dg.MaterializeResult[ValidationReport]:
        from ragval_pipeline.orchestration.report import write_report

        resolved = resolve_suite(suite)
        place = run_place(context, resolved)
        progress_of(VALIDATION_REPORT)(0, None)
        gathered = list(measurements.values())
        report, folder = write_report(resolved, place, gathered, inventory=inventory, manifest=manifest)
        progress_of(VALIDATION_REPORT)(1, 1)
        return dg.MaterializeResult(value=report, metadata=_metadata(report, folder))

    return validation_report


def _metadata(report: ValidationReport, folder: str) -> dict[str, Any]:
    from ragval_pipeline.reporting.markdown import summary_md

    values = {criterion.name: criterion.value for criterion in report.criteria}
    severities = [finding.severity for finding in report.findings]
    rows = [
        {
            "criterion": criterion.name,
            "verdict": criterion.verdict,
            "value": criterion.value,
            "gate": "" if criterion.threshold is None else f"{criterion.operator} {criterion.threshold:g}",
            "required": criterion.required,
            "reason": criterion.reason,
        }
        for criterion in sorted(report.criteria, key=lambda criterion: not criterion.required)
    ]
    return {
        **numbers(values),
        **numbers(
            {
                "pass_rate": report.pass_rate,
                "warning_findings": severities.count("warning"),
                "duration_seconds": report.duration_seconds,
            }
        ),
        "verdict": dg.MetadataValue.text(report.verdict),
        "criteria": table(rows, ("criterion", "verdict", "value", "gate", "required", "reason")),
        "summary": dg.MetadataValue.md(summary_md(report).decode()),
        "report": dg.MetadataValue.path(f"{folder}/report.html"),
    }
