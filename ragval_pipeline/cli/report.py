"""``ragval report``: the readable files of a kept run, rendered again."""

from __future__ import annotations

from typing import Annotated

import typer

from ragval_pipeline.cli.kept import open_history
from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, OutputFolder, SuiteFile, check_output
from ragval_pipeline.cli.terminal import stdout_console, tolerating_closed_pipe


def report(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="Name of a run's folder, its run id or the start of it, last, or baseline."),
    ] = "last",
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    output: OutputFolder = None,
    log_level: LogLevel = None,
) -> int:
    """Render report.html and its companions of a kept run again, from what the run measured."""
    from ragval_pipeline.orchestration.report import settings_without_secrets
    from ragval_pipeline.reporting.history.baseline import named_run
    from ragval_pipeline.reporting.history.render import render_again
    from ragval_pipeline.reporting.terminal_lines import LinePrinter

    check_output(output)
    kept = open_history(suite)
    past = kept.suite.history
    files = render_again(
        named_run(kept.base, run, baseline=past.baseline),
        settings=settings_without_secrets(kept.suite),
        baseline=past.baseline,
        limit=past.keep_runs,
        into=output,
    )
    with tolerating_closed_pipe():
        for file in files:
            LinePrinter(stdout_console()).line((file, ""), wrap=False)
    return 0
