"""Kept runs to test with. Not a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.reporting.files.tables import findings_parquet, qrels_trec, run_trec
from ragval_pipeline.reporting.json_values import json_pieces
from ragval_pipeline.sources.history import KeptRun
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from upath import UPath

NAMES = ("20261118T060000Z-aaaa1111", "20261119T060000Z-bbbb2222", "20261120T060000Z-cccc3333")


def keep(
    base: UPath,
    name: str,
    report: ValidationReport,
    *,
    rankings: Mapping[str, Sequence[str]] | None = None,
    judgements: Mapping[str, Mapping[str, int]] | None = None,
    rows: Sequence[Mapping[str, Any]] | None = None,
    findings: Sequence[Finding] = (),
) -> KeptRun:
    """Write what a run leaves behind, as far as later runs read it."""
    folder = base / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "validation_report.json").write_bytes(b"".join(json_pieces(report)))
    (folder / "run.trec").write_bytes(run_trec(rankings or {}))
    (folder / "findings.parquet").write_bytes(findings_parquet(findings))
    truth = qrels_trec(judgements or {})
    if truth is not None:
        (folder / "qrels.trec").write_bytes(truth)
    if rows is not None:
        _write_rows(folder / "evidence" / "payload", rows)
    return KeptRun(folder)


def _write_rows(folder: UPath, rows: Sequence[Mapping[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "part-00000.parquet").open("wb") as file:
        pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), file)
