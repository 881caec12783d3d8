"""``findings.parquet``: every subject of every finding, one row each."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.reporting.files.json_values import json_line
from ragval_pipeline.text.characters import encodable

COLUMNS = ("code", "severity", "scope", "subject_kind", "subject", "details")


def findings_parquet(findings: Sequence[Finding]) -> bytes:
    """Findings as Parquet, all columns text; a finding without subjects has one row whose ``subject`` is null.

    ``details`` is JSON: what was measured on the subject, or without one on the finding as a whole.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[str | None]] = {name: [] for name in COLUMNS}
    for row in _rows(findings):
        for name, value in zip(COLUMNS, row, strict=True):
            columns[name].append(None if value is None else encodable(value))
    table = pa.table(columns, schema=pa.schema([(name, pa.string()) for name in COLUMNS]))
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[str | None, ...]]:
    for finding in findings:
        own = (finding.code, finding.severity, finding.scope, finding.subject_kind)
        subjects: list[tuple[str | None, dict[str, Any]]] = [(entry.name, entry.details) for entry in finding.subjects]
        for name, details in subjects or [(None, finding.details)]:
            yield (*own, name, json_line(details))
