"""What starts a validation: a schedule, and an asset sensor on an ingestion of another code location."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.build import build_validation_defs
from tests.orchestration.world import NAME, World

INGESTION = dg.AssetKey(["demo_ingestion", "physical_ai_book_index"])
SENSOR = f"{NAME}_after_ingestion"


def definitions(world: World, automation: dict[str, Any] | None = None, **build: Any) -> dg.Definitions:
    return build_validation_defs(world.suite({"automation": automation or {}}), **build)


def test_schedule_and_sensor_are_shipped_stopped(clean_world: World) -> None:
    defs = build_validation_defs(clean_world.suite())
    assert defs.resolve_schedule_def(f"{NAME}_schedule").default_status == dg.DefaultScheduleStatus.STOPPED
    assert defs.resolve_sensor_def(SENSOR).default_status == dg.DefaultSensorStatus.STOPPED


def test_one_setting_switches_both_on(world: World) -> None:
    defs = definitions(world, {"enabled": True, "cron": "30 2 * * 1-5"})
    schedule = defs.resolve_schedule_def(f"{NAME}_schedule")
    assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING
    assert schedule.cron_schedule == "30 2 * * 1-5"
    assert defs.resolve_sensor_def(SENSOR).default_status == dg.DefaultSensorStatus.RUNNING


def test_a_schedule_without_a_time_of_the_suites_stays_stopped(world: World) -> None:
    schedule = definitions(world, {"enabled": True}).resolve_schedule_def(f"{NAME}_schedule")
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED


def test_the_schedule_asks_for_the_suites_job_and_says_so(clean_world: World) -> None:
    defs = build_validation_defs(clean_world.suite())
    schedule = defs.resolve_schedule_def(f"{NAME}_schedule")
    context = dg.build_schedule_context(scheduled_execution_time=datetime(2026, 1, 1, 4, tzinfo=UTC))
    [request] = schedule.evaluate_tick(context).run_requests
    assert schedule.job_name == f"{NAME}_validation"
    assert request.tags["ragval/trigger"] == "schedule"


@pytest.mark.parametrize("cron", ["every night", "99 4 * * *", "0 25 * * *", "a b c d e"])
def test_a_time_that_is_none_is_an_error_of_the_suite(world: World, cron: str) -> None:
    with pytest.raises(SuiteError, match=r"automation\.cron: .*cron"):
        definitions(world, {"cron": cron})


def test_without_an_ingestion_to_watch_there_is_no_sensor(world: World) -> None:
    assert not list(definitions(world, {"after_asset": None}).sensors or [])


@pytest.mark.parametrize("upstream", ["other/index", ["other", "index"], dg.AssetKey(["other", "index"])])
def test_code_may_name_the_ingestion_instead_of_the_suite(clean_world: World, upstream: Any) -> None:
    defs = build_validation_defs(clean_world.suite(), upstream=upstream)
    assert defs.resolve_sensor_def(SENSOR).asset_key == dg.AssetKey(["other", "index"])


@pytest.mark.parametrize("name", ["/", "a//b", "a/ /b"])
def test_an_asset_key_with_an_empty_part_is_an_error_of_the_suite(world: World, name: str) -> None:
    with pytest.raises(SuiteError, match=r"automation\.after_asset: .* is no asset key"):
        definitions(world, {"after_asset": name})


def test_a_suite_may_not_start_itself(world: World) -> None:
    with pytest.raises(SuiteError, match="each validation would start the next one"):
        definitions(world, {"after_asset": f"{NAME}/validation_report"})


class Shop:
    """A validating code location, seen by its sensor tick by tick, and ingestions that happen elsewhere."""

    def __init__(self, world: World, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        repository = build_validation_defs(world.suite()).get_repository_def()
        self.repository = repository
        self.sensor = repository.get_sensor_def(SENSOR)
        self.cursor: str | None = None

    def tick(self) -> list[dg.RunRequest]:
        context = dg.build_sensor_context(self.instance, cursor=self.cursor, repository_def=self.repository)
        data = self.sensor.evaluate_tick(context)
        self.cursor = data.cursor or self.cursor
        return list(data.run_requests or [])

    def ingest(self) -> str:
        """A run of a job that this location does not know."""

        @dg.asset(key=INGESTION)
        def index() -> None: ...

        return dg.materialize([index], instance=self.instance).run_id

    def report(self) -> None:
        """What the REST endpoint does for an ingestion outside Dagster."""
        self.instance.report_runless_asset_event(dg.AssetMaterialization(INGESTION))


@pytest.fixture
def shop(clean_world: World) -> Iterator[Shop]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Shop(clean_world, instance)


def test_nothing_ingested_nothing_to_do(shop: Shop) -> None:
    assert not shop.tick()


def test_an_ingestion_elsewhere_is_followed_by_one_validation_that_says_why(shop: Shop) -> None:
    run_id = shop.ingest()
    [request] = shop.tick()
    assert {name: value for name, value in request.tags.items() if name.startswith("ragval/")} == {
        "ragval/trigger": "after_ingestion",
        "ragval/upstream_asset": "demo_ingestion/physical_ai_book_index",
        "ragval/upstream_run": run_id,
    }
    assert run_id in str(request.run_key)
    assert not shop.tick()


def test_a_materialisation_reported_from_outside_dagster_is_followed_too(shop: Shop) -> None:
    shop.report()
    [request] = shop.tick()
    assert "ragval/upstream_run" not in request.tags
    assert not shop.tick()


def test_run_keys_never_repeat_whoever_ingests(shop: Shop) -> None:
    keys = []
    for turn in range(6):
        shop.report() if turn % 2 else shop.ingest()
        keys += [request.run_key for request in shop.tick()]
    assert len(keys) == 6
    assert len(set(keys)) == 6
    assert all(str(key).startswith(f"{NAME}:") for key in keys)


def test_ingestions_that_end_before_the_next_look_share_a_validation(shop: Shop) -> None:
    runs = [shop.ingest() for _ in range(3)]
    [request] = shop.tick()
    assert request.tags["ragval/upstream_run"] == runs[-1]
    assert not shop.tick()


def test_looking_again_at_the_same_ingestion_asks_for_the_same_run(shop: Shop) -> None:
    shop.ingest()
    [first] = shop.tick()
    shop.cursor = None
    [again] = shop.tick()
    assert again.run_key == first.run_key
