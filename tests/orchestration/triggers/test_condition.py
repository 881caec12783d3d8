"""The automation condition in place of the sensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.measuring.table import ASSETS
from ragval_pipeline.orchestration.build import build_validation_defs
from tests.orchestration.triggers.shop import INGESTION
from tests.orchestration.world import NAME, World


@dataclass
class Evaluated:
    """Tick after tick of the automation of one location."""

    defs: dg.Definitions
    instance: dg.DagsterInstance
    cursor: Any = field(default=None)

    def tick(self) -> set[str]:
        """Names of the assets that are requested."""
        result = dg.evaluate_automation_conditions(self.defs, self.instance, cursor=self.cursor)
        self.cursor = result.cursor
        return {name for name in ASSETS if result.get_num_requested(dg.AssetKey([NAME, name]))}

    def ingest(self) -> None:
        self.instance.report_runless_asset_event(dg.AssetMaterialization(INGESTION))


@pytest.fixture
def evaluated(clean_world: World) -> Iterator[Evaluated]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Evaluated(build_validation_defs(clean_world.suite(), declarative=True), instance)


def test_an_ingestion_requests_every_asset_once_also_those_that_do_not_depend_on_it(evaluated: Evaluated) -> None:
    """And with it its checks, which it makes itself."""
    evaluated.tick()
    evaluated.ingest()
    assert evaluated.tick() == set(ASSETS)
    assert not evaluated.tick()


def test_its_runs_say_which_suite_they_validate_and_why(clean_world: World) -> None:
    defs = build_validation_defs(clean_world.suite(), declarative=True)
    sensor = defs.resolve_sensor_def(f"{NAME}_automation_condition")
    assert isinstance(sensor, dg.AutomationConditionSensorDefinition)
    assert sensor.run_tags == {
        "ragval/suite": NAME,
        "ragval/trigger": "automation_condition",
        "ragval/upstream_asset": "demo_ingestion/physical_ai_book_index",
    }
    assert sensor.default_status == dg.DefaultSensorStatus.STOPPED
    graph = defs.resolve_asset_graph()
    assert sensor.asset_selection.resolve(graph) == {dg.AssetKey([NAME, name]) for name in ASSETS}
    assert sensor.asset_selection.resolve_checks(graph) == graph.asset_check_keys


def test_without_it_no_asset_is_automated(clean_world: World) -> None:
    specs = build_validation_defs(clean_world.suite()).resolve_all_asset_specs()
    assert not any(spec.automation_condition for spec in specs)


def test_a_condition_without_an_asset_to_follow_is_an_error_of_the_suite(world: World) -> None:
    suite = world.suite({"automation": {"after_asset": None}})
    with pytest.raises(SuiteError, match="needs an asset to follow, and none is set"):
        build_validation_defs(suite, declarative=True)
