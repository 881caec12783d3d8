"""The one decision behind every trigger: no ingestion is left out, none is validated twice."""

from __future__ import annotations

import pytest

from ragval_pipeline.orchestration.triggers.records import (
    GIVEN_UP_AFTER_S,
    TRIED_AGAIN_AFTER_S,
    WAITS_FOR_OTHERS_S,
    Decision,
    Ingestion,
    Validation,
    covering,
    decide,
    tries_of,
    unsettled,
)

NOW = 1000.0
A, B, GOING = Ingestion("a", 100.0), Ingestion("b", 200.0), Ingestion("going", None)


def decided(*ingestions: Ingestion, by: list[Validation] | None = None) -> Decision:
    return decide(ingestions, by or [], now=NOW)


def test_ingestions_that_are_over_share_one_validation_that_names_them_all() -> None:
    decision = decided(A, B)
    assert (decision.action, decision.ingestions) == ("run", (A, B))


def test_an_ingestion_that_still_runs_is_waited_for() -> None:
    decision = decided(GOING)
    assert decision.action == "wait"
    assert "going is still running" in decision.reason
    assert unsettled(GOING, [])


def test_one_that_is_over_waits_for_those_that_are_not_but_not_for_ever() -> None:
    waiting = decided(GOING, B)
    assert waiting.action == "wait"
    assert "b ended; ingestion going is still to come" in waiting.reason
    assert unsettled(B, [])
    late = decide([GOING, B], [], now=200.0 + WAITS_FOR_OTHERS_S)
    assert (late.action, late.ingestions) == ("run", (B,))
    assert unsettled(GOING, [])


def test_a_validation_that_started_after_the_end_makes_another_one_needless() -> None:
    decision = decided(A, by=[Validation("v", "ended", 100.0)])
    assert decision.action == "nothing"
    assert decision.reason == "ingestion a was already validated by v"


def test_only_ingestions_that_are_not_validated_yet_are_named() -> None:
    assert decided(A, B, by=[Validation("v", "ended", 150.0)]).ingestions == (B,)


def test_a_validation_that_has_not_begun_is_shared() -> None:
    decision = decided(A, by=[Validation("v", "waiting", names=frozenset({"z"}))])
    assert (decision.action, decision.run_id, decision.ingestions) == ("share", "v", (A,))


def test_a_validation_that_names_the_ingestion_already_is_left_alone() -> None:
    decision = decided(A, by=[Validation("v", "waiting", names=frozenset({"a"}))])
    assert decision.action == "nothing"


def test_while_a_validation_runs_the_next_one_waits() -> None:
    running = [Validation("v", "running", 50.0)]
    decision = decided(A, by=running)
    assert decision.action == "wait"
    assert unsettled(A, running)
    assert "v started before it ended and is still running" in decision.reason


def test_a_running_validation_that_began_after_the_end_is_enough() -> None:
    assert decided(A, by=[Validation("v", "running", 500.0)]).action == "nothing"


def test_a_validation_that_has_died_without_a_word_keeps_nobody_waiting_for_ever() -> None:
    late = decide([A], [Validation("v", "running", 50.0)], now=50.0 + GIVEN_UP_AFTER_S + 1)
    assert late.action == "run"


@pytest.mark.parametrize("started", [None, 50.0])
def test_a_run_that_never_began_or_began_too_early_covers_nothing(started: float | None) -> None:
    assert covering(A, [Validation("v", "ended", started)]) is None


def test_many_ingestions_are_counted_and_not_all_listed() -> None:
    many = [Ingestion(f"i{number}", 1.0) for number in range(10)]
    assert decided(*many).reason == "ingestions i0, i1, i2 and 7 more ended"


def died(*times: float) -> list[Validation]:
    return [Validation(f"v{time:g}", "ended", time, judged=False, ended=time + 10) for time in reversed(times)]


def test_a_validation_without_a_verdict_covers_nothing_and_is_tried_again_after_a_while() -> None:
    soon = decide([A], died(150.0), now=160.0 + TRIED_AGAIN_AFTER_S - 1)
    assert (soon.action, soon.reason) == (
        "wait",
        "ingestion a: v150 ended without a verdict; tried again later",
    )
    later = decide([A], died(150.0), now=160.0 + TRIED_AGAIN_AFTER_S)
    assert (later.action, later.reason) == ("run", "ingestion a ended; try 2 of 3")
    assert unsettled(A, died(150.0))


def test_after_three_tries_without_a_verdict_nothing_is_tried_any_more() -> None:
    tries = died(150.0, 900.0, 1600.0)
    assert decide([A], tries, now=9000.0).action == "nothing"
    assert not unsettled(A, tries)
    assert unsettled(A, tries[:2])


def test_a_verdict_after_a_failed_try_covers_the_ingestion() -> None:
    known = [Validation("good", "ended", 900.0), *died(150.0)]
    assert decide([A], known, now=2000.0).reason == "ingestion a was already validated by good"
    assert not unsettled(A, known)


def test_an_ingestion_is_settled_when_its_validation_has_ended_and_not_before() -> None:
    assert unsettled(A, [Validation("v", "running", 150.0)])
    assert unsettled(A, [Validation("v", "waiting", names=frozenset({"a"}))])
    assert not unsettled(A, [Validation("v", "ended", 150.0)])


def test_a_validation_that_never_began_is_a_try_of_the_ingestions_that_it_names() -> None:
    lost = Validation("v", "ended", None, frozenset({"a"}), judged=False, ended=100.0)
    assert tries_of(A, [lost]) == [lost]
    assert tries_of(B, [lost]) == []
