from __future__ import annotations

import io
import json

import pyarrow.parquet as pq

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.reporting.files.tables import COLUMNS, findings_parquet


def rows(findings):
    return pq.read_table(io.BytesIO(findings_parquet(findings))).to_pylist()


def test_every_subject_has_a_row_also_beyond_the_hundred_that_the_report_holds():
    finding = make_finding("payload.empty_field", [f"{n:03d}" for n in range(250)], scope="module_name")
    table = rows([finding])
    assert [row["subject"] for row in table] == [f"{n:03d}" for n in range(250)]
    assert {(row["code"], row["severity"], row["scope"], row["subject_kind"]) for row in table} == {
        ("payload.empty_field", "error", "module_name", "point")
    }


def test_a_finding_without_subjects_has_one_row_without_subject_and_its_own_details():
    (row,) = rows([make_finding("index.empty", details={"filter": None})])
    assert row["subject"] is None
    assert row["scope"] is None
    assert json.loads(row["details"]) == {"filter": None}


def test_the_columns_exist_even_without_findings():
    table = pq.read_table(io.BytesIO(findings_parquet([])))
    assert (table.num_rows, tuple(table.column_names)) == (0, COLUMNS)
