from __future__ import annotations

import os
import tempfile
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import dagster as dg
import pytest
from upath import UPath

from ragval_pipeline.measuring.place import RunPlace, purge_abandoned, scratch_of
from ragval_pipeline.orchestration.run_place import has_ended

TWO_DAYS_S = 2 * 86_400


@dg.op
def nothing() -> None: ...


@dg.job
def some_job() -> None:
    nothing()


def place(base: UPath, run_id: str = "this-run") -> RunPlace:
    return RunPlace(run_id=run_id, started=datetime.now(UTC), base=base, tags={}, scratch=base / ".work")


def purge(instance: dg.DagsterInstance, place: RunPlace) -> None:
    purge_abandoned(place, partial(has_ended, instance))


def leave_behind(base: UPath, run_id: str, *, age_s: float = 0) -> UPath:
    folder = base / ".work" / run_id
    (folder / "values").mkdir(parents=True)
    (folder / "values" / "x.json").write_bytes(b"{}")
    moment = time.time() - age_s
    for entry in (folder, folder / "values", folder / "values" / "x.json"):
        os.utime(str(entry), (moment, moment))
    return folder


def test_working_files_of_a_run_that_has_ended_are_removed(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    failed = instance.create_run_for_job(some_job, status=dg.DagsterRunStatus.FAILURE)
    for run_id in (some_job.execute_in_process(instance=instance).run_id, failed.run_id):
        folder = leave_behind(UPath(tmp_path), run_id)
        purge(instance, place(UPath(tmp_path)))
        assert not folder.exists()


def test_working_files_of_a_run_at_work_stay(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    run = instance.create_run_for_job(some_job, status=dg.DagsterRunStatus.STARTED)
    folder = leave_behind(UPath(tmp_path), run.run_id, age_s=TWO_DAYS_S)
    purge(instance, place(UPath(tmp_path)))
    assert folder.exists()


def test_a_run_that_dagster_believes_at_work_has_died_if_it_wrote_nothing_for_a_week(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """Nobody tells Dagster of a ``kill -9``, unless it monitors runs."""
    run = instance.create_run_for_job(some_job, status=dg.DagsterRunStatus.STARTED)
    folder = leave_behind(UPath(tmp_path), run.run_id, age_s=8 * 86_400)
    purge(instance, place(UPath(tmp_path)))
    assert not folder.exists()


def test_a_run_of_another_instance_is_given_a_day(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    young = leave_behind(UPath(tmp_path), "someone-elses")
    old = leave_behind(UPath(tmp_path), "long-forgotten", age_s=TWO_DAYS_S)
    purge(instance, place(UPath(tmp_path)))
    assert young.exists()
    assert not old.exists()


def test_a_store_without_folder_times_keeps_what_was_just_written(instance: dg.DagsterInstance) -> None:
    base = UPath("memory://purge-test/suite")
    folder = base / ".work" / "someone-elses"
    (folder / "values").mkdir(parents=True)
    (folder / "values" / "x.json").write_bytes(b"{}")
    purge(instance, place(base))
    assert (folder / "values" / "x.json").exists()


def test_left_overs_that_cannot_be_removed_do_not_stop_a_run(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanished(folder: UPath) -> None:
        raise FileNotFoundError(str(folder))

    leave_behind(UPath(tmp_path), "long-forgotten", age_s=TWO_DAYS_S)
    monkeypatch.setattr("ragval_pipeline.measuring.place.remove_tree", vanished)
    purge(instance, place(UPath(tmp_path)))


def test_reports_sort_by_the_start_of_their_run(tmp_path: Path) -> None:
    UPath(tmp_path)
    one = RunPlace(
        "abcdefgh-1", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), UPath(tmp_path), {}, UPath(tmp_path) / ".work"
    )
    assert one.folder.name == "20260102T030405Z-abcdefgh"
    assert one.staged("payload").is_relative_to(one.work)
    assert one.kept("payload").is_relative_to(one.folder)


def test_working_files_are_on_this_machine_unless_others_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    here, bucket = UPath(tmp_path) / "reports" / "docs", UPath("memory://reports/docs")
    assert scratch_of(here, shared=False) == here / ".work"
    assert scratch_of(bucket, shared=True) == bucket / ".work"
    scratch = scratch_of(bucket, shared=False)
    assert scratch.parent.parent == UPath(tmp_path)
    assert scratch != scratch_of(UPath("memory://reports/blog"), shared=False)
