from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cpu import Pairs, cpu_seconds, fresh_place


def test_the_ratio_is_that_of_the_middle_pair() -> None:
    pairs = Pairs(base=(1.0, 1.0, 10.0), measured=(1.5, 1.1, 12.0))
    assert pairs.ratio == pytest.approx(1.2)
    assert pairs.difference == pytest.approx(0.5)


def test_a_process_runs_in_an_empty_folder_without_the_callers_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGVAL_SUITES", "mine.yaml")
    with fresh_place() as (folder, environment):
        assert not list(folder.iterdir())
        assert cpu_seconds(["-c", "import os; assert 'RAGVAL_SUITES' not in os.environ"], folder, environment) > 0


def test_work_is_counted_and_waiting_is_not(tmp_path: Path) -> None:
    with fresh_place() as (folder, environment):
        waiting = cpu_seconds(["-c", "import time; time.sleep(0.5)"], folder, environment)
        working = cpu_seconds(["-c", "sum(i * i for i in range(6_000_000))"], folder, environment)
    assert waiting < working
