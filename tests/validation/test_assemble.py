from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.suite.criteria import Gate, all_criteria
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.assemble import Assembled, RunFacts, assemble_report
from ragval_pipeline.validation.coverage.compare import measure_coverage
from ragval_pipeline.validation.measurement import Measurement, failed_measurement, ratio
from ragval_pipeline.validation.quality import measure_quality
from ragval_pipeline.validation.repair.simulate import Simulated
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.retrieval.measure import measure_retrieval
from tests.validation.factory import NOW, SITE, answer, index, page_hits, query, settings, site

REQUIRED = {"query_pass_rate": 0.9, "coverage": 1.0, "metadata_completeness": 1.0, "error_findings": 0.0}


def assemble(
    *measurements: Measurement, severities: dict[str, str] | None = None, inventory: SiteInventory | None = None,
    **more: Any,
) -> Assembled:  # fmt: skip
    criteria = all_criteria((3, 5))
    gates = {
        entry.name: Gate(REQUIRED.get(entry.name, entry.threshold), required=entry.name in REQUIRED)
        for entry in criteria
    }
    facts = RunFacts(
        suite="book", profile=None, run_id="run-1", collection_name="docs", started=NOW - timedelta(seconds=42.5),
        ended=NOW, only=more.pop("only", None), environment={"python": "3.11"},
    )  # fmt: skip
    return assemble_report(
        facts, measurements, criteria=criteria, gates=gates, severities=severities or {}, inventory=inventory, **more
    )


def coverage(*indexed: str) -> Measurement:
    inventory = site("/a", "/b")
    return measure_coverage(inventory, index(inventory, *indexed), points=len(indexed), now=NOW)


def metadata(complete: int, points: int) -> Measurement:
    return Measurement(
        asset="metadata_expectations",
        values=(ratio("metadata_completeness", complete, points, of="points"),),
        sections={"metadata": {"points": points, "complete": complete}},
    )


def queries(*pairs: tuple[TestQuery, Any], failure: SystemFailure | None = None, **changes: Any) -> Measurement:
    asked = [entry for entry, _ in pairs]
    answers = [answer(entry.id, *hits) for entry, hits in pairs if hits is not None]
    return measure_retrieval(asked, answers, settings(**changes), failure=failure)


A, B = page_hits("/a"), page_hits("/b", best=0.4)
GOOD, BAD = query(id="good", relevant_urls=[f"{SITE}/a"]), query(id="bad", relevant_urls=[f"{SITE}/a"])
CLEAN = (coverage("/a", "/b"), metadata(2, 2), queries((GOOD, A)))


def test_the_expected_pages_of_a_failed_query_are_shown_as_written_there() -> None:
    spelled = "http://www.docs.example.com/a/index.html"
    lost = query(id="lost", relevant_urls=[spelled], expected_results=[{"source_url": "doc-7"}])
    report = assemble(coverage("/a", "/b"), queries((lost, B))).report
    [failed] = [finding for finding in report.findings if finding.code == "query.failed"]
    assert failed.details["subjects"]["lost"]["expected_pages"] == ["doc-7", spelled]


def test_a_clean_run_passes_and_reports_the_seeds_units() -> None:
    quality = measure_quality(token_counts=[3, 5], best_scores=[0.9], points=2, now=NOW)
    report = assemble(*CLEAN, quality).report
    assert (report.verdict, report.pass_status) == ("pass", True)
    assert (report.pass_rate, report.coverage_report.coverage_percentage) == (100.0, 100.0)
    assert report.quality_metrics.metadata_completeness_rate == 100.0
    assert report.quality_metrics.chunks_with_complete_metadata == 2
    assert (report.duration_seconds, report.timestamp) == (42.5, "2026-11-20T12:00:00.000Z")
    assert report.avg_precision_at_3 == pytest.approx(1 / 3)
    assert report.avg_precision_at_5 == pytest.approx(0.2)


def test_queries_add_up_and_averages_are_over_positive_ones() -> None:
    negative = query(id="negative", negative=True, min_similarity=0.99)
    measured = queries((GOOD, A), (BAD, B), (query(id="none"), ()), (negative, page_hits("/a", best=0.95)))
    report = assemble(*CLEAN[:2], measured).report
    assert (report.total_queries, report.passed_queries, report.failed_queries, report.error_queries) == (4, 2, 2, 0)
    assert report.pass_rate == 50.0
    assert report.avg_top1_score == pytest.approx((0.9 + 0.4) / 2)
    assert report.queries_above_threshold == 1
    assert report.verdict == "fail"


def test_of_distances_those_within_the_limit_are_above_the_threshold() -> None:
    measured = queries(
        (query(id="near"), page_hits("/a", best=0.2, step=-0.1)),
        (query(id="far"), page_hits("/a", best=1.4, step=-0.1)),
        higher_is_better=False,
    )
    assert assemble(*CLEAN[:2], measured).report.queries_above_threshold == 1


def test_seed_fields_without_a_value_are_null_and_never_zero() -> None:
    report = assemble(Measurement(asset="coverage_report", selected=False), only={"latency"}).report
    dumped = json.loads(report.model_dump_json())
    nulls = (
        "total_queries", "passed_queries", "failed_queries", "error_queries",
        "pass_rate", "avg_top1_score", "queries_above_threshold", "avg_precision_at_3", "avg_precision_at_5", "profile",
    )  # fmt: skip
    assert {name: dumped[name] for name in nulls} == dict.fromkeys(nulls)
    assert dumped["coverage_report"] == {
        "total_sitemap_urls": None, "indexed_urls": None, "missing_urls": None, "extra_urls": None,
        "coverage_percentage": None, "timestamp": None, "by_module": {},
    }  # fmt: skip
    assert dumped["quality_metrics"]["metadata_completeness_rate"] is None
    assert dumped["query_results"] == []
    assert report.verdict == "not_measured"


def test_a_rate_of_no_points_is_null() -> None:
    report = assemble(*CLEAN[:1], metadata(0, 0), CLEAN[2]).report
    assert report.quality_metrics.metadata_completeness_rate is None
    assert report.quality_metrics.chunks_with_complete_metadata == 0
    assert report.criterion("metadata_completeness").reason_code == "no_data"
    assert report.verdict == "not_measured"


def test_a_system_that_fails_makes_an_error_of_the_run_and_keeps_the_rest() -> None:
    failure = SystemFailure("http://x refused", code="index.unreachable", system="Qdrant", subject="http://x")
    report = assemble(*CLEAN[:2], queries((GOOD, None), (BAD, None), failure=failure)).report
    assert (report.verdict, report.pass_status) == ("error", False)
    assert (report.total_queries, report.error_queries, report.pass_rate) == (2, 2, None)
    assert report.queries_above_threshold is None
    assert report.criterion("coverage").verdict == "met"
    assert report.criterion("query_pass_rate").reason_code == "unreachable"
    assert [finding.code for finding in report.findings] == ["index.unreachable"]


def test_severities_of_the_suite_decide_what_counts_as_an_error() -> None:
    partial = (coverage("/a", "/x"), *CLEAN[1:])
    assert assemble(*partial).report.criterion("error_findings").value == 0.0
    strict = assemble(*partial, severities={"coverage.orphan_page": "error"}).report
    assert strict.criterion("error_findings").value == 1.0
    lenient = assemble(*partial, severities={"coverage.missing_page": "info", "coverage.orphan_page": "off"}).report
    assert lenient.criterion("error_findings").value == 0.0
    assert [(finding.code, finding.severity) for finding in lenient.findings] == [("coverage.missing_page", "info")]


def test_findings_stand_errors_first_causes_before_consequences() -> None:
    inventory = site("/a", "/b")
    measured = queries((BAD, B), (query(id="b", relevant_urls=[f"{SITE}/b"]), B))
    report = assemble(coverage("/b", "/x"), CLEAN[1], measured, inventory=inventory).report
    assert [finding.code for finding in report.findings] == [
        "coverage.missing_page", "query.failed", "coverage.orphan_page",
    ]  # fmt: skip
    assert report.findings[1].because == "coverage.missing_page"


def test_what_follows_from_the_distance_is_said_to_where_other_causes_were_tried() -> None:
    unfit = make_finding("vector.dimension", ["vectors"])
    report = assemble(*CLEAN[:2], queries((BAD, B)), extra_findings=[unfit], simulated=Simulated()).report
    [failed] = [finding for finding in report.findings if finding.code == "query.failed"]
    assert failed.because == "vector.dimension"
    assert "It may go away with vector.dimension" in failed.remedy


def test_findings_of_the_read_join_those_of_the_assets() -> None:
    changed = make_finding("index.changed_during_read", ["docs"], details={"before": 1, "read": 2, "after": 2})
    report = assemble(*CLEAN, extra_findings=[changed]).report
    assert [finding.code for finding in report.findings] == ["index.changed_during_read"]
    assert report.verdict == "pass"


def test_a_finding_holds_the_first_hundred_subjects_and_counts_all() -> None:
    pages = [f"/p{number:03}" for number in range(250)]
    inventory = site(*pages)
    measured = measure_coverage(inventory, index(inventory, pages[0]), points=1, now=NOW)
    assembled = assemble(measured, *CLEAN[1:], inventory=inventory)
    [finding] = assembled.report.findings
    assert (finding.count, len(finding.subjects)) == (249, 100)
    assert finding.subjects == sorted(finding.subjects)
    assert len(assembled.findings[0].subjects) == 249


def test_a_crash_leaves_its_criterion_open_and_counts_as_an_error() -> None:
    report = assemble(failed_measurement("coverage_report", ValueError("x")), *CLEAN[1:]).report
    assert report.verdict == "fail"
    assert report.criterion("coverage").reason_code == "crashed"
    assert (report.criterion("error_findings").verdict, report.criterion("error_findings").numerator) == ("not_met", 1)


def test_the_report_survives_json_and_finds_its_criteria() -> None:
    report = assemble(*CLEAN).report
    assert ValidationReport.model_validate_json(report.model_dump_json()) == report
    with pytest.raises(KeyError):
        report.criterion("nonsense")
