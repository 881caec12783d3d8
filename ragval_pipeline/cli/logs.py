"""How much ragval says while it works: ``--log-level``, else ``LOG_LEVEL``, else everything but details."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Mapping

from ragval_pipeline.cli.terminal import without_secrets
from ragval_pipeline.errors import SuiteError
from ragval_pipeline.reporting.text import one_line
from ragval_pipeline.suite.nearest import did_you_mean

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
VARIABLE = "LOG_LEVEL"
DEFAULT = "INFO"
#: LOG_LEVEL is shared with other programs; these are their words.
_OTHER_WORDS = {"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "CRITICAL", "NOTSET": "DEBUG"}
_LOGGER = logging.getLogger("ragval_pipeline")


def set_level(flag: str | None, environ: Mapping[str, str] | None = None) -> None:
    """Log from the level of the flag on, else that of ``LOG_LEVEL``.

    Raises:
        SuiteError: There is no such level.
    """
    environ = os.environ if environ is None else environ
    given = (flag, "--log-level") if flag is not None else (environ.get(VARIABLE, "").strip() or DEFAULT, VARIABLE)
    level = _level(*given)
    for handler in [handler for handler in _LOGGER.handlers if isinstance(handler, _Lines)]:
        _LOGGER.removeHandler(handler)
    _LOGGER.addHandler(_Lines())
    _LOGGER.setLevel(level)
    if not is_debugging() and not sys.warnoptions:
        # Deprecations inside libraries are for ragval's developers.
        warnings.simplefilter("ignore")


def is_debugging() -> bool:
    """Whether tracebacks are wanted."""
    return _LOGGER.isEnabledFor(logging.DEBUG)


def dagster_level() -> str:
    """From which level on Dagster's own log is shown: it prints tracebacks with its errors."""
    return "DEBUG" if is_debugging() else "CRITICAL"


def _level(text: str, where: str) -> str:
    word = text.strip().upper()
    word = _OTHER_WORDS.get(word, word)
    if word in LEVELS:
        return word
    if word.isdecimal():
        return next((level for level in LEVELS if int(word) <= logging.getLevelNamesMapping()[level]), "CRITICAL")
    raise SuiteError(f"there is no log level {text}", key=where, remedy=did_you_mean(word, LEVELS))


class _Lines(logging.Handler):
    """One line a record on whatever stderr is at that moment; tracebacks only when debugging."""

    def emit(self, record: logging.LogRecord) -> None:
        text = without_secrets(record.getMessage())
        print(f"{record.levelname.lower()}: {one_line(text)}", file=sys.stderr)  # noqa: T201
        if record.exc_info and is_debugging():
            traceback = logging.Formatter().formatException(record.exc_info)
            print(without_secrets(traceback), file=sys.stderr)  # noqa: T201
