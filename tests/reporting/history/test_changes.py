from __future__ import annotations

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.reporting.change_view import change_view
from ragval_pipeline.reporting.history.compare import changes_between
from ragval_pipeline.reporting.history.model import RunChanges
from ragval_pipeline.validation.report import ValidationReport
from tests.reporting.factory import criterion, query, report


def changed(before: ValidationReport, after: ValidationReport) -> RunChanges:
    """What differs, with the subjects that the reports themselves hold."""
    subjects = [
        {(finding.code, finding.scope): set(finding.subjects) for finding in run.findings} for run in (before, after)
    ]
    return changes_between("then", before, after, (subjects[0], subjects[1]))


def test_the_same_run_twice_changes_nothing() -> None:
    changes = changed(report(), report())
    assert (changes.criteria, changes.findings, changes.queries_lost, changes.queries_won) == ([], [], [], [])


def test_another_collection_behind_the_alias_is_a_change() -> None:
    before, after = (report().model_copy(update={"collection_name": name}) for name in ("blue", "green"))
    changes = changed(before, after)
    assert changes.collections == ("blue", "green")
    view = change_view(changes)
    assert view is not None
    assert [(line.subject, line.text) for line in view.lines] == [("collection", "blue → green")]


def test_criteria_know_which_way_is_better() -> None:
    before = report(criteria=[criterion("coverage", 1.0, 1.0), criterion("latency_p95_ms", 10.0, 2000.0)])
    after = report(criteria=[criterion("coverage", 0.5, 1.0), criterion("latency_p95_ms", 5.0, 2000.0)])
    coverage, latency = changed(before, after).criteria
    assert (coverage.delta, coverage.better, coverage.verdict_after) == (-0.5, False, "not_met")
    assert (latency.delta, latency.better) == (-5.0, True)


def test_a_run_that_was_not_asked_for_a_criterion_says_nothing_of_it() -> None:
    before = report(criteria=[criterion("map", 0.5)])
    after = report(criteria=[criterion("map", None, reason_code="not_selected")])
    assert changed(before, after).criteria == []


def test_findings_are_new_grown_shrunk_and_gone() -> None:
    before = report(findings=[make_finding("chunk.near_duplicate", ["1", "2"]), make_finding("vector.zero", ["1"])])
    after = report(findings=[make_finding("chunk.near_duplicate", ["1"]), make_finding("vector.swapped", ["1"])])
    changes = changed(before, after).findings
    assert [(change.code, change.before, change.after) for change in changes] == [
        ("vector.swapped", 0, 1),
        ("chunk.near_duplicate", 2, 1),
        ("vector.zero", 1, 0),
    ]
    assert changes[0].is_new
    assert changes[-1].is_gone


def test_one_point_mended_and_another_broken_is_a_change() -> None:
    before = report(findings=[make_finding("vector.zero", ["1", "2"])])
    after = report(findings=[make_finding("vector.zero", ["2", "3"])])
    [change] = changed(before, after).findings
    assert (change.new, change.gone, change.unchanged) == (["3"], ["1"], ["2"])
    assert change.words == "2 → 2, 1 new and 1 gone"
    assert not change.is_better


def test_findings_that_a_run_was_not_asked_for_are_not_gone() -> None:
    before = report(findings=[make_finding("vector.zero", ["1"])], criteria=[criterion("embedding_match", 1.0)])
    after = report(criteria=[criterion("embedding_match", None, reason_code="not_selected")])
    assert changed(before, after).findings == []


def test_findings_of_groups_that_both_runs_measured_are_compared_and_the_other_groups_named() -> None:
    found = [make_finding("coverage.missing_page", ["a"]), make_finding("vector.zero", ["1"])]
    before = report(findings=found)
    after = report(groups=["coverage", "chunks"], findings=[make_finding("coverage.missing_page", ["a", "b"])])
    changes = changed(before, after)
    assert [(change.code, change.before, change.after) for change in changes.findings] == [
        ("coverage.missing_page", 1, 2)
    ]
    assert changes.groups_uncompared == [
        "metadata", "integrity", "vectors", "index", "queries", "latency", "regression",
    ]  # fmt: skip


def test_queries_are_lost_and_won() -> None:
    before = report(query_results=[query("a", "A?", 0.6), query("b", "B?", 0.1, passed=False)])
    after = report(query_results=[query("a", "A?", 0.1, passed=False), query("b", "B?", 0.6)])
    changes = changed(before, after)
    assert (changes.queries_lost, changes.queries_won) == (["a"], ["b"])


def test_queries_that_are_held_to_something_else_are_neither_lost_nor_won() -> None:
    before = report(query_results=[query("a", "A?", 0.6, given={"min_similarity": 0.5})])
    after = report(query_results=[query("a", "A?", 0.6, passed=False, given={"min_similarity": 0.7})])
    changes = changed(before, after)
    assert (changes.queries_lost, changes.queries_won) == ([], [])
    assert changes.queries_set_aside == {"a": "its threshold changed from 0.50 to 0.70"}
