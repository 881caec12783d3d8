"""One suite, run where it would run in production: in processes of their own, over Postgres, on a cluster."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from ragval_pipeline.measuring.names import ONLY_TAG
from ragval_pipeline.measuring.table import ASSETS
from ragval_pipeline.orchestration.names import asset_key
from tests.orchestration import a_validation
from tests.orchestration.world import (
    NAME,
    QUIET,
    World,
    a_page,
    materialised,
    run_job,
    why,
)
from tests.support.celery_workers import celery_workers

REPORT = asset_key(NAME, "validation_report")


def run_elsewhere(
    job: Any, world: World, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, **how: Any
) -> dg.JobExecutionResult:
    monkeypatch.setenv(a_validation.VARIABLE, str(world.folder / "ragval.yaml"))
    with dg.execute_job(dg.reconstructable(job), instance, run_config=QUIET, **how) as result:
        return result


def processes(result: dg.JobExecutionResult) -> set[int | None]:
    return {event.pid for event in result.all_events if event.is_step_success}


def test_steps_leave_nothing_outside_the_place_of_the_reports(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    before = set(world.folder.rglob("*"))
    suite = world.suite({"report_uri": f"memory://{tmp_path.name}", "criteria": {"error_findings": None}})
    result = run_job(suite, only="coverage,integrity,metadata,chunks")
    assert materialised(result) == set(ASSETS)
    assert not list(elsewhere.iterdir())
    assert {file for file in world.folder.rglob("*") if file.is_file()} - before <= {world.folder / "qdrant" / ".lock"}


@pytest.mark.postgres
def test_a_validation_is_recorded_in_postgres(served: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support.postgres import postgres

    home = tmp_path / "home"
    home.mkdir()
    with postgres() as url:
        settings = {"storage": {"postgres": {"postgres_url": url}}, "telemetry": {"enabled": False}}
        (home / "dagster.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        with dg.DagsterInstance.from_config(str(home)) as instance:
            selection = [asset_key(NAME, name) for name in ("sitemap_urls", "payload_snapshot", "coverage_report")]
            result = run_elsewhere(
                a_validation.in_many_processes, served, instance, monkeypatch, asset_selection=selection
            )
            assert result.success
            event = instance.get_latest_materialization_event(asset_key(NAME, "coverage_report"))
            assert event is not None
            assert event.run_id == result.run_id
            whole = run_job(served.suite(), instance=instance)
            assert whole.success
            assert instance.get_run_by_id(whole.run_id)
    assert not list(home.rglob("*.db"))


@pytest.fixture
def on_workers(
    served: World,
    kept: dg.DagsterInstance,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., dg.JobExecutionResult]]:
    """Runs the job on two Celery workers, which share nothing with this process but the report's folder."""
    # One broker for all tests of a process: Celery goes on sending to the first one that it was given.
    folder = tmp_path_factory.getbasetemp() / "celery"
    folder.mkdir(exist_ok=True)
    variables = {a_validation.VARIABLE: str(served.folder / "ragval.yaml"), a_validation.BROKER: str(folder)}
    monkeypatch.setenv(a_validation.BROKER, str(folder))
    home = Path(kept.root_directory)
    with celery_workers(folder, home=home, variables=variables):
        yield lambda **how: run_elsewhere(a_validation.on_celery, served, kept, monkeypatch, **how)


@pytest.mark.celery
def test_a_whole_validation_runs_on_celery_workers(on_workers: Callable[..., dg.JobExecutionResult]) -> None:
    result = on_workers()
    assert result.success, why(result)
    assert materialised(result) == {*ASSETS, "published"}
    assert len(processes(result)) == 2
    assert os.getpid() not in processes(result)


@pytest.mark.celery
def test_behind_a_failed_gate_nothing_runs_on_celery_either(
    served: World, on_workers: Callable[..., dg.JobExecutionResult]
) -> None:
    sitemap = served.folder / "site" / "sitemap.xml"
    listed = sitemap.read_text(encoding="utf-8")
    sitemap.write_text(listed.replace(a_page(served), f"{a_page(served)}-that-nobody-ingested"), encoding="utf-8")
    result = on_workers(tags={ONLY_TAG: "coverage"})
    assert not result.success
    assert materialised(result) == set(ASSETS)
