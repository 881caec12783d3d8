"""What may be promoted, decided on two reports alone."""

from __future__ import annotations

from typing import Any

import pytest

from ragval_pipeline.orchestration.promotion.build import reasons_to_stay
from ragval_pipeline.orchestration.promotion.decision import AliasChange, changed_since, reasons_against, side_by_side
from ragval_pipeline.sources.snapshot.sameness import Differences
from ragval_pipeline.validation.report import ValidationReport
from tests.reporting.factory import RUN_ID, criterion, report

PROMOTED = AliasChange("promotion", "book", collection="v2", previous="v1", moved=True)


def of(*criteria: Any, verdict: Any = "pass", **more: Any) -> ValidationReport:
    return report(verdict, criteria=list(criteria), **more)


@pytest.mark.parametrize(
    ("live", "candidate", "worse"),
    [
        (1.0, 1.0, False),
        (1.0, 0.98, False),
        (1.0, 0.97, True),
        (0.5, 0.9, False),
        (None, 0.9, False),
        (0.9, None, False),
    ],
)
def test_worse_is_a_drop_beyond_the_tolerated_one(live: float | None, candidate: float | None, worse: bool) -> None:
    sides = side_by_side(
        of(criterion("coverage", candidate, required=True)), of(criterion("coverage", live)), tolerated_drop=0.02
    )
    assert [side.worse for side in sides] == [worse]


def test_what_is_not_required_is_shown_and_does_not_count() -> None:
    [side] = side_by_side(
        of(criterion("coverage", 0.1, required=False)), of(criterion("coverage", 1.0)), tolerated_drop=0.0
    )
    assert side.change == pytest.approx(-0.9)
    assert not side.worse


def test_latency_and_findings_are_left_to_their_gates() -> None:
    slow, quick = criterion("latency_p95_ms", 900, required=True), criterion("latency_p95_ms", 20, required=True)
    for one, other in ((slow, quick), (quick, slow)):
        assert not side_by_side(of(one), of(other), tolerated_drop=0.0)[0].worse


def test_a_criterion_that_nobody_measured_has_no_row() -> None:
    assert side_by_side(of(criterion("mrr", None)), of(criterion("mrr", None)), tolerated_drop=0.0) == []


def test_two_reports_of_this_run_that_pass_have_nothing_against_them() -> None:
    assert reasons_against(of(), of(verdict="fail"), run_id=RUN_ID) == []


def test_reports_of_another_run_and_a_verdict_that_is_no_pass_are_reasons() -> None:
    reasons = reasons_against(of(verdict="not_measured"), of(), run_id="another")
    assert len(reasons) == 3
    assert "verdict is not_measured" in reasons[-1]


@pytest.mark.parametrize(("found", "reason"), [
    (Differences(read=2, now=2), None),
    (Differences(read=2, now=2, changed=("1",)), "1 point came, went or changed since then"),
    (Differences(read=2, now=2, settings=True), "its settings changed since then"),
    (Differences(read=2, now=2, collection="v3", moved=True), "the suite's collection is v3 now"),
    (Differences(read=2, now=2, vectors=False), "no vector of v2 was read by this run"),
])  # fmt: skip
def test_a_candidate_of_which_any_point_is_another_is_not_what_was_validated(
    found: Differences, reason: str | None
) -> None:
    reasons = changed_since(of(collection_name="v2"), found)
    assert reasons == [] if reason is None else reason in reasons[0]


@pytest.mark.parametrize(
    ("last", "now", "to", "reason"),
    [
        (PROMOTED, "v2", None, None),
        (PROMOTED, "v3", None, "somebody else"),
        (PROMOTED, "v3", "v1", None),
        (None, "v2", None, "no promotion"),
        (None, "v2", "v1", None),
        (PROMOTED, None, "v1", "no such alias"),
        (AliasChange("rollback", "book", "v1", "v2", moved=True), "v1", None, "a rollback itself"),
    ],
)
def test_a_rollback_undoes_the_last_promotion_and_nothing_else(
    last: AliasChange | None, now: str | None, to: str | None, reason: str | None
) -> None:
    reasons = reasons_to_stay(last, now, to=to)
    assert reasons == [] if reason is None else reason in reasons[0]
