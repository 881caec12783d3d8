"""Runs beside each other, and what a killed one leaves to the next."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import dagster as dg
import pytest
from upath import UPath

from tests.faults.stage import NAME, staged
from tests.orchestration.test_run_place import place
from tests.orchestration.test_run_place import purge as purge_of

AT_ONCE = 8
WRITER = """
import sys, time
from pathlib import Path
from ragval_pipeline.sources.storage import replace_folder

def slowly():
    yield b"half"
    print("writing", flush=True)
    time.sleep(60)

replace_folder(Path(sys.argv[1]), {"report.html": slowly})
"""


def purge(base: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        purge_of(instance, place(UPath(base)))


def test_what_a_run_has_half_written_stays_while_it_writes_and_goes_when_it_was_killed(tmp_path: Path) -> None:
    folder = tmp_path / "20261122T000000Z-0badf00d"
    partial = tmp_path / f".{folder.name}.partial"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"writing\n"
        purge(tmp_path)
        assert (partial / "report.html").exists()
        writer.kill()
    assert partial.exists()
    purge(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_nobody_can_tell_the_writer_of_goes_a_day_later(tmp_path: Path) -> None:
    reports = [f".{name}.partial/report.html" for name in ("20261101T000000Z-deadbeef", "20261122T000000Z-0badf00d")]
    names = [reports[0], ".cache/a/b/.c.00ff.partial"]
    for name in [*names, reports[1]]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("half", encoding="utf-8")
    for name in names:
        os.utime(tmp_path / name, (time.time() - 2 * 86_400,) * 2)
    purge(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {reports[1]}


def validate(suite: str) -> int:
    """A run of the command line in a process of its own."""
    from ragval_pipeline.cli import main

    return main(["run", "-s", suite, "--only", "queries"])


@pytest.mark.slow
def test_eight_runs_at_once_against_one_server_each_write_a_whole_report(tmp_path: Path) -> None:
    """Of one suite, so that they share the history, the latest values and the caches as well."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["ragval_pipeline.cli.run", "ragval_pipeline.orchestration.run", __name__])
    with staged(tmp_path) as stage:
        stage.qdrant()
        with ProcessPoolExecutor(AT_ONCE, mp_context=processes) as pool:
            assert list(pool.map(validate, [str(stage.suite)] * AT_ONCE)) == [0] * AT_ONCE
        base = stage.folder / "reports" / NAME
        reports = [json.loads(file.read_bytes()) for file in base.glob("2*/validation_report.json")]
        assert len({report["run_id"] for report in reports}) == AT_ONCE
        assert {report["verdict"] for report in reports} == {"pass"}
        rankings = {file.read_bytes() for file in base.glob("2*/run.trec")}
        assert len(rankings) == 1
        assert list(base.rglob("*.partial")) == []
