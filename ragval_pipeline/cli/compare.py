"""``ragval compare``: one run held against another."""

from __future__ import annotations

from typing import Annotated

import typer

from ragval_pipeline.cli.kept import open_history
from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile
from ragval_pipeline.cli.terminal import print_bytes, stdout_console, tolerating_closed_pipe

_WHICH = "Name of a run's folder, its run id or the start of it, last, or baseline."


def compare(
    before: Annotated[str, typer.Argument(metavar="A", help=_WHICH)] = "baseline",
    after: Annotated[str, typer.Argument(metavar="B", help=_WHICH)] = "last",
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print the comparison as JSON and nothing else.")
    ] = False,
    log_level: LogLevel = None,
) -> int:
    """Compare two kept runs: criteria, metrics, queries won and lost, pages and chunks. Ends with 1 on a regression."""
    from ragval_pipeline.reporting.history.baseline import named_run
    from ragval_pipeline.reporting.history.compare import compare_runs, comparison_json
    from ragval_pipeline.reporting.history.terminal_compare import render_comparison
    from ragval_pipeline.reporting.json_values import json_bytes

    kept = open_history(suite)
    settings = kept.suite.history
    runs = [named_run(kept.base, name, baseline=settings.baseline) for name in (before, after)]
    comparison = compare_runs(*runs, tolerated_drop=settings.tolerated_drop)
    with tolerating_closed_pipe():
        if as_json:
            print_bytes(json_bytes(comparison_json(comparison)))
        else:
            render_comparison(comparison, stdout_console())
    return comparison.exit_code
