from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from ragval_pipeline.reporting.document import run_document
from ragval_pipeline.reporting.files.junit import criterion_case, junit_xml, query_case
from tests.reporting import factory
from tests.reporting.factory import criterion


def parse(bundle):
    return ET.fromstring(junit_xml(run_document(bundle.report)))


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (criterion("coverage", 1.0, 1.0, required=True), None),
        (criterion("coverage", 0.5, 1.0, required=True), "failure"),
        (criterion("coverage", 0.5, 1.0), "skipped"),
        (criterion("coverage", None, 1.0, required=True, reason_code="no_data"), "error"),
        (criterion("coverage", None, 1.0, required=True, reason_code="too_few"), "error"),
        (criterion("coverage", None, 1.0, reason_code="no_data"), "skipped"),
        (criterion("coverage", None, 1.0, reason_code="unreachable"), "error"),
        (criterion("coverage", None, 1.0, reason_code="crashed"), "error"),
        (criterion("coverage", None, 1.0, required=True, reason_code="not_applicable"), "skipped"),
        (criterion("coverage", None, 1.0, required=True, reason_code="not_selected"), "skipped"),
    ],
)
def test_a_criterion_becomes_the_result_that_ci_should_show(result, kind):
    assert criterion_case(result).kind == kind


def test_queries_pass_fail_or_could_not_be_asked():
    passed = factory.query("q1", "a", 0.5)
    failed = factory.query("q2", "a", 0.2, passed=False)
    unasked = factory.query("q3", "a", None, passed=None, status="error")
    unjudged = factory.query("q4", "a", 0.5, passed=None)
    assert [query_case(entry).kind for entry in (passed, failed, unasked, unjudged)] == [
        None, "failure", "error", "skipped",
    ]  # fmt: skip


def test_the_counts_of_the_suites_add_up():
    root = parse(factory.faulty())
    assert [suite.get("name") for suite in root] == ["criteria", "queries"]
    for suite in root:
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
    assert int(root.get("failures")) == sum(int(suite.get("failures")) for suite in root) == 3


def test_a_failure_says_value_gate_and_what_came_back():
    root = parse(factory.faulty())
    coverage = root.find("testsuite/testcase[@name='coverage']/failure")
    assert coverage.get("message") == "92.3 %, must be ≥ 100 %"
    query = root.find("testsuite[@name='queries']/testcase/failure")
    assert "1. 0.380 Module 1 Ros2 https://docs.example.com" in query.text


@pytest.mark.parametrize("name", ["hostile", "unreachable"])
def test_any_report_is_well_formed_xml(name):
    bundle = getattr(factory, name)()
    assert len(parse(bundle).findall("testsuite[@name='queries']/testcase")) == len(bundle.report.query_results)
