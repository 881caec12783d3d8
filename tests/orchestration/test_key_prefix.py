"""A project's prefix before the suite's name: all keys carry it, and everything that follows keys keeps working."""

from __future__ import annotations

import dagster as dg
import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.measuring.names import COLLECTION, SITEMAP, VALIDATION_REPORT
from ragval_pipeline.measuring.table import ASSETS
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import SUITE_TAG
from tests.orchestration.promotions import LIVE, staged
from tests.orchestration.triggers.shop import Shop
from tests.orchestration.world import NAME, World, a_page, failed_steps, left_report, materialised, run_job

PREFIX = ["search", "prod"]


def key(name: str) -> dg.AssetKey:
    return dg.AssetKey([*PREFIX, NAME, name])


def test_every_asset_check_and_external_asset_carries_the_prefix(clean_world: World) -> None:
    defs = build_validation_defs(clean_world.suite(), key_prefix="search/prod")
    graph = defs.resolve_asset_graph()
    assert set(graph.materializable_asset_keys) == {key(name) for name in ASSETS}
    own = {entry for entry in graph.get_all_asset_keys() if entry.path[-2:-1] == [NAME]}
    assert own == {key(name) for name in (*ASSETS, SITEMAP, COLLECTION)}
    assert graph.get(key("payload_snapshot")).parent_keys >= {key("sitemap_urls"), key(COLLECTION)}
    assert {check.asset_key.path[0] for check in graph.asset_check_keys} == {"search"}
    job = defs.resolve_job_def(f"{NAME}_validation")
    assert set(job.asset_layer.executable_asset_keys) == {key(name) for name in ASSETS}


def test_a_failed_gate_keeps_the_guarded_asset_from_running(world: World) -> None:
    @dg.asset(deps=[key(VALIDATION_REPORT)])
    def published_index() -> None: ...

    world.delete_page(a_page(world))
    with dg.DagsterInstance.ephemeral() as instance:
        suite = world.suite()
        result = run_job(suite, instance=instance, only="coverage", beside=[published_index], key_prefix=PREFIX)
        assert instance.fetch_observations(key(COLLECTION), limit=1).records
    assert materialised(result) == set(ASSETS)
    failed = {(entry.asset_key, entry.check_name) for entry in result.get_asset_check_evaluations() if not entry.passed}
    assert {(key("coverage_report"), "coverage"), (key(VALIDATION_REPORT), "coverage")} <= failed


def test_the_report_of_an_outage_is_written_and_announced_under_the_prefix(world: World) -> None:
    suite = world.suite({"qdrant": {"path": "./nowhere"}, "retry": {"max": 0}})
    with dg.DagsterInstance.ephemeral() as instance:
        result = run_job(suite, instance=instance, only="coverage", key_prefix=PREFIX)
        [seen] = instance.fetch_observations(key(VALIDATION_REPORT), limit=1).records
    assert failed_steps(result) == {f"search__prod__{NAME}__validation"}
    assert left_report(world, result).is_file()
    assert seen.asset_observation.metadata["verdict"].value == "error"


def test_a_partial_run_is_no_validation_of_an_ingestion_and_a_whole_one_is(world: World) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        shop = Shop(world.suite(), instance, f"{NAME}_after_ingestion", key_prefix=PREFIX)
        shop.tick()
        job = shop.repository.get_job(f"{NAME}_validation")
        for names, requests in (([VALIDATION_REPORT], 1), (ASSETS, 0)):
            shop.ingest()
            selection = frozenset(key(name) for name in names)
            instance.create_run_for_job(
                job_def=job.get_subset(asset_selection=selection),
                tags={SUITE_TAG: NAME},
                asset_selection=selection,
                status=dg.DagsterRunStatus.NOT_STARTED,
            )
            assert len(shop.tick()) == requests


def test_a_promotion_compares_and_moves_under_the_prefix(world: World) -> None:
    with dg.DagsterInstance.ephemeral() as instance, staged(world, "local") as stage:
        promoted = stage.promote(instance, key_prefix=PREFIX)
        assert promoted.success
        assert instance.get_latest_materialization_event(key("promoted_alias"))
        assert stage.alias() == NAME
        rolled = stage.roll_back(instance, key_prefix=PREFIX)
        assert rolled.success
        assert stage.alias() == LIVE


def test_a_suite_cannot_follow_an_asset_of_its_own(world: World) -> None:
    suite = world.suite({"automation": {"after_asset": f"search/prod/{NAME}/sitemap_urls"}})
    build_validation_defs(suite)
    with pytest.raises(SuiteError, match="asset of this suite"):
        build_validation_defs(suite, key_prefix=PREFIX)


@pytest.mark.parametrize("wrong", ["a//b", "a-b", ["a", "b/c"], ""])
def test_a_prefix_that_no_step_can_be_named_after_is_refused(world: World, wrong: str | list[str]) -> None:
    with pytest.raises(SuiteError, match=r"key_prefix: .* is not a valid part of an asset key"):
        build_validation_defs(world.suite(), key_prefix=wrong)


def test_two_suites_of_one_name_are_refused_whatever_their_prefixes(world: World) -> None:
    """Their jobs, sensors, resources and report folders are named after the suite alone."""
    parts = [build_validation_defs(world.suite(), key_prefix=prefix) for prefix in ("a", "b")]
    with pytest.raises(dg.DagsterInvariantViolationError, match=NAME):
        dg.Definitions.merge(*parts)
