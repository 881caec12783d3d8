"""The sensor on an ingestion's asset, tick by tick."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest

from tests.orchestration.triggers.shop import INGESTION, Shop
from tests.orchestration.world import NAME, QUIET, World

SENSOR = f"{NAME}_after_ingestion"


@pytest.fixture
def shop(clean_world: World) -> Iterator[Shop]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Shop(clean_world.suite(), instance, SENSOR)


def names(request: dg.RunRequest) -> list[str]:
    return request.tags["ragval/ingestions"].split(",")


def test_an_ingestion_elsewhere_is_followed_by_one_validation_that_says_why(shop: Shop) -> None:
    run_id = shop.ingest()
    [request] = shop.tick()
    assert {name: value for name, value in request.tags.items() if name.startswith("ragval/")} == {
        "ragval/trigger": "after_ingestion",
        "ragval/upstream_asset": "demo_ingestion/physical_ai_book_index",
        "ragval/upstream_run": run_id,
        "ragval/ingestions": run_id,
    }
    assert run_id in str(request.run_key)
    assert not shop.tick()


def test_a_materialisation_reported_from_outside_dagster_is_followed_too(shop: Shop) -> None:
    shop.report()
    [request] = shop.tick()
    assert "ragval/upstream_run" not in request.tags
    assert names(request)[0].startswith("external:")
    assert not shop.tick()


def test_run_keys_never_repeat_whoever_ingests(shop: Shop) -> None:
    keys = []
    for turn in range(6):
        shop.report() if turn % 2 else shop.ingest()
        keys += [request.run_key for request in shop.tick()]
    assert len(keys) == 6
    assert len(set(keys)) == 6
    assert all(str(key).startswith(f"{NAME}:") for key in keys)


def test_a_sensor_that_is_switched_on_looks_back_to_the_last_ingestion_only(shop: Shop) -> None:
    runs = [shop.ingest() for _ in range(3)]
    [request] = shop.tick()
    assert names(request) == runs[-1:]


def test_an_ingestion_whose_run_goes_on_after_its_asset_is_waited_for(shop: Shop) -> None:
    """An asset is materialised before the run that makes it is over; later steps may still write."""
    seen: list[tuple[int, str | None]] = []

    @dg.asset(key=INGESTION)
    def index() -> None: ...

    @dg.asset(deps=[index])
    def clean_up() -> None:
        seen.append((len(shop.tick()), shop.skipped))

    run_id = dg.materialize([index, clean_up], instance=shop.instance).run_id
    assert seen == [(0, f"ingestion {run_id} is still running")]
    [request] = shop.tick()
    assert names(request) == [run_id]
    assert not shop.tick()


def test_many_events_of_one_run_are_one_ingestion(shop: Shop) -> None:
    shop.tick()

    @dg.op
    def load(context) -> None:
        for _ in range(5):
            context.log_event(dg.AssetMaterialization(INGESTION))

    @dg.job
    def ingest() -> None:
        load()

    run_id = ingest.execute_in_process(instance=shop.instance).run_id
    [request] = shop.tick()
    assert names(request) == [run_id]
    shop.validate()
    assert not shop.tick()
    assert not shop.tick()
    assert shop.skipped == "no new ingestion"


def test_an_ingestion_that_was_validated_already_is_skipped_with_that_reason(shop: Shop) -> None:
    ingestion = shop.ingest()
    validation = shop.validate()
    assert not shop.tick()
    assert shop.skipped == f"ingestion {ingestion} was already validated by {validation}"
    assert not shop.tick()


def test_a_run_of_some_groups_only_is_no_validation(shop: Shop) -> None:
    shop.ingest()
    shop.validate(**{"ragval/only": "coverage"})
    assert len(shop.tick()) == 1


def test_a_run_of_some_assets_and_one_that_continues_another_are_no_validations(shop: Shop) -> None:
    earlier = shop.validate()
    shop.ingest()
    job = shop.repository.get_job(f"{NAME}_validation")
    some = {dg.AssetKey([NAME, "validation_report"])}
    for more in ({}, {"parent_run_id": earlier, "root_run_id": earlier}):
        part = job.get_subset(asset_selection=some)
        run = shop.instance.create_run_for_job(
            job_def=part, tags={"ragval/suite": NAME}, asset_selection=frozenset(some), **more
        )
        shop.instance.report_run_failed(run)
    assert len(shop.tick()) == 1


def test_a_backfill_of_four_partitions_is_one_validation_after_the_last(shop: Shop) -> None:
    partitions = dg.StaticPartitionsDefinition(["a", "b", "c", "d"])

    @dg.asset(key=INGESTION, partitions_def=partitions)
    def index() -> None: ...

    job = dg.Definitions(assets=[index], jobs=[dg.define_asset_job("fill", [index])]).resolve_job_def("fill")
    shop.tick()
    queued = [
        shop.instance.create_run_for_job(
            job_def=job,
            tags={"dagster/partition": name, "dagster/backfill": "x"},
            status=dg.DagsterRunStatus.NOT_STARTED,
        )
        for name in ["b", "c", "d"]
    ]
    for name in ["a", "b", "c", "d"]:
        assert not shop.tick()
        job.execute_in_process(instance=shop.instance, partition_key=name, run_config=QUIET)
        if name != "a":  # each stands for one that was queued
            shop.instance.report_run_canceled(queued.pop())
    [request] = shop.tick()
    assert len(names(request)) == 4


def test_ten_ingestions_one_after_the_other_are_ten_validations(shop: Shop) -> None:
    asked = []
    for _ in range(10):
        shop.ingest()
        asked += shop.tick()
        shop.validate()
        assert not shop.tick()
    assert len(asked) == 10
