"""The sensor on another job's successes."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest

from tests.orchestration.triggers.shop import Shop
from tests.orchestration.world import NAME, QUIET, World

SENSOR = f"{NAME}_after_job"


@pytest.fixture
def shop(world: World) -> Iterator[Shop]:
    suite = world.suite({"automation": {"after_asset": None, "after_job": "nightly_ingest"}})
    with dg.DagsterInstance.ephemeral() as instance:
        shop = Shop(suite, instance, SENSOR)
        shop.tick()
        yield shop


def run(shop: Shop, name: str = "nightly_ingest", *, fails: bool = False) -> str:
    @dg.op
    def load() -> None:
        assert not fails

    @dg.job(name=name)
    def ingest() -> None:
        load()

    return ingest.execute_in_process(instance=shop.instance, run_config=QUIET, raise_on_error=False).run_id


def waiting(shop: Shop) -> str:
    """A run of the job that has not begun."""

    @dg.op
    def load() -> None: ...

    @dg.job(name="nightly_ingest")
    def ingest() -> None:
        load()

    return shop.instance.create_run_for_job(job_def=ingest, status=dg.DagsterRunStatus.NOT_STARTED).run_id


def ticks(shop: Shop, count: int) -> list[dg.RunRequest]:
    return [request for _ in range(count) for request in shop.tick()]


def test_the_first_look_starts_nothing_for_what_was_before(world: World) -> None:
    suite = world.suite({"automation": {"after_asset": None, "after_job": "nightly_ingest"}})
    with dg.DagsterInstance.ephemeral() as instance:
        shop = Shop(suite, instance, SENSOR)
        run(shop)
        assert not ticks(shop, 2)


def test_a_jobs_success_is_followed_by_one_validation_that_says_why(shop: Shop) -> None:
    run_id = run(shop)
    [request] = ticks(shop, 3)
    assert request.tags["ragval/trigger"] == "after_job"
    assert request.tags["ragval/ingestions"] == run_id
    assert request.tags["ragval/upstream_run"] == run_id
    assert [target.job_name for target in shop.sensor.targets] == [f"{NAME}_validation"]


def test_one_request_names_all_that_have_ended_and_the_rest_is_skipped_as_validated(shop: Shop) -> None:
    runs = [run(shop) for _ in range(3)]
    [request] = shop.tick()
    assert set(request.tags["ragval/ingestions"].split(",")) == set(runs)
    shop.validate(**request.tags)
    assert not ticks(shop, 3)


def test_runs_of_the_job_that_are_still_queued_are_waited_for_and_share_the_validation(shop: Shop) -> None:
    first, queued = run(shop), waiting(shop)
    assert not ticks(shop, 2)
    assert f"{queued} is still to come" in str(shop.skipped)
    shop.instance.report_run_canceled(shop.instance.get_run_by_id(queued))
    second = run(shop)
    [request] = ticks(shop, 2)
    assert request.tags["ragval/ingestions"] == f"{first},{second}"


def test_a_success_is_not_lost_when_the_run_that_it_waited_for_fails(shop: Shop) -> None:
    first, queued = run(shop), waiting(shop)
    assert not ticks(shop, 1)
    shop.instance.report_run_failed(shop.instance.get_run_by_id(queued))
    [request] = ticks(shop, 2)
    assert request.tags["ragval/ingestions"] == first


def test_without_any_validation_before_a_request_names_what_ended_since_and_no_history(world: World) -> None:
    suite = world.suite({"automation": {"after_asset": None, "after_job": "nightly_ingest"}})
    with dg.DagsterInstance.ephemeral() as instance:
        shop = Shop(suite, instance, SENSOR)
        for _ in range(3):
            run(shop)
        shop.tick()
        run_id = run(shop)
        [request] = shop.tick()
        assert request.tags["ragval/ingestions"] == run_id


def test_a_job_of_one_location_is_distinguished_from_others_with_that_name(world: World) -> None:
    """A run of this process has no location, so it is not that of ``elsewhere``."""
    suite = world.suite({"automation": {"after_asset": None, "after_job": "elsewhere:nightly_ingest"}})
    with dg.DagsterInstance.ephemeral() as instance:
        shop = Shop(suite, instance, SENSOR)
        shop.tick()
        run(shop)
        assert not ticks(shop, 2)
