"""Options shared by several commands, including ``--log-level``."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ragval_pipeline.cli.terminal import without_secrets
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.text.display import one_line
from ragval_pipeline.text.printing import did_you_mean

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
VARIABLE = "LOG_LEVEL"
DEFAULT = "INFO"
#: LOG_LEVEL is shared with other programs: all names of logging, and one that it does not know.
_NUMBERS = {**logging.getLevelNamesMapping(), "TRACE": logging.DEBUG}
_LOGGER = logging.getLogger("ragval_pipeline")


def set_level(flag: str | None, environ: Mapping[str, str] | None = None) -> None:
    """Log from the level of the flag, else that of ``LOG_LEVEL``.

    Raises:
        SuiteError: There is no such level.
    """
    environ = os.environ if environ is None else environ
    given = (flag, "--log-level") if flag is not None else (environ.get(VARIABLE, "").strip() or DEFAULT, VARIABLE)
    level = _level(*given)
    for handler in [handler for handler in _LOGGER.handlers if isinstance(handler, _Lines)]:
        _LOGGER.removeHandler(handler)
    _LOGGER.addHandler(_Lines(by_flag=flag is not None))
    _LOGGER.setLevel(level)
    if not is_debugging() and not sys.warnoptions:
        # Deprecations inside libraries are for ragval's developers.
        warnings.simplefilter("ignore")


def is_debugging() -> bool:
    """Whether tracebacks are wanted."""
    return _LOGGER.isEnabledFor(logging.DEBUG)


def is_told() -> bool:
    """Whether what a command does is told while it works."""
    return _LOGGER.level <= logging.INFO  # not set outside the command line


def dagster_level() -> str:
    """The level of Dagster's own log, which prints tracebacks with its errors."""
    return "DEBUG" if is_debugging() else "CRITICAL"


def _level(text: str, where: str) -> int:
    word = text.strip().upper()
    number = int(word) if word.isdecimal() else _NUMBERS.get(word)
    if number is None:
        raise SuiteError(f"{text} is not a log level", key=where, remedy=did_you_mean(word, LEVELS))
    return max(number, logging.DEBUG)


class _Lines(logging.Handler):
    """One line per record on the current stderr; tracebacks only when debugging."""

    def __init__(self, *, by_flag: bool) -> None:
        super().__init__()
        self.by_flag = by_flag

    def emit(self, record: logging.LogRecord) -> None:
        text = without_secrets(record.getMessage())
        print(f"{record.levelname.lower()}: {one_line(text)}", file=sys.stderr)  # noqa: T201
        if record.exc_info and is_debugging():
            traceback = logging.Formatter().formatException(record.exc_info)
            print(without_secrets(traceback), file=sys.stderr)  # noqa: T201


def _set_level(value: str | None) -> None:
    if value is not None:
        set_level(value)


def serve_variables(folder: Path) -> None:
    """Set the variables of a folder's ``.env`` that the process does not have: libraries read some of them, too."""
    from ragval_pipeline.suite.interpolation import environment_of

    os.environ.update(environment_of(folder))


@contextmanager
def restoring_variables() -> Iterator[None]:
    """Undo changes of the process's variables at the end."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def _set_level_beside(suite: Path) -> Path:
    """Without a flag, ``LOG_LEVEL`` may also be in the ``.env`` next to the suite file, like all variables."""
    from ragval_pipeline.suite.interpolation import environment_of
    from ragval_pipeline.suite.yaml_file import split_name

    serve_variables(split_name(suite)[0].expanduser().absolute().parent)
    if not any(isinstance(handler, _Lines) and handler.by_flag for handler in _LOGGER.handlers):
        set_level(None, environment_of(split_name(suite)[0].expanduser().absolute().parent))
    return suite


def json_flag(what: str, more: str = "") -> Any:
    """The option ``--json`` of a command that can print ``what`` as JSON."""
    return typer.Option("--json", help=f"Print {what} and nothing else{more}.")


SuiteFile = Annotated[
    Path,
    typer.Option(
        "--suite",
        "-s",
        metavar="FILE",
        callback=_set_level_beside,
        help="The suite file, or a Dagster project's defs.yaml or defs.yaml#NAME.",
    ),
]
OutputFolder = Annotated[
    str | None,
    typer.Option("--output", metavar="DIR", help="Also write the report's files to this folder."),
]
AsJson = Annotated[bool, json_flag("validation_report.json", ", regardless of the exit code")]
LogLevel = Annotated[
    str | None,
    typer.Option(
        "--log-level",
        metavar="LEVEL",
        callback=_set_level,
        expose_value=False,
        help=f"{', '.join(LEVELS)}. Default: the environment variable LOG_LEVEL. DEBUG shows tracebacks.",
    ),
]

DEFAULT_SUITE = Path("ragval.yaml")
#: The folder of ``ragval demo``, in the working directory.
DEMO_HOME = Path(".ragval") / "demo"


def check_output(output: str | None) -> None:
    """Refuse an output that cannot be a folder, before any call or write.

    Raises:
        SuiteError: The folder, or a parent of it, is a file.
    """
    if output is None or "://" in output:
        return
    if not output.strip():
        raise SuiteError("names no folder", key="--output")
    from ragval_pipeline.sources.storage import check_folder

    check_folder(Path(output).absolute(), key="--output", remedy="Name a folder.")
