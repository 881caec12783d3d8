from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ended, Home, environment

OPTIONS = {
    "run": ("--suite", "-s", "--only", "--output", "--json", "--log-level", "--help"),
    "demo": ("--break", "--list-defects", "--output", "--json", "--log-level"),
    "doctor": ("--suite", "-s", "--json", "--log-level"),
    "init": (
        "--qdrant-url", "--qdrant-path", "--collection", "--sitemap", "--profile", "--output", "--force", "--log-level",
    ),
    "explain": ("WHAT", "--suite", "last:coverage.missing_page"),
    "search": ("TEXT", "--top-k", "--json"),
    "show": ("RUN", "--json"),
    "schema": ("WHAT", "NAME", "profile", "queries"),
}  # fmt: skip


def test_help_names_every_command_and_every_exit_code(ragval: Callable[..., Ended]) -> None:
    ended = ragval("--help")
    assert ended.code == 0
    for name in (*OPTIONS, "--version", "--log-level"):
        assert name in ended.out
    for code in ("0 ", "1 ", "2 ", "3 ", "4 ", "130 "):
        assert code in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize("name", OPTIONS)
def test_help_of_a_command_names_its_options(name: str, ragval: Callable[..., Ended]) -> None:
    ended = ragval(name, "--help")
    assert ended.code == 0
    for option in OPTIONS[name]:
        assert option in ended.out
    assert "Example" in ended.out
    assert "<bool>" not in ended.out


def test_completion_knows_commands_and_criteria() -> None:
    for words, at, expected in (("ragval sea", 1, "search"), ("ragval explain cov", 2, "coverage")):
        variables = {"_RAGVAL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        done = subprocess.run(
            [Path(sys.executable).with_name("ragval")],
            env=environment(**variables), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert expected in done.stdout.split()


def test_without_arguments_the_help_is_shown_once(ragval: Callable[..., Ended]) -> None:
    ended = ragval()
    assert ended.code == 2
    assert ended.out.count("Usage:") == 1


def test_the_version_is_one_line(ragval: Callable[..., Ended]) -> None:
    ended = ragval("--version")
    assert ended.code == 0
    assert ended.out.startswith("ragval")
    assert len(ended.out.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rnu",), ("rnu", "ragval --help")),
        (("run", "--jsn"), ("--jsn", "ragval run --help")),
        (("run", "--suite"), ("--suite", "requires", "--help")),
        (("run", "extra"), ("extra", "ragval run --help")),
        (("schema",), ("WHAT", "ragval schema --help")),
        (("run", "-s", "a", "--suite", "b"), ("--suite/-s", "only once", "ragval run --help")),
        (("doctor", "--json", "--json"), ("--json", "only once", "ragval doctor --help")),
        (("--log-level", "INFO", "--log-level", "DEBUG", "run"), ("--log-level", "only once", "ragval --help")),
    ],
)
def test_wrong_usage_is_one_line_and_ends_with_two(
    arguments: tuple[str, ...], words: tuple[str, ...], ragval: Callable[..., Ended]
) -> None:
    ended = ragval(*arguments)
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    for word in words:
        assert word in ended.message


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(argument: str) -> None:
    heavy = (
        "pydantic",
        "dagster",
        "great_expectations",
        "qdrant_client",
        "cohere",
        "numpy",
        "pandas",
        "pyarrow",
        "httpx",
    )
    program = (
        f"import sys; from ragval_pipeline.cli import main; main([{argument!r}]);"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"


def test_the_program_ends_without_a_last_look_through_all_objects() -> None:
    """Python looks for cycles among all it has imported when it ends, which takes a second after a validation."""
    last = "import atexit, gc; atexit.register(lambda: print('left alone:', gc.get_freeze_count() > 10_000))"
    code = f"{last}; from ragval_pipeline.cli import main; main(['--version']); main(['--version'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.splitlines()[-1] == "left alone: True"


def test_a_whole_run_does_without_pandas(home: Home) -> None:
    # Importing it takes as long as validating many an index; Great Expectations has a process of its own.
    program = (
        f"import sys; from ragval_pipeline.cli import main; main(['run', '-s', {str(home.suite)!r}]);"
        "print('pandas' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "False"
    [report] = home.reports()
    assert json.loads(report.read_text(encoding="utf-8"))["verdict"] == "pass"
