from __future__ import annotations

from ragval_pipeline.reporting.change_view import change_view
from ragval_pipeline.reporting.history.model import CriterionChange, FindingChange, RunChanges
from tests.reporting import factory
from tests.reporting.factory import report_html


def changes(**more):
    return RunChanges("20261110T111541Z-1f0c9a51", "2026-11-10T11:15:41Z", "pass", "pass", **more)


def lines(**more):
    return [(line.tone, line.subject, line.text) for line in change_view(changes(**more)).lines]


def test_a_first_run_has_no_changes():
    assert change_view(None) is None
    content = report_html(factory.bundle())
    assert b"Since the last run" not in content


def test_a_drop_is_worse_and_comes_before_a_gain():
    gain = CriterionChange("mrr", 0.8, 0.9, "met", "met", True)
    drop = CriterionChange("coverage", 1.0, 0.5, "met", "not_met", False)
    found = lines(criteria=[gain, drop])
    assert found == [
        ("bad", "Pages in the index", "100 % → 50 %, now not met"),
        ("good", "Mean reciprocal rank (MRR)", "0.800 → 0.900"),
    ]


def test_times_are_no_news_unless_their_verdict_changes():
    assert lines(criteria=[CriterionChange("latency_p95_ms", 3.0, 4.0, "met", "met", False)]) == []
    assert lines(criteria=[CriterionChange("latency_p95_ms", 3.0, 4000.0, "met", "not_met", False)])


def test_what_was_not_measured_then_or_now_is_said():
    found = lines(criteria=[
        CriterionChange("mrr", None, 0.9, "not_measured", "met", None),
        CriterionChange("coverage", 1.0, None, "met", "not_measured", None),
        CriterionChange("map", None, None, "not_measured", None, None),
    ])  # fmt: skip
    assert found == [
        ("plain", "Mean reciprocal rank (MRR)", "measured now: 0.900"),
        ("plain", "Pages in the index", "was 100 %, not measured now"),
    ]


def test_findings_are_new_gone_more_or_fewer():
    found = lines(findings=[
        FindingChange("coverage.missing_page", None, "error", 0, 2),
        FindingChange("payload.empty_field", "title", "warning", 2, 3),
        FindingChange("chunk.too_small", None, "info", 4, 0),
    ])  # fmt: skip
    assert found == [
        ("bad", "Pages missing from the index", "new, 2"), ("warning", "Field empty (title)", "2 → 3"),
        ("good", "Chunks too short to answer anything", "gone"),
    ]  # fmt: skip


def test_the_page_says_what_changed_below_the_findings_and_links_the_queries():
    content = report_html(factory.with_history()).decode()
    assert content.index('id="findings"') < content.index("Since the last run") < content.index('id="criteria"')
    assert "Pass → Fail" in content
    changed = content[content.index('id="changes"') : content.index('id="criteria"')]
    assert 'href="#query-2"' in changed
    assert "new, 1" in changed


def test_each_criterion_has_a_line_over_the_runs():
    content = report_html(factory.with_history()).decode()
    assert 'aria-label="Pages in the index over 6 runs: 92.3 % to 100 %, now 92.3 %"' in content


def test_queries_that_are_not_compared_say_why():
    one = dict.fromkeys(("a", "b"), "its threshold changed from 0.50 to 0.70")
    assert lines(queries_set_aside=one) == [
        ("plain", "2 queries", "not compared: its threshold changed from 0.50 to 0.70")
    ]
    both = {**one, "c": "its question changed"}
    assert lines(queries_set_aside=both) == [
        ("plain", "3 queries", "not compared: their text or requirements have changed")
    ]


def test_figures_of_the_same_questions_are_one_line():
    found = lines(criteria=[
        CriterionChange("query_pass_rate", 1.0, 0.95, "met", "met", False),
        CriterionChange("relevance_rate", 1.0, 0.9, "met", "met", False),
        CriterionChange("hit_at_5", 1.0, 0.9, "met", "met", False),
        CriterionChange("mrr", 0.8, 0.9, "met", "met", True),
        CriterionChange("accuracy", 1.0, 0.9, "met", "not_met", False),
        CriterionChange("determinism", 1.0, 0.9, "met", "met", False),
    ])  # fmt: skip
    assert found == [
        ("bad", "Questions with the expected results", "100 % → 90 %, now not met"),
        ("bad", "Test questions answered", "100 % → 95 %, and 2 more figures of the same questions"),
        ("bad", "Same results when repeated", "100 % → 90 %"),
        ("good", "Mean reciprocal rank (MRR)", "0.800 → 0.900"),
    ]
