from __future__ import annotations

from ragval_pipeline.findings.factory import grade_findings, make_finding
from ragval_pipeline.validation.points import with_share


def test_a_warning_that_holds_for_half_of_the_points_is_an_error_unless_the_suite_grades_it() -> None:
    long = make_finding("chunk.over_model_limit", ["1", "2"])
    assert [with_share(long, points).severity for points in (5, 4, 2)] == ["warning", "error", "error"]
    assert with_share(make_finding("text.zero_width", ["1"]), 1).severity == "warning"
    [graded] = grade_findings([with_share(long, 2)], {"chunk.over_model_limit": "warning"})
    assert graded.severity == "warning"


def test_thousands_are_separated_in_every_sentence_about_points():
    finding = make_finding("text.mojibake", [str(number) for number in range(1_200)])
    assert finding.message.startswith("1,200 points ")
    assert with_share(finding, 12_000).message.startswith("1,200 of 12,000 points ")


def test_what_a_detector_graded_otherwise_stays_so_whatever_share_it_has():
    repeated = make_finding("chunk.duplicate_index", ["1", "2"]).model_copy(update={"severity": "warning"})
    assert with_share(repeated, 2).severity == "warning"
    assert with_share(make_finding("chunk.duplicate_index", ["1", "2"]), 2).severity == "error"
