"""``validation_report.json``: the contract, as ``ragval run --json`` prints it and as the run folder keeps it."""

from __future__ import annotations

from ragval_pipeline.reporting.json_values import json_pieces
from ragval_pipeline.validation.report import ValidationReport


def validation_report_json(report: ValidationReport) -> bytes:
    """The report as a JSON file in UTF-8; ``ValidationReport.model_validate_json`` reads it back."""
    return b"".join(json_pieces(report))
