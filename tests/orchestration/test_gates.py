"""No way in: a gate opens on what its own run measured of everything, and on nothing else.

Every test starts from a good validation, spoils the index, and tries to get a guarded asset to run all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.measuring.names import ONLY_TAG
from ragval_pipeline.measuring.table import ASSETS
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import TRIGGER_TAG, asset_key
from tests.orchestration import a_validation
from tests.orchestration.world import (
    COVERAGE_ALONE,
    NAME,
    NOBODY,
    QUIET,
    World,
    a_page,
    checked,
    materialised,
    replace_with_garbage,
    run_job,
)

COVERAGE = {ONLY_TAG: "coverage"}
REPORT = asset_key(NAME, "validation_report")


@dg.asset(deps=[REPORT])
def published() -> None: ...


@dg.asset(deps=[asset_key(NAME, "coverage_report")])
def beside_the_report() -> None: ...


@pytest.fixture
def spoilt(world: World, instance: dg.DagsterInstance) -> World:
    """An index that was validated and found good, and has lost a page since."""
    assert run_job(world.suite({"criteria": COVERAGE_ALONE}), instance=instance, only="coverage").success
    world.delete_page(a_page(world))
    return world


def select(
    world: World, instance: dg.DagsterInstance, selection: dg.AssetSelection, tags: Mapping[str, str] = COVERAGE
) -> dg.ExecuteInProcessResult:
    """What a person or a job does with a selection in a location that holds the suite and assets of its own."""
    job = dg.define_asset_job("chosen", selection=selection, executor_def=dg.in_process_executor)
    own = dg.Definitions(assets=[published, beside_the_report], jobs=[job])
    defs = dg.Definitions.merge(build_validation_defs(world.suite()), own)
    return defs.resolve_job_def("chosen").execute_in_process(
        instance=instance, run_config=QUIET, raise_on_error=False, tags=dict(tags)
    )


def assert_closed(result: Any) -> None:
    assert not result.success
    assert not {"published", "beside_the_report"} & materialised(result)


ALL = dg.AssetSelection.all()
THE_REPORT = dg.AssetSelection.assets(REPORT)
PUBLISHED = dg.AssetSelection.assets(published)


@pytest.mark.parametrize(
    "selection",
    [
        ALL,
        THE_REPORT | PUBLISHED,
        PUBLISHED.upstream(depth=1),
        ALL - dg.AssetSelection.assets(asset_key(NAME, "coverage_report"), beside_the_report),
        ALL - dg.AssetSelection.assets(asset_key(NAME, "payload_snapshot")),
        ALL.without_checks(),
        (THE_REPORT | PUBLISHED).without_checks(),
        dg.AssetSelection.checks_for_assets(REPORT) | PUBLISHED,
    ],
    ids=str,
)
def test_no_selection_opens_the_gate_of_a_spoilt_index(
    spoilt: World, instance: dg.DagsterInstance, selection: dg.AssetSelection
) -> None:
    """Neither old values nor checks that are left out do."""
    assert_closed(select(spoilt, instance, selection))


@pytest.mark.parametrize(
    "only", ["latency", "coverage,metadata", "chunks", "coverage,metadata,chunks,integrity,queries"]
)
@pytest.mark.parametrize("trigger", [{}, {TRIGGER_TAG: "command_line"}], ids=["", "as the command line"])
def test_a_run_of_some_groups_opens_no_gate_although_they_are_good(
    world: World, instance: dg.DagsterInstance, only: str, trigger: dict[str, str]
) -> None:
    result = select(world, instance, ALL, {ONLY_TAG: only, **trigger})
    assert_closed(result)
    assert not checked(result, "validation_report")["verdict"].passed


@pytest.mark.parametrize("changes", [
    {"qdrant": {"path": "./nowhere"}},
    {"source": {"sitemap": f"{NOBODY}/sitemap.xml"}},
    {"source": None},
])  # fmt: skip
def test_what_could_not_be_measured_opens_no_gate_and_closes_those_of_other_runs(
    world: World, instance: dg.DagsterInstance, changes: dict[str, Any]
) -> None:
    world.suite({"criteria": COVERAGE_ALONE, "retry": {"max": 0}})
    assert select(world, instance, ALL).success
    world.suite(changes)
    result = select(world, instance, ALL)
    assert_closed(result)
    gates = checked(result, "validation_report")
    assert set(gates) == {"coverage", "verdict"}
    assert not any(gate.passed for gate in gates.values())


def reexecuted(instance: dg.DagsterInstance, run_id: str, **how: Any) -> dg.JobExecutionResult:
    options = dg.ReexecutionOptions(run_id, **how) if how else dg.ReexecutionOptions.from_failure(run_id, instance)
    job = a_validation.fresh()
    with dg.execute_job(job, instance, reexecution_options=options, run_config=QUIET, tags=COVERAGE) as result:
        return result


def test_a_run_that_is_executed_again_measures_again(
    world: World, kept: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every value of the first run was good, and as many points are garbage now; the page is replaced later still."""
    from qdrant_client import QdrantClient

    monkeypatch.setenv(a_validation.VARIABLE, str(world.folder / "ragval.yaml"))
    world.suite({"criteria": COVERAGE_ALONE})
    with dg.execute_job(a_validation.fresh(), kept, run_config=QUIET, tags=COVERAGE) as first:
        assert first.success
    with closing(QdrantClient(path=str(world.folder / "qdrant"))) as client:
        replace_with_garbage(client)
    again = reexecuted(kept, first.run_id, step_selection=[f"{NAME}__validation", "published"])
    assert_closed(again)
    assert materialised(again) == set(ASSETS)
    assert_closed(reexecuted(kept, again.run_id))


def test_a_report_that_somebody_reports_by_hand_does_not_pass_the_documented_condition(
    world: World, instance: dg.DagsterInstance
) -> None:
    """The checks that passed are those of the report before."""
    assert run_job(world.suite({"criteria": COVERAGE_ALONE}), instance=instance, only="coverage").success

    @dg.asset(deps=[REPORT], automation_condition=dg.AutomationCondition.eager()
              & dg.AutomationCondition.all_deps_blocking_checks_passed())  # fmt: skip
    def downstream() -> None: ...

    defs = dg.Definitions.merge(build_validation_defs(world.suite()), dg.Definitions(assets=[downstream]))
    first = dg.evaluate_automation_conditions(defs, instance)
    instance.report_runless_asset_event(dg.AssetMaterialization(REPORT))
    assert dg.evaluate_automation_conditions(defs, instance, cursor=first.cursor).total_requested == 0
