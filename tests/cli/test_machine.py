"""What the machine refuses is told as such, never as a bug of ragval or as a verdict."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ragval_pipeline.errors import failure_of_machine
from tests.cli.conftest import Ended, Home, environment

Ragval = Callable[..., Ended]
LONG = "a" * 300


def redirected(*arguments: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """A command of its own in a shell, its streams redirected."""
    line = f'"$0" -m ragval_pipeline {" ".join(arguments)} {redirection}'
    return subprocess.run(
        ["sh", "-c", line, sys.executable], env=environment(), capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_output_ends_with_three_and_says_so() -> None:
    ended = redirected("schema", "report", redirection=">/dev/full")
    assert ended.returncode == 3
    assert ended.stderr == (
        "ragval: standard output could not be written: No space left on device. Part of the result is missing there.\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_does_not_change_the_exit_code(redirection: str) -> None:
    ended = redirected("schema", "report", redirection=redirection)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert redirected("schema", "nothing", redirection=redirection).returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_error_does_not_change_the_exit_code() -> None:
    assert redirected("schema", "nothing", redirection="2>/dev/full").returncode == 2


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("missing", "does not exist. Create it"),
        ("queries.yaml", "is a file, not a folder"),
        ("relative", "is not an absolute path"),
    ],
)
def test_a_dagster_home_that_cannot_be_one_is_named(
    place: str, words: str, home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", place if place == "relative" else str(home.folder / place))
    before = home.files()
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 2
    assert ended.message.startswith("ragval: DAGSTER_HOME: ")
    assert words in ended.message
    assert home.files() == before


@pytest.mark.parametrize("text", ["storage: [", "nonsense: 3"])
def test_a_wrong_dagster_yaml_is_named_in_one_line(
    text: str, home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "dagster"
    folder.mkdir()
    (folder / "dagster.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("DAGSTER_HOME", str(folder))
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 2
    assert ended.message.startswith(f"ragval: {folder / 'dagster.yaml'}: ")
    assert len(ended.message) < 600


def test_a_damaged_storage_of_dagster_is_a_system_that_failed(
    home: Home, ragval: Ragval, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    database = tmp_path / "dagster" / "history" / "runs.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"no database " * 100)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    ended = ragval("run", "-s", home.suite, "--only", "coverage")
    assert ended.code == 3
    assert "file is not a database. Repair it" in ended.message


@pytest.mark.parametrize(
    "changes",
    [
        {"report_uri": LONG}, {"qdrant": {"path": LONG}}, {"queries": f"{LONG}.yaml"},
        {"source": {"sitemap": LONG}}, {"source": {"site_root": LONG}},
    ],
    ids=lambda changes: next(iter(changes)),
)  # fmt: skip
def test_a_path_that_is_too_long_is_wrong_by_itself(changes: dict[str, object], home: Home, ragval: Ragval) -> None:
    home.edit(**changes)
    ended = ragval("run", "-s", home.suite)
    assert ended.code == 2
    assert "File name too long" in ended.message


@pytest.mark.parametrize(
    "arguments", [("run", "--output", LONG), ("run", "-s", f"{LONG}/x.yaml"), ("init", "--qdrant-path", LONG)]
)
def test_a_path_on_the_command_line_that_is_too_long_ends_with_two(arguments: tuple[str, ...], ragval: Ragval) -> None:
    ended = ragval(*arguments)
    assert ended.code == 2
    assert "too long" in ended.message.lower()


def test_memory_space_and_threads_are_no_bugs_of_ragval() -> None:
    refusals = [MemoryError(), RuntimeError("can't start new thread"), OSError(errno.ENOSPC, "No space left", "/tmp")]
    for error in refusals:
        failure = failure_of_machine(error)
        assert failure is not None
        assert failure.exit_code == 3
        assert str(failure).endswith(".")
    assert failure_of_machine(ValueError("a defect")) is None
    assert failure_of_machine(FileNotFoundError(errno.ENOENT, "No such file", "x")) is None
