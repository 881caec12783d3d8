"""``ragval bless``: a person decides which run later ones are held against."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from ragval_pipeline.cli.kept import open_history
from ragval_pipeline.cli.options import DEFAULT_SUITE, LogLevel, SuiteFile
from ragval_pipeline.cli.terminal import say, stdout_console, tolerating_closed_pipe


def bless(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Name of a run's folder, its run id or the start of it, or last.")
    ],
    *,
    suite: SuiteFile = DEFAULT_SUITE,
    log_level: LogLevel = None,
) -> int:
    """Make a kept run the baseline: later runs must not answer worse (criterion no_regression)."""
    from ragval_pipeline.reporting.history.baseline import bless as set_baseline
    from ragval_pipeline.reporting.history.folders import find_run
    from ragval_pipeline.reporting.terminal_lines import LinePrinter

    kept = open_history(suite)
    chosen = find_run(kept.base, run)
    verdict = set_baseline(kept.base, chosen, datetime.now(UTC))
    if kept.suite.history.baseline is not None:
        say(f"history.baseline of {suite} names {kept.suite.history.baseline}, and wins over the blessed run.")
    elif verdict != "pass":
        say(f"{chosen.name} did not pass (verdict {verdict}); later runs are held against it all the same.")
    with tolerating_closed_pipe():
        LinePrinter(stdout_console()).line((f"{kept.suite.suite}: the baseline is now {chosen.name}", ""))
    return 0
