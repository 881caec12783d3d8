"""``ragval doctor``: what would go wrong, before a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile, json_flag
from ragval_pipeline.cli.terminal import print_bytes, say, stderr_console, stdout_console, tolerating_closed_pipe
from ragval_pipeline.errors import with_remedy

if TYPE_CHECKING:
    from ragval_pipeline.cli.checkup.check import Check

_SIGNS = {"ok": ("✓", "green"), "problem": ("✗", "bold red"), "note": ("!", "yellow"), "not_applicable": ("·", "dim")}


def doctor(
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    as_json: Annotated[bool, json_flag("the checks as JSON")] = False,
    log_level: LogLevel = None,
) -> int:
    """Check a suite before a run: keys, environment, Qdrant, vectors, embedder, payload fields, sitemap."""
    from ragval_pipeline.cli.checkup.check import exit_code_of

    checks = _examined(suite)
    exit_code = exit_code_of(checks)
    with tolerating_closed_pipe():
        if as_json:
            print_bytes(_json(suite, checks, exit_code))
        else:
            _show(checks)
    problems = [check for check in checks if check.state == "problem"]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        say(with_remedy(f"{problems[0].name}: {problems[0].message}{more}", problems[0].remedy))
    return exit_code


def _examined(suite: Path) -> list[Check]:
    from ragval_pipeline.cli.checkup.examine import examine

    console = stderr_console()
    if not console.is_terminal:
        return examine(suite)
    with console.status("Checking the suite") as status:
        return examine(suite, on_step=status.update)


def _json(suite: Path, checks: Sequence[Check], exit_code: int) -> bytes:
    entries = [
        {"name": check.name, "state": check.state, "message": check.message, "remedy": check.remedy} for check in checks
    ]
    content = {"suite_file": str(suite), "exit_code": exit_code, "checks": entries}
    return f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode()


def _show(checks: Sequence[Check]) -> None:
    from ragval_pipeline.reporting.terminal.lines import LinePrinter

    printer = LinePrinter(stdout_console())
    width = max(len(check.name) for check in checks)
    for check in checks:
        sign, style = _SIGNS[check.state]
        dim = "dim" if check.state == "not_applicable" else ""
        # The lead takes the style of the first part.
        printer.line(("", style), (check.message, dim), lead=f"{sign} {check.name:{width}}  ")
        if check.remedy:
            printer.line((check.remedy, "cyan"), lead="→ ", indent=width + 4)
    printer.line((_verdict(checks), "bold"))


def _verdict(checks: Sequence[Check]) -> str:
    from ragval_pipeline.suite.printing import plural

    problems = sum(check.state == "problem" for check in checks)
    notes = sum(check.state == "note" for check in checks)
    noted = f", {plural(notes, 'note')}" if notes else ""
    return f"{plural(problems, 'problem') if problems else 'Ready to run'}{noted}."
