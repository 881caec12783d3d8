from __future__ import annotations

from typing import Any

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Subject
from ragval_pipeline.reporting.files.tables import findings_parquet
from ragval_pipeline.testing.defects import Planted, clean, judge, verify
from ragval_pipeline.testing.defects.verify import Seen
from ragval_pipeline.validation.report import ValidationReport

MISSING = Planted("coverage.missing_page", frozenset({"a", "b"}))


def report(*findings: Any) -> ValidationReport:
    return ValidationReport.model_construct(findings=[finding.reported() for finding in findings])


def found(code: str, *subjects: str, because: str | None = None, **changes: Any) -> Any:
    return make_finding(code, subjects, **changes).model_copy(update={"because": because})


def test_a_code_that_is_not_named_is_a_problem():
    outcome = judge([MISSING], report())[0]
    assert outcome.recall == 0.0
    assert outcome.problems == ("coverage.missing_page is not named",)


def test_a_code_named_in_another_scope_is_not_the_planted_one():
    planted = Planted("payload.empty_field", frozenset({"1"}), scope="module_name")
    problems = verify(planted, report(found("payload.empty_field", "1", scope="chapter_id")))
    assert problems[0] == "payload.empty_field (module_name) is not named"
    assert "payload.empty_field is named, and can neither follow nor was planted" in problems


def test_a_subject_too_few_costs_recall_and_one_too_many_precision():
    outcome = judge([MISSING], report(found("coverage.missing_page", "a", "c", "d")))[0]
    assert outcome.recall == 1 / 2
    assert outcome.precision == 1 / 3
    assert len(outcome.problems) == 2


def test_each_subject_of_a_follower_must_say_what_it_follows_from():
    missing = found("coverage.missing_page", "a", "b")
    assert verify(MISSING, report(missing, found("query.failed", "q", because="coverage.missing_page"))) == []
    assert verify(MISSING, report(missing, found("query.failed", "q"))) != []
    some = [Subject(name="q", details={"because": "coverage.missing_page"}), Subject(name="r")]
    assert verify(MISSING, report(missing, make_finding("query.failed", some))) != []


def test_an_error_triggered_by_an_info_finding_has_no_cause_and_one_by_a_warning_has():
    cut, short = Planted("chunk.too_small", frozenset({"1"})), found("chunk.too_small", "1")
    assert verify(cut, report(found("integrity.not_captured", "/a"), short)) == []
    assert verify(cut, report(found("integrity.heading_loss", "/a"), short)) != []


def test_a_follower_may_say_it_subject_by_subject():
    subjects = [Subject(name="q", details={"because": "coverage.missing_page"})]
    findings = [found("coverage.missing_page", "a", "b"), make_finding("query.failed", subjects)]
    assert verify(MISSING, report(*findings)) == []


def test_a_follower_of_a_follower_is_fine():
    planted = Planted("coverage.foreign_host", frozenset({"h"}))
    findings = [
        found("coverage.foreign_host", "h"),
        found("coverage.missing_page", "a", because="coverage.foreign_host"),
        found("query.failed", "q", because="coverage.missing_page"),
    ]
    assert verify(planted, report(*findings)) == []


def test_a_cause_after_its_consequence_is_a_problem():
    findings = [found("query.failed", "q", because="coverage.missing_page"), found("coverage.missing_page", "a", "b")]
    assert verify(MISSING, report(*findings)) == ["query.failed comes before its cause coverage.missing_page"]


def test_an_error_or_warning_that_cannot_follow_is_a_problem_and_an_info_is_not():
    missing = found("coverage.missing_page", "a", "b")
    assert verify(MISSING, report(missing, found("query.no_coverage", "intro"))) == []
    outcome = judge([MISSING], report(missing, found("text.mojibake", "1")))[0]
    assert outcome.extra == ("text.mojibake",)
    assert outcome.problems


def test_of_two_defects_each_is_held_to_its_own_subjects():
    failed = Planted("query.failed", frozenset({"q1"}))
    subjects = [Subject(name="q1"), Subject(name="q2", details={"because": "coverage.missing_page"})]
    findings = [found("coverage.missing_page", "a", "b"), make_finding("query.failed", subjects)]
    first, second = judge([MISSING, failed], report(*findings))
    assert first.problems == second.problems == ()
    assert second.precision == 1.0


def test_a_subject_that_no_planted_defect_explains_counts_against_precision():
    failed = Planted("query.failed", frozenset({"q1"}))
    findings = [found("coverage.missing_page", "a", "b"), found("query.failed", "q1", "q2")]
    assert judge([MISSING, failed], report(*findings))[1].precision == 1 / 2


def test_all_subjects_are_read_from_the_run_when_the_report_holds_only_a_hundred(tmp_path: Any):
    names = frozenset(f"{number:03}" for number in range(150))
    finding = found("payload.missing_field", *names, scope="chapter_id")
    (tmp_path / "findings.parquet").write_bytes(findings_parquet([finding]))
    planted = Planted("payload.missing_field", names, scope="chapter_id")
    assert verify(planted, report(finding), folder=tmp_path) == []
    assert verify(planted, report(finding)) != []


def test_a_clean_report_holds_no_error_and_no_warning():
    assert clean(report(found("query.no_coverage", "intro"))) == []
    assert clean(report(found("text.mojibake", "1"))) != []


def test_what_follows_from_the_cause_of_another_planted_defect_is_not_this_ones_doing():
    failed = Planted("query.failed", frozenset({"q"}))
    dark = Planted("retrieval.dark_page", frozenset({"/a"}), causes=frozenset({"vector.zero"}))
    subjects = [Subject(name="q"), Subject(name="r", details={"because": "vector.zero"})]
    findings = [found("vector.zero", "p"), make_finding("query.failed", subjects), found("retrieval.dark_page", "/a")]
    assert [outcome.problems for outcome in judge([failed, dark], report(*findings))] == [(), ()]
    strange = [Subject(name="q"), Subject(name="r", details={"because": "index.low_ann_recall"})]
    findings[1] = make_finding("query.failed", strange)
    assert judge([failed, dark], report(*findings))[0].precision == 1 / 2


LOST = Planted("regression.query_lost", frozenset({"q"}), causes=frozenset({"query.failed"}))
MISMATCH = Planted("vector.model_mismatch", frozenset({"docs"}))


def beside_a_regression(*others: Any) -> ValidationReport:
    lost = [Subject(name=name, details={"because": "query.failed"}) for name in ("q", "r")]
    failed = found("query.failed", "q", "r", because="vector.model_mismatch")
    return report(found("vector.model_mismatch", "docs"), failed, make_finding("regression.query_lost", lost), *others)


def test_against_a_baseline_a_defect_that_fails_queries_loses_more_of_them():
    drop = found("regression.significant_drop", "ndcg_at_5", scope="ndcg_at_5", because="vector.model_mismatch")
    assert [outcome.problems for outcome in judge([LOST, MISMATCH], beside_a_regression(drop))] == [(), ()]


def test_a_drop_that_follows_from_nothing_was_declared_by_nobody():
    drop = found("regression.significant_drop", "ndcg_at_5", scope="ndcg_at_5")
    assert judge([LOST, MISMATCH], beside_a_regression(drop))[0].problems


def test_an_outcome_has_the_number_of_named_subjects_and_the_position_of_the_finding():
    findings = [found("vector.zero", "p"), found("coverage.missing_page", "a", "b", "c")]
    outcome = judge([MISSING], report(*findings))[0]
    assert (outcome.named, outcome.place) == (3, 2)
    assert judge([MISSING], report())[0].place is None


def test_what_was_named_before_is_nobody_s_doing_unless_it_was_planted_as_well():
    before = Seen(report(found("coverage.missing_page", "a", "c"), found("retrieval.dark_page", "d")), None)
    after = report(found("coverage.missing_page", "a", "b", "c"), found("retrieval.dark_page", "a", "d"))
    outcome = judge([MISSING], after, before=before)[0]
    assert (outcome.recall, outcome.precision) == (1.0, 1.0)
    assert outcome.problems == ("retrieval.dark_page is named, and can neither follow nor was planted",)
    same = report(found("coverage.missing_page", "a", "b", "c"), found("retrieval.dark_page", "d"))
    assert judge([MISSING], same, before=before)[0].problems == ()


def test_a_query_that_another_planted_defect_fails_is_not_this_ones_doing():
    failed = Planted("query.failed", frozenset({"p"}))
    findings = [found("query.failed", "p", "q"), found("regression.query_lost", "q", because="query.failed")]
    assert [outcome.problems for outcome in judge([failed, LOST], report(*findings))] == [(), ()]


def test_a_defect_without_a_scope_is_the_finding_with_its_subjects_whatever_the_others_are():
    critical = found("regression.query_lost", "q", scope="critical", because="query.failed")
    plain = found("regression.query_lost", "r", because="query.failed")
    failed = found("query.failed", "q", "r", because="vector.model_mismatch")
    told = report(found("vector.model_mismatch", "docs"), failed, critical, plain)
    assert [outcome.problems for outcome in judge([LOST, MISMATCH], told)] == [(), ()]
