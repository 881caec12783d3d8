from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, not_measured
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.regression.compare import Values, compare_answers, measured_values
from ragval_pipeline.validation.regression.measure import measure_regression, no_comparison
from ragval_pipeline.validation.regression.pairing import RunAnswers
from ragval_pipeline.validation.regression.turnover import Turnover, turnover
from tests.validation.regression.runs import held_to, queries, query, row


def measured(
    before: Sequence[QueryReport],
    after: Sequence[QueryReport],
    *,
    tolerated: float = 0.02,
    changed: Turnover | None = None,
    criteria: tuple[Values, Values] = ({}, {}),
) -> Measurement:
    comparison = compare_answers(
        RunAnswers(before), RunAnswers(after), tolerated_drop=tolerated, turnover=changed, criteria=criteria
    )
    return measure_regression(comparison, baseline="then", collection="book")


def codes(measurement: Measurement) -> list[tuple[str, str | None, str, list[str]]]:
    return [
        (finding.code, finding.scope, finding.severity, [subject.name for subject in finding.subjects])
        for finding in measurement.findings
    ]


def test_a_drop_beyond_chance_and_beyond_the_tolerated_one_is_a_regression() -> None:
    measurement = measured(queries(20, 0), queries(14, 6))
    assert measurement.values[0].value == 0.0
    drop, lost = measurement.findings
    assert (drop.code, drop.scope, drop.severity) == ("regression.significant_drop", "query_pass_rate", "error")
    assert drop.details["delta"] == pytest.approx(-0.3)
    assert drop.details["p"] == pytest.approx(1 / 64)
    assert drop.details["interval"][1] < 0
    assert (lost.code, lost.count) == ("regression.query_lost", 6)


def test_four_lost_queries_may_be_chance_but_are_named() -> None:
    measurement = measured(queries(20, 0), queries(16, 4))
    assert measurement.values[0].value == 1.0
    assert codes(measurement) == [("regression.query_lost", None, "warning", ["q16", "q17", "q18", "q19"])]


def test_a_certain_drop_within_the_tolerated_one_is_no_regression() -> None:
    before, after = queries(1000, 0), queries(985, 15)
    assert measured(before, after).values[0].value == 1.0
    assert measured(before, after, tolerated=0.01).values[0].value == 0.0


def test_a_lost_critical_query_is_a_regression_by_itself() -> None:
    before = [*queries(20, 0), query("must", critical=True)]
    after = [*queries(20, 0), query("must", passed=False, critical=True)]
    measurement = measured(before, after)
    assert measurement.values[0].value == 0.0
    assert "must" in measurement.values[0].reason
    assert codes(measurement) == [("regression.query_lost", None, "error", ["must"])]


def test_a_lost_critical_query_counts_however_few_queries_there_are() -> None:
    measurement = measured([query("must", critical=True)], [query("must", passed=False, critical=True)])
    assert measurement.values[0].value == 0.0


def test_queries_that_vanished_count_as_lost() -> None:
    measurement = measured(queries(20, 0), queries(12, 0))
    assert measurement.values[0].value == 0.0
    assert measurement.findings[1].subjects[0].details["reason"] == "it is no longer asked"


def test_taking_a_critical_query_out_does_not_hide_that_it_is_lost() -> None:
    measurement = measured([*queries(20, 0), query("must", critical=True)], queries(20, 0))
    assert measurement.values[0].value == 0.0


def test_taking_out_a_query_that_failed_anyway_is_no_regression() -> None:
    assert measured(queries(18, 2), queries(18, 0)).values[0].value == 1.0


def test_too_few_queries_say_so_instead_of_passing() -> None:
    [value] = measured(queries(4, 0), queries(0, 4)).values
    assert (value.value, value.reason_code) == (None, "too_few")
    assert "fewer than 5" in value.reason


def test_queries_that_could_not_be_asked_are_not_compared() -> None:
    after = [query(f"q{number}", passed=None) for number in range(20)]
    [value] = measured(queries(20, 0), after).values
    assert value.reason_code == "no_data"


def test_restated_queries_are_not_compared_by_passing() -> None:
    before, after = queries(20, 0, min_similarity=0.3), queries(0, 20, min_similarity=0.9)
    assert measured(before, after).values[0].reason_code == "no_data"


@pytest.mark.parametrize(("before", "after"), [(0.70, 0.75), (0.75, 0.70)])
def test_a_threshold_that_a_person_changed_loses_and_hides_no_query(before: float, after: float) -> None:
    """Tightened it would fail queries that are found as before, loosened it would hide those that are not."""
    kept = queries(8, 0, held_to=held_to())
    old = [*kept, *(query(f"t{number}", held_to=held_to(before)) for number in range(12))]
    new = [*kept, *(query(f"t{number}", passed=number < 6, held_to=held_to(after)) for number in range(12))]
    measurement = measured(old, new)
    [value] = measurement.values
    assert value.value == 1.0
    assert "over 8 queries" in value.reason
    assert value.reason.endswith(f"12 set aside, 12 whose threshold changed from {before:.2f} to {after:.2f}")
    assert not measurement.findings
    found = measurement.sections["regression"]["queries"]
    assert found["set_aside"]["t0"] == f"its threshold changed from {before:.2f} to {after:.2f}"
    assert found["lost"] == []


def test_when_every_query_is_held_to_something_else_the_reason_says_what_to_do() -> None:
    before, after = queries(20, 0, held_to=held_to(0.7)), queries(0, 20, held_to=held_to(0.9))
    [value] = measured(before, after).values
    assert value.reason_code == "no_data"
    assert "20 set aside, 20 whose threshold changed from 0.70 to 0.90: bless a run" in value.reason


def test_a_replaced_corpus_is_distinguished_from_a_worse_ranker() -> None:
    replaced = turnover([row("p", "old")], [row("p", "new")])
    measurement = measured(queries(20, 0), queries(10, 10), changed=replaced)
    found = {finding.code: finding for finding in measurement.findings}
    assert found["regression.corpus_turnover"].severity == "info"
    assert "corpus changed rather than the ranker" in found["regression.significant_drop"].cause


def test_a_drop_on_an_unchanged_corpus_says_that_no_chunk_changed() -> None:
    same = turnover([row("p", "a")], [row("p", "a")])
    [drop, _] = measured(queries(20, 0), queries(10, 10), changed=same).findings
    assert drop.cause.startswith("No chunk changed")


@pytest.mark.parametrize("label", [{"id": "1"}, {"metadata": {"chunk_index": 0}}])
def test_chunk_labels_are_void_after_a_turnover(label: dict[str, Any]) -> None:
    replaced = turnover([row("p", "old")], [row("p", "new")])
    labelled = {"expected_results": [label]}
    measurement = measured(queries(10, 0, **labelled), queries(0, 10, **labelled), changed=replaced)
    assert measurement.values[0].reason_code == "no_data"
    assert measurement.sections["regression"]["queries"]["void"] == [f"q{number}" for number in range(10)]


def test_rankings_are_compared_by_todays_ground_truth() -> None:
    before, after = queries(10, 0), queries(10, 0)
    names = [entry.query_id for entry in before]
    old = RunAnswers(before, {name: ["right", "other"] for name in names}, {name: {"other": 2} for name in names}, 5)
    new = RunAnswers(after, {name: ["other", "right"] for name in names}, {name: {"right": 2} for name in names}, 5)
    comparison = compare_answers(old, new, tolerated_drop=0.02)
    [change] = comparison.drops
    assert change.metric == "ndcg_at_5"
    assert change.test.before == 1.0
    assert change.test.after == pytest.approx(0.6309, abs=1e-4)
    assert change.test.losses == 10


def test_rankings_are_compared_at_the_deepest_rank_that_both_runs_kept() -> None:
    """A page fell from rank 2 to 3: at rank ten the run would gain by what the earlier one never looked at."""
    names = [f"q{number}" for number in range(10)]
    truth = {name: {"right": 2, "also": 2} for name in names}
    old = RunAnswers(queries(10, 0), {name: ["x", "right", "y"] for name in names}, truth, 3)
    now = {name: ["x", "y", "right", "also"] for name in names}
    comparison = compare_answers(old, RunAnswers(queries(10, 0), now, truth, 10), tolerated_drop=0.02)
    assert [change.metric for change in comparison.drops] == ["ndcg_at_3"]
    back = compare_answers(RunAnswers(queries(10, 0), now, truth, 10), old, tolerated_drop=0.02)
    assert [change.metric for change in back.changes] == ["query_pass_rate", "ndcg_at_3"]


def test_a_ranking_that_ends_with_the_index_is_kept_as_deep_as_its_metric() -> None:
    names = [f"q{number}" for number in range(10)]
    small = RunAnswers(
        queries(10, 0), {name: ["x", "right"] for name in names}, {name: {"right": 2} for name in names}, 5
    )
    assert [change.metric for change in compare_answers(small, small, tolerated_drop=0.02).changes][1] == "ndcg_at_5"


def test_two_metrics_that_fall_in_other_queries_are_corrected_for_each_other() -> None:
    """Five lost of five are beyond chance alone (1/32), and not when five other queries might have done it as well."""
    truth = {f"r{number}": {"right": 2} for number in range(5)}
    ranked = [query(name, top_k=3) for name in truth], [query(name, top_k=5) for name in truth]
    old = RunAnswers([*queries(5, 0), *ranked[0]], {name: ["right"] for name in truth}, truth, 5)
    new = RunAnswers([*queries(0, 5), *ranked[1]], {name: ["other"] for name in truth}, truth, 5)
    alone = compare_answers(RunAnswers(queries(5, 0)), RunAnswers(queries(0, 5)), tolerated_drop=0.02)
    both = compare_answers(old, new, tolerated_drop=0.02)
    assert alone.drops
    assert [change.p_adjusted for change in both.changes] == pytest.approx([1 - (31 / 32) ** 2] * 2)
    assert not both.drops


@pytest.mark.parametrize("now", [0.6, 0.97])
def test_a_criterion_of_the_index_that_fell_is_a_regression_beyond_the_tolerated_drop(now: float) -> None:
    before, after = {"coverage": 1.0, "self_retrieval": 0.9}, {"coverage": now, "self_retrieval": 0.95}
    measurement = measured(queries(20, 0), queries(20, 0), criteria=(before, after), tolerated=0.03)
    fell = now == 0.6
    assert measurement.values[0].value == (0.0 if fell else 1.0)
    found = [("regression.significant_drop", "coverage", "error", ["coverage"])]
    assert codes(measurement) == (found if fell else [])


@pytest.mark.parametrize(("own", "fell"), [(None, False), (5, True)])
def test_pages_found_among_fewer_hits_are_no_regression(own: int | None, fell: bool) -> None:
    given = {} if own is None else {"top_k": own}
    before, after = ([query("q", True, held_to=held_to(top_k=k), **given)] for k in (5, own or 1))
    found = measured(before, after, criteria=({"self_retrieval": 0.9}, {"self_retrieval": 0.6}))
    assert bool(codes(found)) is fell


def test_an_index_without_queries_is_compared_by_its_criteria() -> None:
    same = {"coverage": 1.0}
    [value] = measured([], [], criteria=(same, same)).values
    assert (value.value, value.reason) == (
        1.0,
        "1 criterion of the index within the tolerated drop against then; no query was asked",
    )
    assert measured([], []).values[0].reason_code == "no_data"


def test_without_a_baseline_the_criterion_does_not_apply() -> None:
    [value] = no_comparison("there is no baseline yet").values
    assert value.reason_code == "not_applicable"


def test_only_criteria_of_the_index_that_have_a_value_are_compared() -> None:
    coverage = MeasuredValue(name="coverage", value=0.5, numerator=1, denominator=2, reason="")
    others = [not_measured("self_retrieval", "no_data", "none"), coverage.model_copy(update={"name": "mrr"})]
    assert measured_values([coverage, *others]) == {"coverage": 0.5}


def test_a_query_whose_ranking_was_not_kept_before_is_no_gain() -> None:
    """Drafts of the earlier run have neither judgements nor rankings: nothing tells how they ranked."""
    names = [f"q{number}" for number in range(10)]
    old = RunAnswers([query(name, held_to=held_to(conditions=[])) for name in names], rank=5)
    ranked = {name: ["right"] for name in names}
    new = RunAnswers(queries(10, 0, held_to=held_to()), ranked, {name: {"right": 2} for name in names}, 5)
    assert [change.metric for change in compare_answers(old, new, tolerated_drop=0.02).changes] == []
