from __future__ import annotations

import pytest

from ragval_pipeline.findings.factory import Totals, make_finding, order_findings, with_shares
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.findings.readers import AnsweredBy, Readers, with_readers

ANSWERS = (AnsweredBy(200, "a", ["a1", "a2"]), AnsweredBy(15, "b", ["b1"]), AnsweredBy(5, "b", ["b1", "b2"]))
READERS = Readers(asked=400, answers=ANSWERS, wanted={"m": 60}, a_month=0.5)


def stale(*pages: str) -> Finding:
    return make_finding("coverage.stale_page", [Subject(f"/{page}", page=page) for page in pages])


def test_findings_say_how_many_questions_they_concern() -> None:
    missing = make_finding("coverage.missing_page", [Subject("/m", page="m")])
    unasked = stale("z")
    found = with_readers([stale("a", "b"), missing, unasked], READERS)
    assert [finding.asked for finding in found] == [0.55, 0.15, 0.0]
    assert found[0].message.endswith("Answers 110 questions a month.")
    assert found[1].message.endswith("Would answer 30 questions a month.")
    assert found[2].message == unasked.message


def test_without_times_questions_of_the_log_are_counted() -> None:
    [found] = with_readers([stale("a")], Readers(400, ANSWERS))
    assert found.message.endswith("Answers 200 of the 400 questions of the log.")


def test_a_point_concerns_the_questions_that_it_is_shown_for() -> None:
    points = [Subject("b2", page="b"), Subject("b1", page="b"), Subject("a9", page="a")]
    [found] = with_readers([make_finding("chunk.duplicate_text", points)], READERS)
    assert found.asked == 0.05
    assert found.message.endswith("Shown for 10 questions a month.")


def test_what_more_readers_meet_comes_first_but_no_warning_before_an_error() -> None:
    many = make_finding("chunk.duplicate_text", [Subject(f"b{number}", page="b") for number in range(50)])
    few = stale("a")
    error = make_finding("coverage.missing_page", [Subject("/x", page="x")])
    shared = with_shares([many, few, error], Totals(pages=100, points=100))
    plain = [finding.code for finding in order_findings(shared)]
    assert plain == ["coverage.missing_page", "chunk.duplicate_text", "coverage.stale_page"]
    read = [finding.code for finding in order_findings(with_readers(shared, READERS))]
    assert read == ["coverage.missing_page", "coverage.stale_page", "chunk.duplicate_text"]
    assert with_readers(shared, READERS)[1].reported().weight == 0.5


def test_what_follows_from_another_finding_counts_there() -> None:
    follows = {"because": "coverage.missing_page"}
    partly = make_finding("coverage.stale_page", [Subject("/a", page="a", details=follows), Subject("/b", page="b")])
    wholly = make_finding("coverage.stale_page", [Subject("/a", page="a", details=follows)])
    [found, whole] = with_readers([partly, wholly], READERS)
    assert (found.asked, READERS.concern(found)) == (0.55, 0.05)
    assert READERS.concern(whole) == whole.asked == 0.5


def test_a_finding_that_mostly_names_what_another_does_comes_after_what_readers_meet() -> None:
    follows = {"because": "coverage.missing_page"}
    partly = make_finding("coverage.stale_page", [Subject("/a", page="a", details=follows), Subject("/z", page="z")])
    points = make_finding("chunk.duplicate_text", [Subject("b1", page="b")])
    shared = with_readers([partly, points], READERS)
    assert [finding.code for finding in order_findings(shared, READERS.concern)] == [
        "chunk.duplicate_text",
        "coverage.stale_page",
    ]


@pytest.mark.parametrize(
    ("following", "expected"),
    [
        (3, ["coverage.missing_page", "payload.missing_field", "vector.zero"]),
        (1, ["vector.zero", "payload.missing_field", "coverage.missing_page"]),
    ],
)
def test_a_cause_of_a_part_comes_where_this_part_would(following: int, expected: list[str]) -> None:
    names = ["n1", "n2", "n3", "n4"]
    readers = Readers(100, [*(AnsweredBy(10, "n", [name]) for name in names), AnsweredBy(15, "f", ["f"])])
    because = {"because": "coverage.missing_page"}
    partly = make_finding(
        "vector.zero",
        [Subject(name, page="n", details=because if at < following else {}) for at, name in enumerate(names)],
    )
    cause = make_finding("coverage.missing_page", [Subject("/m", page="m")])
    beside = make_finding("payload.missing_field", [Subject("f", page="f")])
    found = with_readers([partly, cause, beside], readers)
    ordered = [finding.code for finding in order_findings(found, readers.concern)]
    assert ordered == expected
