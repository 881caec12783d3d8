from __future__ import annotations

import math

import dagster as dg
import numpy as np
import pytest

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.orchestration.metadata import (
    TABLE_ROWS,
    asset_metadata,
    console_address,
    details_of,
    evidence_for,
    number,
    numbers,
    offenders_in_words,
    offenders_metadata,
    report_link,
    table,
)
from ragval_pipeline.reporting.document import run_document
from ragval_pipeline.suite.criteria import is_criterion
from ragval_pipeline.validation.measurement import Failure, MeasuredValue, Measurement
from tests.reporting.factory import report


@pytest.mark.parametrize(
    ("value", "plain"),
    [(1, 1), (0.5, 0.5), (np.int64(3), 3), (np.float64(0.25), 0.25), (2 / 3, 0.666667), (None, None), (True, None),
     (math.nan, None), (math.inf, None), (np.bool_(True), None)],
)  # fmt: skip
def test_numbers_become_plain_ones_and_what_cannot_be_plotted_is_left_out(value: object, plain: object) -> None:
    assert number(value) == plain
    assert type(number(value)) is type(plain)


def test_whole_numbers_and_fractions_keep_their_kind() -> None:
    found = numbers({"n": np.int64(3), "share": np.float64(0.5), "none": None})
    assert found == {"n": dg.MetadataValue.int(3), "share": dg.MetadataValue.float(0.5)}


def test_the_numbers_of_sections_are_told_one_level_deep_and_those_per_query_are_not() -> None:
    sections = {
        "quality_metrics": {"total_chunks": 9, "tokens": {"avg": 2.5, "max": None}, "urls": ["a"], "scores": [0.5]},
        "deep": {"page": {"ndcg": {"value": 1.0}}},
        "run": {"q1": {"page": 2}},
        "rows": [{"n": 1}],
    }
    assert details_of(sections) == "total chunks 9, tokens (avg 2.5), urls 1"


def test_a_long_path_does_not_cut_the_verdict_on_the_assets_page() -> None:
    folder = f"/srv/{'data/' * 20}20261129T114231Z-8829486c"
    assert report_link(folder)["report"].value == f"{folder}/report.html"
    assert report_link(folder, whole=False)["report"].value == "\u2026/20261129T114231Z-8829486c/report.html"
    assert report_link("/srv/reports/1", whole=False)["report"].value == "/srv/reports/1/report.html"


def test_a_table_is_cut_and_its_cells_are_ones_that_dagster_shows() -> None:
    rows = ({"n": np.int64(i), "x": ["a"], "none": None} for i in range(10**9))
    shown = table(rows, ("n", "x", "none", "missing"))
    assert len(shown.records) == TABLE_ROWS
    assert shown.records[1].data == {"n": 1, "x": "['a']", "none": None, "missing": None}
    assert [column.name for column in shown.schema.columns] == ["n", "x", "none", "missing"]


def test_offenders_are_a_row_a_subject_with_the_count_of_all() -> None:
    findings = [make_finding("coverage.missing_page", [f"https://x/{i:03}" for i in range(70)]),
                make_finding("index.empty", [])]  # fmt: skip
    assert (
        asset_metadata([Measurement(asset="coverage_report", findings=tuple(findings))])["offenders_count"].value == 70
    )
    shown = offenders_metadata(findings)
    assert [record.data["subject"] for record in shown["offenders"].records][:2] == ["https://x/000", "https://x/001"]
    assert len(shown["offenders"].records) == TABLE_ROWS


def test_columns_that_hold_nothing_are_left_out() -> None:
    plain = make_finding("coverage.missing_page", ["https://x/1"])
    [row] = offenders_metadata([plain])["offenders"].records
    assert row.data.keys() == {"what", "problem", "severity", "subject", "code"}
    caused = plain.model_copy(update={"because": "coverage.foreign_host"})
    [row] = offenders_metadata([caused])["offenders"].records
    assert row.data["because"] == "coverage.foreign_host"


@pytest.mark.parametrize(
    ("uri", "link"),
    [
        ("gs://bucket/reports/book/run 1/report.html", "https://storage.cloud.google.com/bucket/reports/book/run%201/report.html"),
        ("s3://bucket/reports/report.html", "https://console.aws.amazon.com/s3/object/bucket?prefix=reports/report.html"),
        ("https://host/report.html", "https://host/report.html"),
        ("/srv/reports/report.html", None),
        ("memory://reports/report.html", None),
    ],
)  # fmt: skip
def test_a_report_in_an_object_store_is_a_click_away(uri: str, link: str | None) -> None:
    assert console_address(uri) == link


def test_findings_of_the_report_show_the_same_offenders() -> None:
    finding = make_finding("coverage.missing_page", ["https://x/1"])
    assert offenders_metadata([finding]) == offenders_metadata([finding.reported()])


def test_an_offender_is_named_in_words_and_the_page_of_a_measurement_begins_with_what_was_found() -> None:
    details = {"page_url": "https://x/docs/intro", "chunk_index": 2, "cosine": 0.31}
    finding = make_finding("vector.text_mismatch", [Subject(name="9f1c", details=details)])
    shown = asset_metadata([Measurement(asset="index_health", findings=(finding,))])
    assert next(iter(shown)) == "result"
    assert shown["result"].value == finding.message
    [row] = offenders_metadata([finding])["offenders"].records
    assert row.data["what"] == "/docs/intro, chunk_index 2 (its vector has similarity 0.31 to its own text)"
    assert (row.data["problem"], row.data["subject"]) == ("Vectors that do not fit their text", "9f1c")


def test_a_finding_without_subjects_is_still_a_row() -> None:
    [row] = offenders_metadata([make_finding("retrieval.nondeterministic", [])])["offenders"].records
    assert row.data["subject"] == ""


def test_no_findings_no_table_but_a_zero_to_plot() -> None:
    assert offenders_metadata([]) == {}
    assert asset_metadata([Measurement(asset="coverage_report")])["offenders_count"].value == 0


def test_the_first_offenders_in_words_are_the_worst_and_none_is_for_information() -> None:
    pages = [f"https://x/{number}" for number in range(5)]
    info, worse = make_finding("coverage.foreign_host", pages), make_finding("coverage.missing_page", pages)
    run = report("fail", findings=[info.model_copy(update={"severity": "info"}), worse])
    told = offenders_in_words(run_document(run)).split(";\n")
    assert told == [f"/{number}: {CATALOGUE['coverage.missing_page'].title}" for number in range(3)]


def test_the_page_of_a_measurement_says_why_it_measured_nothing() -> None:
    failure = Failure(kind="crashed", message="KeyError in coverage_report")
    shown = asset_metadata([Measurement(asset="coverage_report", failure=failure)])
    assert shown["not_measured"].value == "KeyError in coverage_report"
    values = (MeasuredValue(name="coverage", value=0.5),)
    shown = asset_metadata([Measurement(asset="coverage_report", values=values)])
    assert shown["coverage"].value == 0.5
    assert "not_measured" not in shown


def test_a_criterion_shows_the_findings_that_it_fails_by() -> None:
    missing = make_finding("coverage.missing_page", ["https://x/1"])
    orphan = make_finding("coverage.orphan_page", ["https://x/2"])
    assert evidence_for("coverage", [missing, orphan]) == [missing]
    assert evidence_for("coverage", [orphan]) == [orphan]
    assert evidence_for("mrr", [missing, orphan]) == [missing, orphan]
    assert evidence_for("mrr", [missing, orphan], met=True) == []
    assert evidence_for("coverage", [missing, orphan], met=True) == [missing]
    assert evidence_for("error_findings", [missing, orphan]) == [missing]


def test_findings_tell_about_real_criteria() -> None:
    assert all(is_criterion(name) for row in CATALOGUE.values() for name in row.criteria)
