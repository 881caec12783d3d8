from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.reporting.history.runs import baseline_of, bless, named_run
from ragval_pipeline.sources.history import LAST, HistoryNotReadError, blessed_run, find_run, kept_runs
from tests.reporting import factory
from tests.reporting.history.kept import NAMES, keep

if TYPE_CHECKING:
    from upath import UPath

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def runs(base: UPath) -> UPath:
    for name in NAMES:
        keep(base, name, factory.report())
    return base


def test_runs_are_listed_oldest_first(runs: UPath) -> None:
    assert [run.name for run in kept_runs(runs)] == list(NAMES)


def test_runs_that_began_in_one_second_are_listed_as_their_reports_were_made(base: UPath) -> None:
    made = {"b": "2026-11-20T10:00:01.250Z", "c": "2026-11-20T10:00:01.750Z", "a": "2026-11-20T10:00:01.900Z"}
    for start, timestamp in made.items():
        folder = base / f"20261120T100001Z-{start * 8}"
        folder.mkdir(parents=True)
        (folder / "validation_report.json").write_text(json.dumps({"timestamp": timestamp}), encoding="utf-8")
    assert [run.run_id_start[0] for run in kept_runs(base)] == ["b", "c", "a"]
    broken = base / "20261120T100001Z-dddddddd" / "validation_report.json"
    broken.parent.mkdir()
    broken.write_text("{", encoding="utf-8")
    assert len(kept_runs(base)) == 4


def test_a_folder_without_a_report_and_anything_else_is_no_run(runs: UPath) -> None:
    (runs / "20261121T060000Z-dddd4444").mkdir(parents=True, exist_ok=True)
    (runs / "20261121T060000Z-dddd4444" / "run.trec").write_bytes(b"")
    (runs / ".latest").mkdir(parents=True, exist_ok=True)
    (runs / ".latest" / "validation_report.json").write_bytes(b"{}")
    (runs / "notes.txt").write_bytes(b"")
    assert len(kept_runs(runs)) == 3


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (NAMES[1], NAMES[1]),
        ("bbbb2222", NAMES[1]),
        ("bbbb", NAMES[1]),
        ("bbbb2222-6d1e-4a55-9f0e-2f6f5f3d8a10", NAMES[1]),
        ("last", NAMES[2]),
    ],
)
def test_a_run_is_found_by_folder_by_run_id_and_as_the_last(runs: UPath, wanted: str, found: str) -> None:
    assert find_run(runs, wanted).name == found


@pytest.mark.parametrize("wanted", ["bbb", "nothing", "20261119", "bbbb3333"])
def test_an_invalid_run_name_is_an_error_with_a_remedy(runs: UPath, wanted: str) -> None:
    with pytest.raises(SuiteError, match=wanted):
        find_run(runs, wanted)


def test_a_start_that_two_runs_share_names_both(runs: UPath) -> None:
    keep(runs, "20261121T060000Z-bbbb9999", factory.report())
    with pytest.raises(SuiteError, match="could be 20261119T060000Z-bbbb2222, 20261121T060000Z-bbbb9999"):
        find_run(runs, "bbbb")


def test_a_blessed_run_is_the_baseline_until_another_one_is(runs: UPath) -> None:
    assert bless(runs, find_run(runs, NAMES[0]), NOW) == "pass"
    assert find_run(runs, "baseline").name == NAMES[0]
    bless(runs, find_run(runs, NAMES[1]), NOW)
    baseline = baseline_of(runs, None)
    assert baseline is not None
    assert baseline.name == NAMES[1]
    assert len(kept_runs(runs)) == 3


def test_the_baseline_that_the_suite_names_wins(runs: UPath) -> None:
    bless(runs, find_run(runs, NAMES[0]), NOW)
    assert named_run(runs, "baseline", baseline="cccc3333").name == NAMES[2]
    assert baseline_of(runs, "cccc3333") == find_run(runs, NAMES[2])


def test_a_run_that_ended_in_an_error_is_never_a_baseline(runs: UPath) -> None:
    run = keep(runs, "20261121T060000Z-dddd4444", factory.report("error"))
    with pytest.raises(SuiteError, match="cannot be a baseline"):
        bless(runs, run, NOW)
    last = baseline_of(runs, "last")
    assert last is not None
    assert last.name == NAMES[2]
    assert blessed_run(runs) is None


def test_a_run_that_measured_neither_queries_nor_the_index_is_no_baseline(runs: UPath) -> None:
    run = keep(runs, "20261121T060000Z-dddd4444", factory.report(query_results=[], criteria=[]))
    with pytest.raises(SuiteError, match="no query results and no index criteria"):
        bless(runs, run, NOW)


def test_the_first_run_of_a_suite_has_no_run_before_it(base: UPath) -> None:
    assert baseline_of(base, "last") is None


@pytest.mark.parametrize("damaged", ["validation_report.json", "run.trec"])
def test_the_last_run_is_the_newest_that_can_be_read(runs: UPath, damaged: str) -> None:
    file = kept_runs(runs)[-1].folder / damaged
    file.write_bytes(file.read_bytes()[:-9] or b"q Q0 page")
    assert baseline_of(runs, LAST) == kept_runs(runs)[-2], "a damaged run would stop every later one"


def test_a_broken_pointer_says_so_instead_of_being_no_baseline(runs: UPath) -> None:
    (runs / "baseline.json").write_bytes(b"{")
    with pytest.raises(HistoryNotReadError, match="names no run"):
        baseline_of(runs, None)


def test_a_baseline_that_is_gone_is_an_error(runs: UPath) -> None:
    bless(runs, find_run(runs, NAMES[0]), NOW)
    folder = runs / NAMES[0]
    folder.fs.rm(folder.path, recursive=True)
    with pytest.raises(SuiteError, match=r"no such run in .* any more, and it was the baseline.*ragval bless RUN"):
        baseline_of(runs, None)
