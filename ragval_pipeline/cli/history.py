"""``ragval history``: what became of an index over its runs."""

from __future__ import annotations

from typing import Annotated

import typer

from ragval_pipeline.cli.kept import open_history
from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile
from ragval_pipeline.cli.terminal import is_plain, print_bytes, stdout_console, tolerating_closed_pipe

DEFAULT_RUNS = 20


def history(
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    limit: Annotated[
        int, typer.Option("--limit", metavar="RUNS", min=1, help="Show this many runs, the newest ones.")
    ] = DEFAULT_RUNS,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print the runs as JSON and nothing else.")
    ] = False,
    log_level: LogLevel = None,
) -> int:
    """List the kept runs of a suite, with each criterion's course over them."""
    from ragval_pipeline.reporting.history.baseline import baseline_of
    from ragval_pipeline.reporting.history.folders import kept_runs
    from ragval_pipeline.reporting.history.terminal import history_json, render_history
    from ragval_pipeline.reporting.history.trend import read_history
    from ragval_pipeline.reporting.json_values import json_bytes
    from ragval_pipeline.reporting.terminal_lines import LinePrinter

    kept = open_history(suite)
    total = len(kept_runs(kept.base))
    chosen = baseline_of(kept.base, kept.suite.history.baseline) if total else None
    runs = read_history(kept.base, baseline=chosen.name if chosen else None, limit=limit)
    console = stdout_console()
    with tolerating_closed_pipe():
        if as_json:
            print_bytes(json_bytes(history_json(runs, kept.suite.suite)))
        elif not total:
            LinePrinter(console).line((f"{kept.base} holds no runs yet.", ""))
        else:
            render_history(runs, console, plain=is_plain(console), total=total)
    return 0
