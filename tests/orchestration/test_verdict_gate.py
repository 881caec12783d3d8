"""The report's check ``verdict``: what follows the report does not run unless the run's verdict is a pass."""

from __future__ import annotations

import json

import dagster as dg

from tests.orchestration.world import NAME, NOBODY, World, a_page, checked, materialised, report_file, run_job

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
    report = json.loads(report_file(result).read_text(encoding="utf-8"))
    assert report["verdict"] == "error"
    gates = checked(result, "validation_report")
    assert gates["coverage"].passed
    assert not gates["verdict"].passed
    assert gates["verdict"].severity == dg.AssetCheckSeverity.ERROR
    assert "An outside system failed: " in gates["verdict"].description
    assert NOBODY.removeprefix("http://") in gates["verdict"].description
    assert "published_index" not in materialised(result)


def test_behind_a_pass_what_follows_runs(world: World) -> None:
    result = run_job(world.suite({"criteria": ONLY_COVERAGE}), only="coverage", beside=[published_index])
    assert result.success
    verdict = checked(result, "validation_report")["verdict"]
    assert verdict.passed
    assert "it is met: coverage" in verdict.description
    assert "published_index" in materialised(result)


def test_a_failed_verdict_names_the_criteria_that_are_not_met(world: World) -> None:
    world.delete_page(a_page(world))
    result = run_job(world.suite({"criteria": ONLY_COVERAGE}), only="coverage")
    verdict = checked(result, "validation_report")["verdict"]
    assert not verdict.passed
    assert "is not met: coverage." in verdict.description


def test_a_verdict_of_not_measured_that_is_excused_warns(world: World) -> None:
    result = run_job(world.suite({"criteria": ONLY_COVERAGE}), only="chunks")
    assert result.success
    verdict = checked(result, "validation_report")["verdict"]
    assert not verdict.passed
    assert verdict.severity == dg.AssetCheckSeverity.WARN


def test_a_suite_that_requires_nothing_blocks_nothing(world: World) -> None:
    suite = world.suite({**NO_EMBEDDER, "criteria": {**ONLY_COVERAGE, "coverage": {"required": False}}})
    result = run_job(suite, only="coverage,queries", beside=[published_index])
    assert not checked(result, "validation_report")["verdict"].passed
    assert "published_index" in materialised(result)
