from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ragval_pipeline.cli import options
from tests.cli.conftest import Ended, Home

LOGGER = logging.getLogger("ragval_pipeline")


@pytest.mark.parametrize(
    ("flag", "variable", "level"),
    [
        (None, None, "INFO"),
        (None, "info", "INFO"),
        ("debug", "ERROR", "DEBUG"),
        (None, "warn", "WARNING"),
        (None, "trace", "DEBUG"),
        (None, "30", "WARNING"),
        (None, "  ", "INFO"),
    ],
)
def test_the_flag_wins_over_the_variable(flag: str | None, variable: str | None, level: str) -> None:
    options.set_level(flag, {} if variable is None else {"LOG_LEVEL": variable})
    assert logging.getLevelName(LOGGER.level) == level


def test_each_query_is_logged_with_its_time_and_its_outcome_when_debugging(
    home: Home, ragval: Callable[..., Ended]
) -> None:
    home.edit(queries=[{"id": "body", "query_text": "What is a body?", "min_similarity": 0.99}, "Why simulate?"])
    command = ("run", "-s", home.suite, "--only", "queries")
    assert "What is a body?" not in ragval(*command).err
    logged = [line for line in ragval("--log-level", "DEBUG", *command).err.splitlines() if "ms: " in line]
    assert re.match(r"debug: body, asked 2\d{3}-\S+Z: failed, best similarity 0\.\d{4}, \d+\.\d ms: What", logged[0])
    assert [line.rpartition("ms: ")[2] for line in logged] == ["What is a body?", "Why simulate?"]


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_traceback_is_shown_only_when_debugging(place: str, home: Home, ragval: Callable[..., Ended]) -> None:
    command = ("run", "-s", home.folder / "nope.yaml")
    flag = ("--log-level", "DEBUG")
    assert "Traceback" not in ragval(*command).err
    ended = ragval(*flag, *command) if place == "before" else ragval(*command, *flag)
    assert ended.code == 2
    assert "Traceback" in ended.err


def test_the_level_may_stand_in_the_env_file_beside_the_suite(
    home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.folder / ".env").write_text("LOG_LEVEL=DEBUG\n")
    command = ("run", "-s", home.folder / "nope.yaml")
    assert "Traceback" in ragval(*command).err
    assert "Traceback" not in ragval("--log-level", "INFO", *command).err
    assert "Traceback" not in ragval(*command, "--log-level", "INFO").err
    monkeypatch.setenv("LOG_LEVEL", "WARNING")
    assert "Traceback" not in ragval(*command).err


def test_a_wrong_level_ends_with_two(ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--log-level" in ragval("--log-level", "loud", "schema", "report").message
    monkeypatch.setenv("LOG_LEVEL", "loud")
    ended = ragval("schema", "report")
    assert ended.code == 2
    assert "LOG_LEVEL" in ended.message


def test_a_defect_of_ragval_has_a_code_of_its_own(
    ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragval_pipeline.cli import run

    def crash(_: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(run, "check_output", crash)
    ended = ragval("run")
    assert ended.code == 70
    assert "ZeroDivisionError: by nothing" in ended.message
    assert "Traceback" not in ended.err


def test_above_info_no_progress_is_told(
    home: Home, ragval: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("run", "-s", home.suite, "--only", "coverage")
    assert "Reading the sitemap" in ragval(*command).err
    monkeypatch.setenv("LOG_LEVEL", "WARNING")
    assert ragval(*command).err == ""


def test_the_env_file_serves_variables_that_only_libraries_read_and_only_for_the_command(
    home: Home, ragval: Callable[..., Ended]
) -> None:
    (home.folder / ".env").write_text("DAGSTER_HOME=relative\n")
    assert "DAGSTER_HOME: relative is not an absolute path" in ragval("run", "-s", home.suite).message
    assert "DAGSTER_HOME" not in os.environ


def test_init_reads_the_env_file_beside_the_suite_that_it_writes(ragval: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("QDRANT_URL=not a url\n")
    assert "--qdrant-url: is not an http(s) URL" in ragval("init", "--collection", "docs").message
