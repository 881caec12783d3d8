"""Making findings, merging those of slices, and re-grading them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.factory import grade_findings, make_finding, merge_findings
from ragval_pipeline.findings.model import REPORTED_SUBJECTS, ReportedFinding, Subject


def test_a_finding_is_filled_from_its_row():
    finding = make_finding("coverage.missing_page", ["https://x.org/b", "https://x.org/a"])
    row = CATALOGUE["coverage.missing_page"]
    assert [subject.name for subject in finding.subjects] == ["https://x.org/a", "https://x.org/b"]
    assert (finding.severity, finding.subject_kind, finding.count) == ("error", "page", 2)
    assert (finding.cause, finding.remedy) == (row.cause, row.remedy)
    assert (finding.scope, finding.because, finding.details) == (None, None, {})
    assert finding.message == "2 pages of the site have no chunk."


@pytest.mark.parametrize(
    ("code", "subjects", "scope", "message"),
    [
        ("query.failed", [], None, "The query is not answered as expected."),
        ("query.failed", ["q1"], None, "The query q1 is not answered as expected."),
        ("query.failed", ["q1", "q2"], None, "2 queries are not answered as expected."),
        ("payload.missing_field", ["7"], "title", "1 point lacks a field that it needs: title."),
        ("payload.missing_field", ["7", "8"], "title", "2 points lack a field that they need: title."),
    ],
)
def test_the_message_counts_its_subjects(code: str, subjects: list[str], scope: str | None, message: str):
    assert make_finding(code, subjects, scope=scope).message == message


@pytest.mark.parametrize("code", CATALOGUE)
@pytest.mark.parametrize("count", [0, 1, 2])
def test_every_message_is_one_sentence(code: str, count: int):
    message = make_finding(code, [f"s{number}" for number in range(count)]).message
    assert message[0].isupper() or message[0].isdigit()
    assert message.endswith(".")
    assert not message.endswith("..")
    assert "  " not in message


def test_a_code_that_is_not_in_the_catalogue_is_a_defect():
    with pytest.raises(KeyError):
        make_finding("query.unknown")


def test_a_duplicate_subject_counts_once_and_the_first_is_kept():
    finding = make_finding("query.failed", [Subject(name="q", details={"n": 1}), Subject(name="q"), "p"])
    assert finding.count == 2
    assert finding.subjects[1].details == {"n": 1}


def test_the_report_shows_the_first_100_subjects_and_counts_all():
    subjects = [Subject(name=f"{number:03}", details={"n": number} if number < 2 else {}) for number in range(150)]
    finding = make_finding("vector.zero", subjects, details={"share": 0.5})
    reported = finding.reported()
    assert reported.subjects == [f"{number:03}" for number in range(REPORTED_SUBJECTS)]
    assert (reported.count, finding.count) == (150, 150)
    assert reported.details == {"share": 0.5, "subjects": {"000": {"n": 0}, "001": {"n": 1}}}


def test_a_report_names_the_ten_most_affected_subjects_if_they_differ():
    subjects = [
        Subject(name=f"{number:03}", extent=1 - number / 150, details={"n": number}) for number in range(149, -1, -1)
    ]
    subjects[0] = replace(subjects[0], extent=1.0)
    reported = make_finding("integrity.not_captured", subjects).reported()
    assert reported.details["worst"] == ["000", "149", *(f"{number:03}" for number in range(1, 9))]
    assert reported.subjects == [f"{number:03}" for number in range(REPORTED_SUBJECTS)]
    assert reported.details["subjects"]["149"] == {"n": 149}
    alike = [replace(subject, extent=0.5) for subject in subjects]
    assert "worst" not in make_finding("integrity.not_captured", alike).reported().details


def test_a_reported_finding_has_the_shape_of_the_contract():
    shape = {"code", "severity", "scope", "subject_kind", "subjects", "count", "details", "message", "cause", "remedy",
             "because"}  # fmt: skip
    assert set(ReportedFinding.model_fields) == shape
    assert "subjects" not in make_finding("query.failed", ["q"]).reported().details


def test_findings_of_one_code_and_scope_merge_and_others_do_not():
    findings = [
        make_finding("payload.empty_field", ["2"], scope="title", details={"of": 5}, cause="First."),
        make_finding("vector.zero", ["9"]),
        make_finding("payload.empty_field", ["1", "2"], scope="title", details={"of": 7, "more": 1}, cause="Second."),
        make_finding("payload.empty_field", ["1"], scope="url"),
    ]
    merged = merge_findings(findings)
    assert [(finding.code, finding.scope, finding.count) for finding in merged] == [
        ("payload.empty_field", "title", 2), ("vector.zero", None, 1), ("payload.empty_field", "url", 1),
    ]  # fmt: skip
    assert merged[0].details == {"of": 5, "more": 1}
    assert merged[0].cause == "First."
    assert merged[0].message == "2 points have no value in a field that they need: title."
    assert merge_findings([]) == []


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=4), max_size=5))
def test_slices_in_any_cut_merge_to_the_finding_of_the_whole(slices: list[list[str]]):
    parts = [make_finding("vector.zero", names) for names in slices]
    (whole,) = merge_findings(parts) if parts else [make_finding("vector.zero")]
    assert whole.subjects == make_finding("vector.zero", [name for names in slices for name in names]).subjects


def test_the_suite_regrades_codes_and_switches_them_off():
    findings = [make_finding(code, ["x"]) for code in ("query.failed", "vector.zero", "chunk.too_small")]
    graded = grade_findings(findings, {"query.failed": "info", "vector.zero": "off"})
    assert [(finding.code, finding.severity) for finding in graded] == [
        ("query.failed", "info"), ("chunk.too_small", "info"),
    ]  # fmt: skip
    assert findings[0].severity == "error"
    assert grade_findings(findings, {}) == findings
