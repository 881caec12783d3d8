"""Materialising single assets, as a person does in the UI, from what earlier runs have kept."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import ONLY_TAG, asset_key
from ragval_pipeline.orchestration.run import run_suite
from ragval_pipeline.orchestration.values import Measured
from tests.orchestration import a_validation
from tests.orchestration.world import (
    COVERAGE_ALONE,
    NAME,
    QUIET,
    World,
    a_page,
    checked,
    failed_steps,
    materialised,
    run_job,
)


def materialise(world: World, instance: dg.DagsterInstance, *names: str) -> dg.ExecuteInProcessResult:
    """What the UI does with a selection: the implicit job of all assets, limited to some."""
    defs = build_validation_defs(world.suite())
    return defs.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=instance,
        asset_selection=[asset_key(NAME, name) for name in names],
        run_config=QUIET,
        raise_on_error=False,
    )


def test_one_measurement_is_made_again_from_the_snapshot_of_an_earlier_run_and_looked_at_without_one(
    world: World, kept: dg.DagsterInstance
) -> None:
    assert run_job(world.suite({"criteria": COVERAGE_ALONE}), instance=kept, only="coverage").success
    again = materialise(world, kept, "coverage_report")
    assert again.success
    assert materialised(again) == {"coverage_report"}
    assert checked(again, "coverage_report")["coverage"].passed
    defs, key = build_validation_defs(world.suite()), asset_key(NAME, "coverage_report")
    [part] = defs.load_asset_value(key, python_type=Measured, instance=kept).parts
    assert part.asset == "coverage_report"
    assert defs.load_asset_value(key, instance=kept)["parts"][0]["asset"] == "coverage_report"


def test_an_interrupted_run_leaves_the_latest_values_of_the_run_before(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its snapshot goes with it: a report made later in the UI would count chunks that nobody can look at."""
    (tmp_path / "dagster").mkdir()
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    interrupt(world, monkeypatch)
    assert not (world.reports / ".latest").exists()
    run_suite(world.suite(), only=["coverage"])
    before = latest_values(world)
    world.delete_page(a_page(world))
    interrupt(world, monkeypatch)
    assert latest_values(world) == before


def interrupt(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that a person ends when everything but its report is made."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("ragval_pipeline.orchestration.assets.validation_report.write_report", stop)
        with pytest.raises(KeyboardInterrupt):
            run_suite(world.suite(), only=["coverage"])


def latest_values(world: World) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (world.reports / ".latest").iterdir()}


def test_an_asset_with_an_upstream_that_was_never_materialised_says_what_to_do(
    world: World, instance: dg.DagsterInstance
) -> None:
    result = materialise(world, instance, "coverage_report")
    assert failed_steps(result) >= {"coverage_report"}
    [message] = [
        event.step_failure_data.error_display_string
        for event in result.all_events
        if event.is_step_failure and event.step_key == f"{NAME}__coverage_report"
    ]
    assert "physical_ai_book/payload_snapshot has no value" in message
    assert "materialise it first" in message


def test_a_run_that_is_retried_from_its_failure_reads_what_that_run_kept(
    world: World, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run came in between, and its values are no part of this one."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    suite = world.suite({"criteria": COVERAGE_ALONE})
    monkeypatch.setenv(a_validation.VARIABLE, str(world.folder / "ragval.yaml"))
    with monkeypatch.context() as full:
        full.setattr("ragval_pipeline.orchestration.assets.validation_report.write_report", refused)
        first = run_job(suite, instance=instance, only="coverage")
    assert "validation_report" in failed_steps(first)
    assert run_job(suite, instance=instance, only="coverage").success
    job = a_validation.fresh()
    again = dg.ReexecutionOptions.from_failure(first.run_id, instance)
    tags = {ONLY_TAG: "coverage"}
    with dg.execute_job(job, instance, reexecution_options=again, run_config=QUIET, tags=tags) as second:
        assert second.success
        assert materialised(second) == {"validation_report"}
        gates = {check.check_name: check for check in second.get_asset_check_evaluations()}
    assert gates["coverage"].metadata["value"].value == 1.0
    [folder] = world.reports.glob(f"*-{second.run_id[:8]}")
    assert list((folder / "evidence" / "payload").glob("*.parquet"))


def test_reports_and_values_live_on_any_filesystem(world: World, tmp_path: Path) -> None:
    for uri in (f"memory://reports-{tmp_path.name}", f"file://{tmp_path}/else where"):
        result = run_job(world.suite({"report_uri": uri, "criteria": COVERAGE_ALONE}), only="coverage")
        assert result.success
        from upath import UPath

        [folder] = [entry for entry in (UPath(uri) / NAME).iterdir() if not entry.name.startswith(".")]
        assert (folder / "validation_report.json").exists()
        assert [part.name for part in (folder / "evidence" / "payload").iterdir()] == ["part-00000.parquet"]
    assert not (world.folder / "reports").exists()


def test_working_files_of_the_last_run_are_gone_after_the_next(world: World, instance: dg.DagsterInstance) -> None:
    suite = world.suite({"criteria": COVERAGE_ALONE})
    first = run_job(suite, instance=instance, only="coverage")
    second = run_job(suite, instance=instance, only="coverage")
    assert [folder.name for folder in (world.reports / ".work").iterdir()] == [second.run_id]
    assert first.run_id != second.run_id
