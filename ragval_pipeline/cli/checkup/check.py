"""The result of one preflight check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ragval_pipeline.errors import RagvalError, SuiteError

State = Literal["ok", "problem", "note", "not_applicable"]

#: Exit codes of problems by priority: wrong configuration, unreachable, nothing to measure.
_ORDER = (2, 3, 4)


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: What was checked.
        state: ``note`` is informational.
        message: What was found, or what is wrong; one sentence without its full stop.
        remedy: What to do about a problem or note, one sentence.
        exit_code: Exit code of a run because of it: 2, 3 or 4; 0 unless it is a problem.
    """

    name: str
    state: State
    message: str
    remedy: str = ""
    exit_code: int = 0


def ok(name: str, message: str) -> Check:
    """Nothing is wrong."""
    return Check(name, "ok", message)


def note(name: str, message: str, remedy: str = "") -> Check:
    """Informational."""
    return Check(name, "note", message, remedy)


def skipped(name: str, reason: str) -> Check:
    """Could not be checked, or need not be."""
    return Check(name, "not_applicable", reason)


def problem(name: str, message: str, remedy: str, *, exit_code: int = 2) -> Check:
    """Something is wrong."""
    return Check(name, "problem", message, remedy, exit_code)


def failed(name: str, error: RagvalError) -> Check:
    """The problem for an error."""
    text, remedy = str(error), str(getattr(error, "remedy", ""))
    if isinstance(error, SuiteError):
        text = f"{error.key or error.file}: {error.problem}" if error.key or error.file else error.problem
    message = text.removesuffix(remedy).rstrip(". ") if remedy else text
    return problem(name, message.removesuffix(".").removeprefix(f"{name}: "), remedy, exit_code=error.exit_code)


def exit_code_of(checks: Iterable[Check]) -> int:
    """The exit code of all checks together; 0 without a problem."""
    codes = {check.exit_code for check in checks if check.state == "problem"}
    return next((code for code in _ORDER if code in codes), 0)
