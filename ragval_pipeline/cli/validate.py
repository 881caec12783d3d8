"""Running a validation for people: progress while it runs, then its summary or its JSON, then its exit code.

What lives here: what ``run`` and ``demo`` have in common. What does not: the validation (``orchestration/run``) and the
summary (``reporting/terminal``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.cli.closing import closing_line
from ragval_pipeline.cli.logs import dagster_level
from ragval_pipeline.cli.progress import showing_progress
from ragval_pipeline.cli.terminal import print_bytes, say, stdout_console, tolerating_closed_pipe
from ragval_pipeline.suite.model import Suite

if TYPE_CHECKING:
    from ragval_pipeline.reporting.run import Run
    from ragval_pipeline.validation.report import ValidationReport


def validate_and_show(
    suite: Suite,
    *,
    only: Collection[str] | None = None,
    output: str | None = None,
    as_json: bool = False,
    resources: Mapping[str, Any] | None = None,
    afterwards: Callable[[Run], None] | None = None,
) -> int:
    """Validate a suite, show the result, and copy it to ``output``.

    Args:
        suite: As ``load_suite`` reads it.
        only: Groups of measurements; null: all.
        output: Folder that the report's files are put into as well.
        as_json: Print the report's JSON instead of the summary.
        resources: In place of the suite's own, as for ``build_validation_defs``.
        afterwards: Shows what else there is to say of the run, below its result.

    Returns:
        The exit code that belongs to the verdict.

    Raises:
        RagvalError: The suite is wrong, or the report could not be written.
    """
    finished = _run(suite, only=only, resources=resources)
    with tolerating_closed_pipe():
        if as_json:
            print_bytes(_report_file(finished.folder, "validation_report.json"))
        else:
            _show(finished)
        if afterwards is not None:
            afterwards(finished)
    if output is not None:
        _copy(finished.folder, output, told=not as_json)
    return _exit_code(finished.report)


def run_quietly(suite: Suite) -> Run:
    """Validate a suite with progress and without its summary: the run that a later one is held against."""
    return _run(suite, only=None, resources=None)


def _run(suite: Suite, *, only: Collection[str] | None, resources: Mapping[str, Any] | None) -> Run:
    from ragval_pipeline.validation.metadata.expectations import loading_expectations

    judged = only is None or "metadata" in only
    with loading_expectations() if judged else nullcontext(), showing_progress() as display:
        # Here and not above: importing Dagster takes a moment, and people see that something happens.
        from ragval_pipeline.orchestration.progress import observed_by
        from ragval_pipeline.orchestration.run import run_suite

        with observed_by(display):
            return run_suite(suite, only=only, resources=resources, log_level=dagster_level())


def _show(finished: Run) -> None:
    from ragval_pipeline.reporting.terminal import render_summary

    render_summary(finished.report, stdout_console(), report_path=f"{_short(finished.folder)}/report.html")


def _copy(folder: str, output: str, *, told: bool) -> None:
    from ragval_pipeline.reporting.folder import copy_outputs
    from ragval_pipeline.reporting.terminal_lines import LinePrinter

    copy_outputs(folder, output)
    if told:
        with tolerating_closed_pipe():
            LinePrinter(stdout_console()).line(("Copied to: ", "bold"), (output, ""), wrap=False)


def _short(folder: str) -> str:
    """The folder as people would type it: from the working directory, if it lies in there."""
    here = Path.cwd()
    path = Path(folder)
    return path.relative_to(here).as_posix() if "://" not in folder and path.is_relative_to(here) else folder


def _report_file(folder: str, name: str) -> bytes:
    from upath import UPath

    content: bytes = (UPath(folder) / name).read_bytes()
    return content


def _exit_code(report: ValidationReport) -> int:
    from ragval_pipeline.validation.verdict import EXIT_CODES

    line = closing_line(report)
    if line:
        say(line)
    return EXIT_CODES[report.verdict]
