from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ragval_pipeline.reporting.history.render import clean_up
from ragval_pipeline.sources.history import BASELINE_FILE as FILE
from ragval_pipeline.sources.history import kept_runs, remove_surplus
from tests.reporting import factory
from tests.reporting.history.kept import NAMES, keep

if TYPE_CHECKING:
    from upath import UPath


@pytest.fixture
def runs(base: UPath) -> UPath:
    for name in NAMES:
        keep(base, name, factory.report(), rows=[{"point_id": "1"}])
    return base


def names(base: UPath) -> list[str]:
    return [run.name for run in kept_runs(base)]


def test_the_oldest_runs_go(runs: UPath) -> None:
    assert remove_surplus(runs, keep=2, spared=()) == [NAMES[0]]
    assert names(runs) == list(NAMES[1:])
    assert not (runs / NAMES[0]).exists()


def test_the_baseline_and_the_newest_never_go(runs: UPath) -> None:
    (runs / FILE).write_bytes(f'{{"run": "{NAMES[0]}"}}'.encode())
    clean_up(runs, NAMES[2], baseline=None, keep=1)
    assert names(runs) == [NAMES[0], NAMES[2]]


def test_the_blessed_run_stays_also_while_the_suite_names_another(runs: UPath) -> None:
    (runs / FILE).write_bytes(f'{{"run": "{NAMES[0]}"}}'.encode())
    clean_up(runs, NAMES[2], baseline=NAMES[1], keep=1)
    assert names(runs) == list(NAMES)


def test_nothing_goes_while_the_baseline_is_not_known(runs: UPath, caplog: pytest.LogCaptureFixture) -> None:
    (runs / FILE).write_bytes(b"broken")
    with caplog.at_level(logging.WARNING):
        clean_up(runs, NAMES[2], baseline=None, keep=1)
    assert names(runs) == list(NAMES)
    assert "no older run was removed" in caplog.text


def test_as_many_as_are_kept_is_not_too_many(runs: UPath) -> None:
    assert remove_surplus(runs, keep=3, spared=()) == []


def test_a_removal_that_was_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    from upath import UPath

    base = UPath(tmp_path)
    for name in NAMES:
        keep(base, name, factory.report())
    leftover = tmp_path / ".20261101T060000Z-eeee5555.removed"
    leftover.mkdir()
    (leftover / "run.trec").write_bytes(b"")
    remove_surplus(base, keep=2, spared=())
    assert not leftover.exists()
