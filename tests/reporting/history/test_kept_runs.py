from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ragval_pipeline.reporting.history.runs import clean_up, history_of, read_history
from ragval_pipeline.reporting.terminal.runs import sparkline
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


@pytest.mark.parametrize("damage", [b"[" * 100_000, b"{", b"[]", b"\xff\xfe"])
def test_runs_of_the_same_second_are_ordered_although_one_is_damaged(runs: UPath, damage: bytes) -> None:
    """The order of such runs is read from their reports."""
    other = f"{NAMES[1].partition('-')[0]}-ffff9999"
    keep(runs, other, factory.report())
    (runs / NAMES[1] / "validation_report.json").write_bytes(damage)
    assert names(runs) == [NAMES[0], NAMES[1], other, NAMES[2]]


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


def test_values_come_run_by_run_with_gaps_where_there_are_none(base: UPath) -> None:
    for name, value in zip(NAMES, (0.8, None, 0.9), strict=True):
        keep(base, name, factory.report(criteria=[factory.criterion("coverage", value, 1.0, required=True)]))
    history = read_history(base)
    assert [run.name for run in history.runs] == list(NAMES)
    assert history.values("coverage") == [0.8, None, 0.9]
    assert history.criteria() == ["coverage"]


def test_only_the_newest_runs_are_read(base: UPath) -> None:
    for name in NAMES:
        keep(base, name, factory.report())
    assert [run.name for run in read_history(base, limit=2).runs] == list(NAMES[1:])


def test_a_report_is_read_up_to_its_findings_however_large_it_is(base: UPath) -> None:
    run = keep(base, NAMES[0], factory.report())
    file = run.folder / "validation_report.json"
    file.write_bytes(file.read_bytes() + b" this is not read")
    assert read_history(base).runs[0].verdict == "pass"


def test_an_unreadable_report_is_left_out_with_a_warning(base: UPath, caplog: pytest.LogCaptureFixture) -> None:
    keep(base, NAMES[0], factory.report())
    (keep(base, NAMES[1], factory.report()).folder / "validation_report.json").write_bytes(b"{}")
    with caplog.at_level(logging.WARNING):
        assert [run.name for run in read_history(base).runs] == [NAMES[0]]
    assert NAMES[1] in caplog.text


def test_a_report_shows_the_runs_before_it_and_itself_last(base: UPath) -> None:
    for name in NAMES[:2]:
        keep(base, name, factory.report())
    history = history_of(base, NAMES[2], factory.report("fail"), {}, baseline=None, limit=50)
    assert [run.name for run in history.runs] == list(NAMES)
    assert history.changes is not None
    assert (history.changes.since, history.changes.verdict_before) == (NAMES[1], "pass")


def test_changes_are_since_the_last_run_that_measured_anything(base: UPath) -> None:
    keep(base, NAMES[0], factory.report())
    keep(base, NAMES[1], factory.report("error"))
    history = history_of(base, NAMES[2], factory.report(), {}, baseline=None, limit=50)
    assert history.changes is not None
    assert history.changes.since == NAMES[0]


def test_a_run_of_other_groups_in_between_is_passed_over(base: UPath) -> None:
    keep(base, NAMES[0], factory.report())
    part = [factory.criterion("coverage", None, 1.0, reason_code="not_selected")]
    keep(base, NAMES[1], factory.report(criteria=part))
    history = history_of(base, NAMES[2], factory.report(), {}, baseline=None, limit=50)
    assert history.changes is not None
    assert history.changes.since == NAMES[0]


def test_changes_are_since_the_last_run_that_can_be_read(base: UPath, caplog: pytest.LogCaptureFixture) -> None:
    for name in NAMES:
        keep(base, name, factory.report())
    whole = (base / NAMES[2] / "validation_report.json").read_bytes()
    (base / NAMES[2] / "validation_report.json").write_bytes(whole[: len(whole) - 20])
    (base / NAMES[1] / "findings.parquet").unlink()
    with caplog.at_level(logging.WARNING):
        history = history_of(base, "20261121T060000Z-dddd4444", factory.report(), {}, baseline=None, limit=50)
    assert history.changes is not None
    assert history.changes.since == NAMES[0]
    assert NAMES[1] in caplog.text
    assert NAMES[2] in caplog.text


def test_of_two_runs_that_began_in_one_second_the_one_that_ended_first_is_the_earlier(base: UPath) -> None:
    first, second = "20261118T060000Z-ffff1111", "20261118T060000Z-aaaa2222"
    early, late = factory.report(), factory.report().model_copy(update={"timestamp": "2099-01-01T00:00:00Z"})
    keep(base, first, early)
    history = history_of(base, second, late, {}, baseline=None, limit=50)
    assert [run.name for run in history.runs] == [first, second]
    keep(base, second, late)
    assert [run.name for run in history_of(base, first, early, {}, baseline=None, limit=50).runs] == [first]


def test_an_old_run_that_is_rendered_again_shows_the_runs_before_it(base: UPath) -> None:
    for name in NAMES:
        keep(base, name, factory.report())
    history = history_of(base, NAMES[1], factory.report(), {}, baseline=None, limit=2)
    assert [run.name for run in history.runs] == [NAMES[0], NAMES[1]]


def test_the_first_run_has_no_changes(base: UPath) -> None:
    history = history_of(base, NAMES[0], factory.report(), {}, baseline=None, limit=50)
    assert [run.name for run in history.runs] == [NAMES[0]]
    assert history.changes is None


@pytest.mark.parametrize("pointer", [b"broken", b'{"run": "20260101T060000Z-deadbeef"}'], ids=["broken", "gone"])
def test_a_baseline_that_cannot_be_read_costs_neither_trend_nor_changes(base: UPath, pointer: bytes) -> None:
    keep(base, NAMES[0], factory.report())
    (base / "baseline.json").write_bytes(pointer)
    history = history_of(base, NAMES[1], factory.report(), {}, baseline=None, limit=50)
    assert [run.name for run in history.runs] == [NAMES[0], NAMES[1]]
    assert (history.baseline, history.changes is not None) == (None, True)


def test_a_sparkline_has_a_bar_for_each_value() -> None:
    assert sparkline([0.0, 0.5, None, 1.0]) == "▁▅·█"
    assert sparkline([0.7, 0.7]) == "▄▄"
    assert sparkline([]) == ""
    assert sparkline([0, 1, None], plain=True) == "_#-"
