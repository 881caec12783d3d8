"""``validation_report``: the verdict on the index, written with all its evidence."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg

from ragval_pipeline.orchestration.evidence import (
    COLLECTION,
    SITE,
    SUITE,
    collection_state,
    lineage,
    refusals,
    site_state,
    suite_state,
)
from ragval_pipeline.orchestration.measuring import Made
from ragval_pipeline.orchestration.metadata import console_link, gate_text, numbers, offenders_metadata, short, table
from ragval_pipeline.orchestration.names import VALIDATION_REPORT, job_name
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.task import Task
from ragval_pipeline.orchestration.values import Measured, PageSnapshot, PayloadSnapshot
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Failure, Measurement

if TYPE_CHECKING:
    from ragval_pipeline.validation.report import ValidationReport


def make_report(task: Task) -> Made:
    """Judge what this run measured, and write it; what is of another run, or of another index, is not measured.

    Raises:
        SystemFailure: It continues another run, and whether anything has changed since cannot be told.
    """
    from ragval_pipeline.orchestration.report import write_report

    progress_of(VALIDATION_REPORT)(0, None)
    refused = refusals(
        task.values,
        runs=lineage(task.context.instance, task.context.run),
        now=_states_now(task),
        job=job_name(task.suite.suite),
    )
    for reason in refused.values():
        task.context.log.warning("%s", reason)
    kept = {name: value for name, value in task.values.items() if name not in refused}
    index = next((value for value in kept.values() if isinstance(value, PayloadSnapshot)), None)
    copies = next((value for value in kept.values() if isinstance(value, PageSnapshot)), None)
    report, folder = write_report(
        task.suite,
        task.place,
        [part for name in task.values for part in _parts(task, name, refused)],
        inventory=index.inventory if index else None,
        manifest=index.manifest if index else None,
        pages=copies.pages if copies else None,
        state=index.stamp.states[COLLECTION] if index else None,
    )
    progress_of(VALIDATION_REPORT)(1, 1)
    return Made(report, _metadata(report, folder))


def _states_now(task: Task) -> dict[str, str]:
    """What is to be judged, as it is now; the site and the collection only where this run has not read them itself."""
    from ragval_pipeline.orchestration.assets.sitemap_urls import read_inventory

    now = {SUITE: suite_state(task.suite)}
    if all(set(value.stamp.runs) == {task.place.run_id} for value in task.values.values()):
        return now
    return {
        **now,
        SITE: site_state(read_inventory(task.suite)),
        COLLECTION: collection_state(task.qdrant, task.suite),
    }


def _parts(task: Task, name: str, refused: dict[str, str]) -> Iterator[Measurement]:
    value = task.values[name]
    for part in value.parts if isinstance(value, Measured) else ():
        failure = Failure(kind="stale", message=refused[name]) if name in refused else None
        yield part if failure is None else Measurement(asset=part.asset, failure=failure)


def freshness_of(suite: Suite) -> dg.FreshnessPolicy | None:
    """The policy that marks the report stale after ``automation.fresh_within_hours``; None when the suite has none."""
    hours = suite.automation.fresh_within_hours
    if hours is None:
        return None
    # Dagster knows no window below a minute.
    return dg.FreshnessPolicy.time_window(fail_window=max(timedelta(hours=hours), timedelta(minutes=1)))


def _metadata(report: "ValidationReport", folder: str) -> dict[str, Any]:
    """What the page of the report shows, the verdict first: the UI keeps this order."""
    from ragval_pipeline.reporting.markdown import summary_md
    from ragval_pipeline.reporting.outline import headline

    severities = [finding.severity for finding in report.findings]
    counts = {
        "pass_rate": report.pass_rate,
        "warning_findings": severities.count("warning"),
        "duration_seconds": report.duration_seconds,
    }
    return {
        "verdict": dg.MetadataValue.text(f"{report.verdict}: {headline(report)}"),
        "report": dg.MetadataValue.path(f"{folder}/report.html"),
        **console_link(f"{folder}/report.html"),
        "gates": table(_gates(report), ("criterion", "verdict", "value", "gate", "reason")),
        **offenders_metadata(report.findings),
        "summary": dg.MetadataValue.md(summary_md(report).decode()),
        "collection": dg.MetadataValue.text(report.collection_name),
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
            "gate": gate_text(criterion),
            "reason": criterion.reason,
        }
