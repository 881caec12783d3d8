from __future__ import annotations

from ragval_pipeline.findings.factory import Totals, make_finding, order_findings, with_shares
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.findings.readers import Readers, with_readers

READERS = Readers(asked=400, first={"a": 200, "b": 20}, wanted={"m": 60}, a_month=0.5)


def stale(*pages: str) -> Finding:
    return make_finding("coverage.stale_page", [Subject(f"/{page}", page=page) for page in pages])


def test_findings_say_how_many_questions_they_concern() -> None:
    missing = make_finding("coverage.missing_page", [Subject("/m", page="m")])
    unasked = stale("z")
    found = with_readers([stale("a", "b"), missing, unasked], READERS)
    assert [finding.asked for finding in found] == [0.55, 0.15, 0.0]
    assert found[0].message.endswith("First for 110 questions a month.")
    assert found[1].message.endswith("Would answer 30 questions a month.")
    assert found[2].message == unasked.message


def test_without_times_questions_of_the_log_are_counted() -> None:
    [found] = with_readers([stale("a")], Readers(400, {"a": 200}))
    assert found.message.endswith("First for 200 of the 400 questions of the log.")


def test_what_more_readers_meet_comes_first_but_no_warning_before_an_error() -> None:
    many = make_finding("chunk.duplicate_text", [Subject(f"p{number}", page="b") for number in range(50)])
    few = stale("a")
    error = make_finding("coverage.missing_page", [Subject("/x", page="x")])
    shared = with_shares([many, few, error], Totals(pages=100, points=100))
    plain = [finding.code for finding in order_findings(shared)]
    assert plain == ["coverage.missing_page", "chunk.duplicate_text", "coverage.stale_page"]
    read = [finding.code for finding in order_findings(with_readers(shared, READERS))]
    assert read == ["coverage.missing_page", "coverage.stale_page", "chunk.duplicate_text"]
    assert with_readers(shared, READERS)[1].reported().weight == 0.5
