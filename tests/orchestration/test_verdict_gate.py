"""The report's check ``verdict``: what follows the report does not run unless the run's verdict is a pass."""

from __future__ import annotations

import logging

import dagster as dg
import pytest

from ragval_pipeline.orchestration.checks import verdict_result
from tests.orchestration.world import NAME, NOBODY, World, a_page, checked, materialised, run_job, why
from tests.reporting.factory import criterion, report

REPORT = dg.AssetKey([NAME, "validation_report"])
#: Of the required criteria, only coverage is left.
ONLY_COVERAGE = {
    "query_pass_rate": None, "metadata_completeness": None, "error_findings": None, "critical_queries": None,
    "coverage": 1.0,
}  # fmt: skip
NO_EMBEDDER = {
    "embedding": {"provider": "cohere", "model": "their-model", "base_url": NOBODY, "api_key": "key"},
    "retry": {"max": 0},
}


@dg.asset(deps=[REPORT])
def published_index() -> None: ...


def test_behind_a_verdict_of_error_nothing_runs_although_every_required_criterion_is_met(world: World) -> None:
    suite = world.suite({**NO_EMBEDDER, "criteria": ONLY_COVERAGE})
    result = run_job(suite, only="coverage,queries", beside=[published_index])
    assert checked(result, "coverage_report")["coverage"].passed
    assert NOBODY.removeprefix("http://") in why(result)
    assert not materialised(result) & {"validation_report", "published_index"}


def test_a_failed_verdict_names_the_criteria_that_are_not_met(world: World) -> None:
    world.delete_page(a_page(world))
    result = run_job(world.suite({"criteria": ONLY_COVERAGE}), only="coverage")
    verdict = checked(result, "validation_report")["verdict"]
    assert not verdict.passed
    assert "1 of 13 pages is not in the index." in verdict.description


@pytest.mark.parametrize(("damaged", "level"), [(True, logging.ERROR), (False, logging.INFO)])
def test_the_log_says_what_the_verdict_rests_on_and_where_the_report_is(
    world: World, instance: dg.DagsterInstance, damaged: bool, level: int
) -> None:
    """Dagster logs the results of checks as DEBUG, and names only the checks of a failed gate."""
    if damaged:
        world.delete_page(a_page(world))
    result = run_job(world.suite({"criteria": ONLY_COVERAGE}), only="coverage", instance=instance)
    told = [entry.message for entry in instance.all_logs(result.run_id) if entry.level >= level]
    [verdict] = [text for text in told if "The verdict is" in text]
    assert ("1 of 13 pages is not in the index." if damaged else "it is met: Pages in the index.") in verdict
    assert f"reports/{NAME}/" in verdict
    assert verdict.endswith("report.html")


def test_a_run_of_some_groups_fails_the_gates_that_it_leaves_out(world: World) -> None:
    """The other groups may hold garbage: only the command line, where a person chose them, excuses them."""
    suite = world.suite({"criteria": {**ONLY_COVERAGE, "error_findings": 0}})
    for group in ("chunks", "coverage"):
        result = run_job(suite, only=group, beside=[published_index])
        assert not result.success
        gates = checked(result, "validation_report")
        left_out = {"verdict", "error_findings", *({"coverage"} if group == "chunks" else ())}
        assert {name for name, gate in gates.items() if not gate.passed} == left_out
        assert {gate.severity for gate in gates.values() if not gate.passed} == {dg.AssetCheckSeverity.ERROR}
        assert "not selected" in gates["error_findings"].description
        assert "Validated only in part" in gates["verdict"].description
        assert "published_index" not in materialised(result)


def test_a_budget_that_ended_the_run_opens_no_gate() -> None:
    """Every required criterion may be met although the verdict is not a pass."""
    met = criterion("coverage", 1.0, required=True)
    verdict = verdict_result(report("not_measured", criteria=[met]), key=REPORT, folder="reports")
    assert not verdict.passed
    assert verdict.severity == dg.AssetCheckSeverity.ERROR


def test_a_suite_that_requires_nothing_blocks_nothing(world: World) -> None:
    world.delete_page(a_page(world))
    suite = world.suite({"criteria": {**ONLY_COVERAGE, "coverage": {"required": False}}})
    result = run_job(suite, only="coverage", beside=[published_index])
    assert not checked(result, "coverage_report")["coverage"].passed
    assert "verdict" not in checked(result, "validation_report"), "it could never pass"
    assert "published_index" in materialised(result)
