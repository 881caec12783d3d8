"""A suite with Dagster's partitions: one collection a site, tenant or version, and a report for each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.measuring.names import ONLY_TAG
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import SUITE_TAG, asset_key, job_name
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.suite.load import for_partition, resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.report import ValidationReport
from tests.orchestration.triggers.shop import INGESTION, Shop
from tests.orchestration.world import COVERAGE_ALONE, NAME, QUIET, World, a_page, checked

TENANTS = {"static": ["acme", "umbrella"]}
REPORT = asset_key(NAME, "validation_report")
PARTITIONED: dict[str, Any] = {
    "partitions": TENANTS,
    "qdrant": {"path": "./${partition}"},
    "criteria": COVERAGE_ALONE,
    "automation": {"after_asset": INGESTION.to_user_string()},
}


@pytest.fixture
def tenants(world: World) -> World:
    """The index of the demo for one tenant, and one that lost a page for the other."""
    shutil.copytree(world.folder / "qdrant", world.folder / "acme")
    world.delete_page(a_page(world))
    (world.folder / "qdrant").rename(world.folder / "umbrella")
    return world


def run(suite: Suite, partition: str, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    job = build_validation_defs(suite).resolve_job_def(job_name(suite.suite))
    tags = {ONLY_TAG: "coverage"}
    return job.execute_in_process(
        instance=instance, partition_key=partition, run_config=QUIET, raise_on_error=False, tags=tags
    )


def test_each_partition_is_read_judged_and_reported_for_itself(tenants: World) -> None:
    suite = tenants.suite(PARTITIONED)
    with dg.DagsterInstance.ephemeral() as instance:
        good, bad = (run(suite, tenant, instance) for tenant in TENANTS["static"])
        assert checked(good, "coverage_report")["coverage"].passed
        assert not checked(bad, "coverage_report")["coverage"].passed
        assert instance.get_materialized_partitions(REPORT) == set(TENANTS["static"])
        assert instance.get_materialized_partitions(asset_key(NAME, "coverage_report")) == set(TENANTS["static"])
    for result, tenant in ((good, "acme"), (bad, "umbrella")):
        assert {check.partition for check in result.get_asset_check_evaluations()} == {tenant}
        seen = [event.asset_observation_data.asset_observation for event in result.get_asset_observation_events()]
        assert {one.partition for one in seen} == {tenant}
        assert len(list((tenants.reports / tenant).glob("2*/report.html"))) == 1


def test_an_asset_of_the_same_partition_reads_the_report_of_its_partition(tenants: World) -> None:
    suite, read = tenants.suite(PARTITIONED), []
    defs = build_validation_defs(suite)

    @dg.asset(
        ins={"report": dg.AssetIn(REPORT, input_manager_key=f"{NAME}__io_manager")},
        partitions_def=dg.StaticPartitionsDefinition(TENANTS["static"]),
    )
    def follower(report: ValidationReport) -> None:
        read.append(report)

    with dg.DagsterInstance.ephemeral() as instance:
        for tenant in TENANTS["static"]:
            run(suite, tenant, instance)
        resources = {f"{NAME}__io_manager": (defs.resources or {})[f"{NAME}__io_manager"]}
        dg.materialize(
            [follower, *(spec for spec in defs.assets or () if isinstance(spec, dg.AssetsDefinition))],
            selection=[follower], partition_key="umbrella", instance=instance, run_config=QUIET,
            resources={**(defs.resources or {}), **resources},
        )  # fmt: skip
    [report] = read
    assert (report.partition, report.title) == ("umbrella", f"{NAME}@umbrella")
    assert report.criterion("coverage").value == pytest.approx(12 / 13)


def test_the_command_line_validates_one_partition_and_has_a_history_of_each(tenants: World) -> None:
    suite = tenants.suite(PARTITIONED)
    with pytest.raises(SuiteError, match="no partition is chosen"):
        run_suite(suite)
    for tenant, verdict in (("acme", "pass"), ("umbrella", "fail")):
        report = run_suite(for_partition(suite, tenant), only=["coverage"]).report
        assert report.verdict == verdict
        assert len(list((tenants.reports / tenant).glob("2*/report.html"))) == 1


def test_dynamic_partitions_are_those_of_the_ingestion(tenants: World) -> None:
    suite = tenants.suite({**PARTITIONED, "partitions": {"dynamic": "tenants"}})
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("tenants", ["acme"])
        assert checked(run(suite, "acme", instance), "coverage_report")["coverage"].passed


class Tenants(Shop):
    """Ingestions of tenants, and the sensor's view."""

    def fill(self, *partitions: str | None) -> None:
        for partition in partitions:
            self.instance.report_runless_asset_event(dg.AssetMaterialization(INGESTION, partition=partition))

    def asked(self) -> list[str | None]:
        return sorted(request.partition_key or "" for request in self.tick())


@pytest.fixture
def shop(world: World) -> Iterator[Tenants]:
    suite = world.suite({**PARTITIONED, "partitions": {"static": ["acme", "umbrella", "stark"]}})
    with dg.DagsterInstance.ephemeral() as instance:
        yield Tenants(suite, instance, f"{NAME}_after_ingestion")


def test_the_sensor_asks_for_exactly_the_partitions_that_were_ingested(shop: Tenants) -> None:
    shop.fill("acme", "stark", "acme", "unknown")
    assert shop.asked() == ["acme", "stark"]
    assert shop.asked() == []
    shop.fill("umbrella")
    assert shop.asked() == ["umbrella"]


def test_an_ingestion_without_a_partition_is_one_of_all(shop: Tenants) -> None:
    shop.fill(None)
    assert shop.asked() == ["acme", "stark", "umbrella"]


def test_a_partition_that_was_validated_is_settled_while_another_waits(shop: Tenants) -> None:
    shop.fill("acme", "stark")
    assert shop.asked() == ["acme", "stark"]
    shop.validate(**{"dagster/partition": "acme"})
    shop.fill("stark")
    assert shop.asked() == ["stark"]
    assert shop.validate(**{SUITE_TAG: NAME, "dagster/partition": "stark"})
    assert shop.asked() == []


def test_the_schedule_asks_for_every_partition(world: World, tmp_path: Path) -> None:
    repository = build_validation_defs(world.suite(PARTITIONED)).get_repository_def()
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        context = dg.build_schedule_context(
            instance, repository_def=repository, scheduled_execution_time=datetime(2026, 1, 1, tzinfo=UTC)
        )
        asked = repository.get_schedule_def(f"{NAME}_schedule").evaluate_tick(context).run_requests or []
    assert [request.partition_key for request in asked] == TENANTS["static"]
    assert len({request.run_key for request in asked}) == 2


def test_every_partition_being_the_same_is_an_error(world: World) -> None:
    with pytest.raises(SuiteError, match=r"no key of the suite has \$\{partition\}"):
        world.suite({"partitions": TENANTS})


def test_an_unknown_partition_is_refused_with_a_hint(world: World) -> None:
    suite = world.suite(PARTITIONED)
    with pytest.raises(SuiteError, match="no partition amce: it has acme, umbrella"):
        for_partition(suite, "amce")
    assert resolve_suite(for_partition(suite, "acme")).qdrant.path == world.folder / "acme"


def test_partitions_cannot_be_polled(world: World) -> None:
    suite = world.suite(
        {**PARTITIONED, "qdrant": {"path": None, "url": "http://127.0.0.1:9", "collection": "${partition}"},
         "automation": {"after_asset": None, "poll_s": 30}}
    )  # fmt: skip
    with pytest.raises(SuiteError, match="cannot poll"):
        build_validation_defs(suite)
