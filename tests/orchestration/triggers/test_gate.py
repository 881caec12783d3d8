"""The condition for assets of other runs: open once after each report that passed, and shut while it is not known."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
import pytest

from ragval_pipeline import gate
from ragval_pipeline.orchestration.checks import verdict_result
from ragval_pipeline.orchestration.names import asset_key
from ragval_pipeline.orchestration.partitions import partitioned_check
from ragval_pipeline.orchestration.triggers.automation import Upstream
from ragval_pipeline.orchestration.triggers.records import overtaken
from ragval_pipeline.suite.model import Suite
from tests.orchestration.world import QUIET
from tests.reporting.factory import report as passing

SUITE = Suite.model_validate(
    {
        "suite": "docs",
        "qdrant": {"url": "http://127.0.0.1:1", "collection": "docs"},
        "embedding": {"provider": "static"},
        "automation": {"after_asset": "ingestion/docs"},
    }
)
REPORT, INGESTION = asset_key("docs", "validation_report"), dg.AssetKey(["ingestion", "docs"])
CHECKS = [dg.AssetCheckSpec("coverage", asset=REPORT, blocking=True), dg.AssetCheckSpec("advice", asset=REPORT)]


@dg.asset(key=INGESTION)
def ingestion() -> None: ...


@dg.asset(key=REPORT, deps=[INGESTION], check_specs=CHECKS)
def report():  # type: ignore[no-untyped-def]
    ...


@dg.asset(deps=[INGESTION, REPORT], automation_condition=gate(SUITE))
def published() -> None: ...


@dataclass
class Shop:
    """A deployment, and the daemon's view of it from tick to tick."""

    instance: dg.DagsterInstance
    defs: dg.Definitions = field(default_factory=lambda: dg.Definitions(assets=[ingestion, report, published]))
    cursor: Any = None

    def ingests(self) -> None:
        self.instance.report_runless_asset_event(dg.AssetMaterialization(INGESTION))

    def validates(self, *, passed: bool, advice: bool = True) -> None:
        for name, result in (("coverage", passed), ("advice", advice)):
            self.instance.report_runless_asset_event(
                dg.AssetCheckEvaluation(asset_key=REPORT, check_name=name, passed=result)
            )
        self.instance.report_runless_asset_event(dg.AssetMaterialization(REPORT))

    def requested(self) -> bool:
        result = dg.evaluate_automation_conditions(self.defs, self.instance, cursor=self.cursor)
        self.cursor = result.cursor
        return bool(result.total_requested)


@pytest.fixture
def shop() -> Iterator[Shop]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Shop(instance)


def test_a_report_that_passed_opens_it_once(shop: Shop) -> None:
    assert not shop.requested()
    shop.ingests()
    assert not shop.requested()
    shop.validates(passed=True, advice=False)
    assert shop.requested()
    assert not shop.requested()


def test_a_report_that_failed_keeps_it_shut(shop: Shop) -> None:
    shop.requested()
    shop.ingests()
    shop.validates(passed=False)
    assert not shop.requested()
    assert not shop.requested()


def test_an_ingestion_after_the_report_shuts_it_until_its_own_report_passed(shop: Shop) -> None:
    shop.requested()
    shop.validates(passed=True)
    assert shop.requested()
    shop.ingests()
    assert not shop.requested()
    assert not shop.requested()
    shop.validates(passed=True)
    assert shop.requested()


def test_an_ingestion_between_two_looks_is_not_published_with_the_report_before_it(shop: Shop) -> None:
    shop.requested()
    shop.validates(passed=True)
    shop.ingests()
    assert not shop.requested()


def test_a_validation_that_follows_the_ingestion_between_two_looks_opens_it(shop: Shop) -> None:
    """A small collection is validated within seconds, and the daemon looks every half a minute."""
    shop.requested()
    for _ in range(2):
        shop.ingests()
        shop.validates(passed=True)
        assert shop.requested()
        assert not shop.requested()


def test_two_reports_open_it_twice_without_an_ingestion(shop: Shop) -> None:
    shop.requested()
    for _ in range(2):
        shop.validates(passed=True)
        assert shop.requested()


def test_an_ingestion_that_ends_during_a_validation_is_not_covered_by_it(shop: Shop) -> None:
    shop.ingests()
    began, upstream = time.time(), Upstream(INGESTION)
    assert overtaken(shop.instance, upstream, by="its run", since=began) is None
    shop.ingests()
    late = overtaken(shop.instance, upstream, by="its run", since=began)
    assert late == "reported from outside"
    met = verdict_result(passing("pass", criteria=[]), key=REPORT, folder="reports", late=late)
    assert not met.passed
    assert met.severity == dg.AssetCheckSeverity.ERROR
    assert "is not covered: validate again" in str(met.description)
    assert overtaken(shop.instance, upstream, by="its run", since=time.time()) is None


def test_the_usual_guard_of_dagster_would_have_opened(shop: Shop) -> None:
    """The reason why this condition exists."""

    @dg.asset(
        name="published",
        deps=[INGESTION, REPORT],
        automation_condition=dg.AutomationCondition.eager() & dg.AutomationCondition.all_deps_blocking_checks_passed(),
    )
    def usual() -> None: ...

    shop.defs = dg.Definitions(assets=[ingestion, report, usual])
    shop.ingests()
    shop.validates(passed=True)
    shop.requested()
    shop.ingests()
    assert shop.requested()


def test_the_gate_of_a_partition_opens_on_the_report_of_this_partition() -> None:
    tenants = dg.StaticPartitionsDefinition(["acme", "umbrella"])
    checks = [partitioned_check(spec, tenants) for spec in CHECKS]
    upstream = dg.AssetSpec(INGESTION, partitions_def=tenants)

    @dg.asset(key=REPORT, deps=[INGESTION], check_specs=checks, partitions_def=tenants)
    def report(context):  # type: ignore[no-untyped-def]
        results = {"coverage": context.partition_key == "acme", "advice": True}
        checked = [dg.AssetCheckResult(check_name=name, passed=passed) for name, passed in results.items()]
        yield dg.MaterializeResult(asset_key=REPORT, check_results=checked)

    @dg.asset(deps=[INGESTION, REPORT], automation_condition=gate(SUITE), partitions_def=tenants)
    def published() -> None: ...

    defs = dg.Definitions(assets=[upstream, report, published])
    with dg.DagsterInstance.ephemeral() as instance:
        cursor = dg.evaluate_automation_conditions(defs, instance).cursor
        for tenant in ("acme", "umbrella"):
            dg.materialize([report], partition_key=tenant, instance=instance, run_config=QUIET, raise_on_error=False)
        result = dg.evaluate_automation_conditions(defs, instance, cursor=cursor)
        assert result.get_requested_partitions(published.key) == {"acme"}
