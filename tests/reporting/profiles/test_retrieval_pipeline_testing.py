from __future__ import annotations

import json

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.reporting.json_values import json_bytes
from ragval_pipeline.reporting.profiles import render_profile_report, schema_of
from tests.reporting import factory

PROFILE = "retrieval-pipeline-testing"


def render(bundle):
    return json.loads(json_bytes(render_profile_report(bundle, PROFILE)))


def broken(report, where):
    return {(entry["where"], entry["field"]) for entry in report["rule_violations"] if entry["where"].startswith(where)}


def test_rates_are_percent_and_success_criteria_say_what_is_met():
    report = render(factory.faulty())
    assert report["pass_rate"] == 50.0
    assert report["coverage_report"]["coverage_percentage"] == pytest.approx(92.3076923)
    assert report["success_criteria"] == {
        "SC-002": {"field": "pass_rate", "value": 50.0, "gate": 90.0, "met": False},
        "SC-003": {
            "field": "coverage_report.coverage_percentage", "value": 100 * 12 / 13, "gate": 100.0, "met": False,
        },
        "SC-005": {
            "field": "quality_metrics.metadata_completeness_rate", "value": 100.0, "gate": 100.0, "met": True,
        },
    }  # fmt: skip


def test_a_gate_of_29_percent_is_shown_as_29():
    criteria = [factory.criterion("query_pass_rate", 0.5, 0.29, required=True)]
    report = render(factory.bundle(factory.report(criteria=criteria)))
    assert report["success_criteria"]["SC-002"]["gate"] == 29.0
    assert report["success_criteria"]["SC-003"] == {
        "field": "coverage_report.coverage_percentage", "value": 100.0, "gate": None, "met": None,
    }  # fmt: skip


def test_what_was_not_measured_is_null_and_not_met():
    report = render(factory.unreachable())
    assert report["pass_rate"] is None
    assert report["coverage_report"]["coverage_percentage"] is None
    assert {entry["met"] for entry in report["success_criteria"].values()} == {None}


def test_a_query_that_could_not_be_asked_counts_as_failed_as_in_the_seed():
    report = render(factory.unreachable())
    assert (report["total_queries"], report["passed_queries"], report["failed_queries"]) == (1, 0, 1)
    assert report["query_results"][0]["passed"] is False


@pytest.mark.parametrize(
    ("given", "settings", "expected"),
    [
        ({"min_similarity": 0.65}, {"retrieval": {"min_similarity": 0.4}}, 0.65),
        ({}, {"retrieval": {"min_similarity": 0.4}}, 0.4),
        ({}, {}, 0.7),
    ],
)
def test_a_query_shows_the_similarity_that_it_was_held_to(given, settings, expected):
    query = factory.query("q1", "What is ROS 2?", 0.6, given=given)
    report = render(factory.bundle(factory.report(query_results=[query]), settings=settings))
    assert report["query_results"][0]["query"]["min_similarity"] == expected


def test_values_that_break_a_rule_are_kept_and_named():
    hit = factory.hit(
        1, -0.02, source_url="not a url", token_count=0, module_name=None, heading_hierarchy=None, chunk_text=None
    )
    query = factory.query("q1", "x", -0.02, passed=False, hits=[hit], given={"expected_module": "ROS"})
    report = render(factory.bundle(factory.report(query_results=[query])))
    found = report["query_results"][0]["top_results"][0]
    assert (found["similarity_score"], found["source_url"], found["token_count"]) == (-0.02, "not a url", 0)
    assert broken(report, "query_results[0].top_results[0]") == {
        ("query_results[0].top_results[0]", field)
        for field in ("similarity_score", "source_url", "token_count", "module_name", "heading_hierarchy", "chunk_text")
    }
    assert broken(report, "query_results[0].query") == {("query_results[0].query", "expected_module")}


@pytest.mark.parametrize(("negative", "missed"), [(False, {"expected_module"}), (True, set())])
def test_a_module_is_required_of_every_query_but_those_that_must_find_nothing(negative, missed):
    query = factory.query("q1", "Cake?", 0.1, given={"negative": negative})
    report = render(factory.bundle(factory.report(query_results=[query])))
    assert {entry["field"] for entry in report["rule_violations"] if entry["entity"] == "TestQuery"} == missed


def test_without_a_profile_there_is_no_report_and_an_unknown_one_is_an_error():
    assert render_profile_report(factory.bundle(), None) is None
    with pytest.raises(SuiteError, match="retrieval-pipeline-testing"):
        schema_of("retrieval-pipeline-testin")
