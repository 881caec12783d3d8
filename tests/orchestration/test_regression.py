"""The asset that compares a run with its baseline, through real runs."""

from __future__ import annotations

import json

import pytest

from tests.orchestration.world import World, a_page, report_file, run_job

pytestmark = pytest.mark.usefixtures("without_gx")


def test_an_index_that_lost_pages_is_a_regression_against_the_run_before(world: World) -> None:
    suite = world.suite({"history": {"baseline": "last"}})
    only = "coverage,regression"
    first = json.loads(report_file(run_job(suite, only=only)).read_bytes())
    world.delete_page(a_page(world))
    second = json.loads(report_file(run_job(suite, only=only)).read_bytes())
    values = [next(c["value"] for c in run["criteria"] if c["name"] == "no_regression") for run in (first, second)]
    assert values == [None, 0.0]
    drops = {entry["scope"]: entry for entry in second["findings"] if entry["code"] == "regression.significant_drop"}
    assert drops["coverage"]["subjects"] == ["coverage"]
    assert drops["coverage"]["message"].startswith("coverage fell from 100.0 % to 92.3 %")
