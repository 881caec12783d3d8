"""The page of ``validation_report`` in Dagster: its metadata, the verdict first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.metadata import numbers, report_link, short, table
from ragval_pipeline.reporting.document import run_document
from ragval_pipeline.reporting.partitions import PartitionRow, columns_of
from ragval_pipeline.sources.storage import open_folder
from ragval_pipeline.validation.report import ANSWERED, ValidationReport


def seen(report: ValidationReport, folder: str) -> dict[str, Any]:
    """Metadata of an observation of a report that is not materialised."""
    return {
        "verdict": dg.MetadataValue.text(report.verdict),
        **report_link(folder),
        "run": dg.MetadataValue.dagster_run(report.run_id),
    }


def metadata_of(report: ValidationReport, folder: str) -> dict[str, Any]:
    """Metadata of the report's page, the verdict first: the UI keeps this order."""
    document = run_document(report)
    counts = {
        "pass_rate": report.pass_rate,
        "offenders_count": sum(finding.count for finding in report.findings),
        "error_findings": document.counts["error"],
        "warning_findings": document.counts["warning"],
        "duration_seconds": report.duration_seconds,
    }
    by_mode = report.retrieval_metrics.by_mode
    answered = {f"answered_{mode}": values[ANSWERED].value for mode, values in by_mode.items() if ANSWERED in values}
    return {
        "verdict": dg.MetadataValue.text(f"{document.word}: {document.sentence}"),
        # Browsers do not open local files from a web page: this shows the report's content in place.
        "summary": dg.MetadataValue.md(beginning_of((open_folder(folder) / "summary.md").read_text(encoding="utf-8"))),
        **report_link(folder, whole=False),
        **_partitions(document.partitions),
        "collection": dg.MetadataValue.text(report.collection_name),
        **numbers({**counts, **answered}),
    }


def _partitions(rows: Sequence[PartitionRow]) -> dict[str, Any]:
    """The required criteria of each partition as a table, those that miss most first; empty without partitions."""
    if not rows:
        return {}
    values = ({name: short(result.value) for name, result in row.results.items()} for row in rows)
    told = [{"partition": row.value, **own} for row, own in zip(rows, values, strict=True)]
    return {"partitions": table(told, ("partition", *columns_of(rows)))}


#: Dagster's UI shows Markdown in place if it is shorter, in UTF-16 code units, else behind a link.
_IN_PLACE = 1_000
_REST = "\n\nThe report has the rest."


def beginning_of(summary: str) -> str:
    """As many whole lines of the summary as are shown in place."""
    if _length(summary) < _IN_PLACE:
        return summary
    lines = summary.splitlines()
    while lines and _length("\n".join(lines) + _REST) >= _IN_PLACE:
        lines.pop()
    return "\n".join(lines) + _REST


def _length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
