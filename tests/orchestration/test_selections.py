"""Selections that shops use in their own jobs, in a location that holds a suite: they load, and run what they name."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from ragval_pipeline.measuring.names import ONLY_TAG
from ragval_pipeline.measuring.table import ASSETS
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import asset_key
from ragval_pipeline.orchestration.run import run_suite
from tests.orchestration.world import COVERAGE_ALONE, NAME, QUIET, World, checked, materialised, run_job


@dg.asset
def their_own() -> None: ...


@dg.asset_check(asset=their_own)
def their_check() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=True)


REPORT = asset_key(NAME, "validation_report")
COVERAGE = asset_key(NAME, "coverage_report")
EVERY, CHECKS = dg.AssetSelection.all(), dg.AssetSelection.all_asset_checks()
SELECTIONS = {
    "all assets": EVERY,
    "all assets and not their checks": EVERY.without_checks(),
    "all checks": CHECKS,
    "all checks but those of a group": CHECKS
    - dg.AssetSelection.checks_for_assets(*[asset_key(NAME, n) for n in ASSETS]),
    "checks of an asset": dg.AssetSelection.checks_for_assets(COVERAGE),
    "one check": dg.AssetSelection.checks(dg.AssetCheckKey(COVERAGE, "coverage")),
    "one gate": dg.AssetSelection.checks(dg.AssetCheckKey(REPORT, "coverage")),
    "a group": dg.AssetSelection.groups(NAME),
    "a tag": dg.AssetSelection.tag("ragval/suite", NAME),
    "a kind": dg.AssetSelection.kind("qdrant"),
    "a key prefix": dg.AssetSelection.key_prefixes([NAME]),
    "an asset and what it reads": dg.AssetSelection.assets(COVERAGE).upstream(),
    "what follows an asset": dg.AssetSelection.assets(asset_key(NAME, "payload_snapshot")).downstream(),
    "everything that can be made": EVERY.materializable(),
    "a query": dg.AssetSelection.from_string(f'key:"{NAME}/*" and not key:"{NAME}/page_snapshot"'),
}


def run(world: World, selection: dg.AssetSelection) -> dg.ExecuteInProcessResult:
    job = dg.define_asset_job("chosen", selection=selection, executor_def=dg.in_process_executor)
    own = dg.Definitions(assets=[their_own], asset_checks=[their_check], jobs=[job])
    suite = world.suite({"criteria": COVERAGE_ALONE})
    defs = dg.Definitions.merge(build_validation_defs(suite), own)
    dg.Definitions.validate_loadable(defs)
    return defs.resolve_job_def("chosen").execute_in_process(
        run_config=QUIET, raise_on_error=False, tags={ONLY_TAG: "coverage"}
    )


@pytest.mark.parametrize("named", SELECTIONS)
def test_every_selection_that_shops_use_loads_and_runs(world: World, named: str) -> None:
    result = run(world, SELECTIONS[named])
    assert result.success, [event.step_failure_data for event in result.all_events if event.is_step_failure]
    if named == "all checks":
        assert not materialised(result)
        assert checked(result, "validation_report")["coverage"].passed
    if named == "all assets and not their checks":
        assert materialised(result) == {*ASSETS, "their_own"}
        assert not result.get_asset_check_evaluations()
    if named == "one check":
        assert [check.asset_check_key for check in result.get_asset_check_evaluations()] == [
            dg.AssetCheckKey(COVERAGE, "coverage")
        ]


def test_one_asset_is_made_with_what_it_reads_measured_anew_and_nothing_else_is_touched(world: World) -> None:
    result = run(world, dg.AssetSelection.assets(COVERAGE))
    assert materialised(result) == {"coverage_report"}
    assert checked(result, "coverage_report")["coverage"].passed
    assert not list(world.reports.glob("*/validation_report.json"))
    assert not list(world.reports.glob(".work/*"))


def test_an_interrupted_run_leaves_nothing(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dagster").mkdir()
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("ragval_pipeline.measuring.judging.write_report", stop)
        with pytest.raises(KeyboardInterrupt):
            run_suite(world.suite(), only=["coverage"])
    assert not world.reports.exists()


def test_reports_live_on_any_filesystem(world: World, tmp_path: Path) -> None:
    for uri in (f"memory://reports-{tmp_path.name}", f"file://{tmp_path}/else where"):
        result = run_job(world.suite({"report_uri": uri, "criteria": COVERAGE_ALONE}), only="coverage")
        assert result.success
        from upath import UPath

        [folder] = [entry for entry in (UPath(uri) / NAME).iterdir() if not entry.name.startswith(".")]
        assert (folder / "validation_report.json").exists()
        assert [part.name for part in (folder / "evidence" / "payload").iterdir()] == ["part-00000.parquet"]
    assert not (world.folder / "reports").exists()


def test_a_run_leaves_no_working_files(world: World, instance: dg.DagsterInstance) -> None:
    run_job(world.suite(), instance=instance, only="coverage")
    assert not list(world.reports.glob(".work/*"))
