"""What a suite's `automation` makes: which sensors and schedules, switched on or off, and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import pool_name
from ragval_pipeline.orchestration.promotion import build_promotion_defs
from tests.orchestration.world import NAME, NOBODY, World

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


def test_one_trigger_is_the_default(clean_world: World) -> None:
    names = [sensor.name for sensor in build_validation_defs(clean_world.suite()).sensors or []]
    assert names == [SENSOR]


def test_every_trigger_that_a_suite_names_is_built_and_switched_on(world: World) -> None:
    automation = {"after_job": "ingest", "poll_s": 60, "enabled": True}
    suite = world.suite({"qdrant": {"url": NOBODY, "path": None}, "automation": automation})
    defs = build_validation_defs(suite)
    names = {sensor.name: sensor.default_status for sensor in defs.sensors or []}
    assert names == dict.fromkeys(
        [SENSOR, f"{NAME}_after_job", f"{NAME}_collection_changed"], dg.DefaultSensorStatus.RUNNING
    )


def test_what_reads_the_collection_is_in_its_pool(clean_world: World) -> None:
    defs = build_validation_defs(clean_world.suite())
    job = defs.resolve_job_def(f"{NAME}_validation")
    pools = {node.name: node.definition.pool for node in job.graph.nodes}
    assert pools == {f"{NAME}__validation": pool_name(clean_world.suite())}


def test_one_pool_for_all_suites_of_an_embedded_folder_and_one_a_collection_of_a_server(world: World) -> None:
    here = world.suite()
    there = world.suite({"suite": "other", "qdrant": {"collection": "other"}})
    assert pool_name(here) == pool_name(there)
    assert pool_name(here) != pool_name(world.suite({"qdrant": {"path": "./elsewhere"}}))
    served = {"qdrant": {"url": NOBODY, "path": None, "collection": "a collection"}}
    assert pool_name(world.suite(served)) == "ragval:a_collection"


def test_a_promotion_in_processes_that_would_keep_each_other_out_of_an_embedded_folder_is_refused(
    clean_world: World,
) -> None:
    """A validation is one step, so that it may have any executor."""
    for executor in (dg.multiprocess_executor, dg.multi_or_in_process_executor):
        build_validation_defs(clean_world.suite(), executor=executor)
        with pytest.raises(SuiteError, match=r"executor: an embedded Qdrant .*only one process at a time"):
            build_promotion_defs(clean_world.suite(), alias="book", executor=executor)


@pytest.mark.parametrize(("hours", "window_s"), [(36, 129_600), (0.5, 1800), (0.001, 60)])
def test_a_report_is_stale_after_the_hours_that_the_suite_says(world: World, hours: float, window_s: int) -> None:
    defs = definitions(world, {"fresh_within_hours": hours})
    policies = {spec.key.path[-1]: spec.freshness_policy for spec in defs.resolve_all_asset_specs()}
    assert policies["validation_report"] == dg.FreshnessPolicy.time_window(fail_window=timedelta(seconds=window_s))
    assert {name for name, policy in policies.items() if policy} == {"validation_report"}


def test_without_hours_no_report_goes_stale(clean_world: World) -> None:
    specs = build_validation_defs(clean_world.suite()).resolve_all_asset_specs()
    assert not any(spec.freshness_policy for spec in specs)


def test_without_an_ingestion_to_watch_there_is_no_sensor(world: World) -> None:
    assert not list(definitions(world, {"after_asset": None}).sensors or [])


@pytest.mark.parametrize("upstream", ["other/index", ["other", "index"], dg.AssetKey(["other", "index"])])
def test_code_may_name_the_ingestion_instead_of_the_suite(clean_world: World, upstream: Any) -> None:
    defs = build_validation_defs(clean_world.suite(), upstream=upstream)
    assert defs.resolve_sensor_def(SENSOR).metadata["watches"].value == dg.AssetKey(["other", "index"])


@pytest.mark.parametrize("upstream", [f"{NAME}/collection", "a//b"])
def test_a_wrong_upstream_is_an_error_of_the_code_that_gives_it(clean_world: World, upstream: str) -> None:
    with pytest.raises(SuiteError, match=f"^upstream: '?{upstream}"):
        build_validation_defs(clean_world.suite(), upstream=upstream)


@pytest.mark.parametrize(("key", "value", "message"), [
    *(("cron", cron, ".*cron") for cron in ("every night", "99 4 * * *", "0 25 * * *", "a b c d e")),
    ("poll_s", 60, "an embedded Qdrant .* cannot be polled"),
    *(("after_job", job, ".*is not a job") for job in (":", "here:", ":ingest")),
    ("after_job", f"{NAME}_validation", ".*each validation would start the next one"),
    ("after_job", f"ragval:{NAME}_validation", ".*each validation would start the next one"),
    *(("after_asset", name, ".* is not an asset key") for name in ("/", "a//b", "a/ /b")),
    *(
        ("after_asset", f"{NAME}/{name}", f"{NAME}/{name} is an asset of this suite, which cannot follow itself")
        for name in ("validation_report", "collection", "sitemap")
    ),
])  # fmt: skip
def test_what_cannot_start_a_validation_is_an_error_of_the_suite(
    world: World, key: str, value: object, message: str
) -> None:
    with pytest.raises(SuiteError, match=rf"automation\.{key}: {message}"):
        definitions(world, {key: value})
