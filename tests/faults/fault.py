"""A row of the table of faults: what goes wrong, and how a run must end then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.faults.stage import Stage


@dataclass(frozen=True)
class Fault:
    """One fault and its expected end.

    Attributes:
        name: What goes wrong, in a few words.
        where: The system or file that it is injected into.
        inject: Makes it go wrong.
        code: Exit code.
        verdict: Of the report; None: none is written.
        words: Regular expression that a person must read, in the message or the findings.
        met: Criteria that are met all the same, with commas: what a fault must not take along.
        only: Groups that are run.
        arguments: More arguments of the command.
        seconds: CPU that the run may take.
        mib: What it may add to the peak of memory.
        slow: Run by ``make test-all`` only: heavy, or one of several rows that end by the same rule.
    """

    name: str
    where: str
    inject: Callable[[Stage], Any]
    code: int
    verdict: str | None
    words: str
    met: str = ""
    only: str = "coverage"
    arguments: tuple[str, ...] = ()
    seconds: float = 8.0
    mib: float = 150.0
    slow: bool = False
