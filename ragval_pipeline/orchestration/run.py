"""Running a validation in this process, through the same assets that Dagster runs: ``validate``.

Also when an outside system fails before there is a report. Showing the result does not live here (``cli``).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from ragval_pipeline.orchestration.assets.table import STEPS
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.closing import written_report
from ragval_pipeline.orchestration.groups import steps_of
from ragval_pipeline.orchestration.names import (
    ONLY_TAG,
    TRIGGER_TAG,
    VALIDATION_REPORT,
    asset_key,
    job_name,
)
from ragval_pipeline.orchestration.preflight import check_before_any_call
from ragval_pipeline.orchestration.progress import expect_steps
from ragval_pipeline.orchestration.run_end import tidied, unwritten_report, was_interrupted
from ragval_pipeline.orchestration.run_place import RunPlace, place_of_run
from ragval_pipeline.reporting.run import Run
from ragval_pipeline.suite.load import as_suite
from ragval_pipeline.suite.model import Suite

if TYPE_CHECKING:
    from ragval_pipeline.validation.report import ValidationReport


def validate(
    suite: Suite | str | Path, *, only: Collection[str] | None = None, output: str | Path | None = None
) -> Run:
    """Validate an index now, in this process.

    Args:
        suite: Path of the suite file, or the suite as ``load_suite`` reads it.
        only: Groups of measurements to run; ``None``: all.
        output: A folder that the report's files are put into as well.

    Returns:
        The run: its report, findings and facts. Its verdict is ``error`` when an outside system failed.

    Raises:
        SuiteError: The suite, its queries or the environment are wrong; nothing was asked and nothing is written.
    """
    return run_suite(as_suite(suite), only=only, output=output)


def run_validation(
    suite: Suite | str | Path, only: Collection[str] | None = None, output: str | Path | None = None
) -> ValidationReport:
    """The report of ``validate``."""
    return validate(suite, only=only, output=output).report


def run_suite(
    suite: Suite,
    *,
    only: Collection[str] | None = None,
    output: str | Path | None = None,
    resources: Mapping[str, Any] | None = None,
    log_level: str = "CRITICAL",
) -> Run:
    """``validate`` as the command line and tests call it.

    Args:
        suite: As ``load_suite`` reads it.
        only: Groups of measurements to run; null: all.
        output: A folder that the report's files are put into as well.
        resources: In place of the suite's own, as for ``build_validation_defs``.
        log_level: From which level on Dagster's own log is shown.

    Raises:
        SuiteError: As ``validate``.
        RagvalError: The report could not be written.
        KeyboardInterrupt: The run was interrupted; nothing of it is left.
    """
    resolved = check_before_any_call(suite, only=only)
    tags = {TRIGGER_TAG: "command_line", **({ONLY_TAG: ",".join(sorted(only))} if only is not None else {})}
    run_id = str(uuid.uuid4())
    with _instance() as instance:
        # Without an instance to come back to, nobody will read the values between assets again.
        store = None if instance.is_persistent else dg.mem_io_manager
        defs = build_validation_defs(suite, resources=resources, io_manager=store)
        expect_steps(steps_of(STEPS, only))
        place_of = partial(place_of_run, instance, run_id, tags, resolved)
        with tidied(place_of, place_of().base):
            result = defs.resolve_job_def(job_name(suite.suite)).execute_in_process(
                instance=instance,
                run_id=run_id,
                tags=tags,
                raise_on_error=False,
                run_config={"loggers": {"console": {"config": {"log_level": log_level}}}},
            )
            if was_interrupted(result):
                raise KeyboardInterrupt
            finished = _finish(suite, result, place_of())
    if output is not None:
        from ragval_pipeline.reporting.folder import copy_outputs

        copy_outputs(finished.folder, str(output))
    return finished


def _instance() -> dg.DagsterInstance:
    """Dagster's instance when there is one to record runs in, else one that is forgotten."""
    return dg.DagsterInstance.get() if os.environ.get("DAGSTER_HOME") else dg.DagsterInstance.ephemeral()


def _finish(suite: Suite, result: dg.ExecuteInProcessResult, place: RunPlace) -> Run:
    key = asset_key(suite.suite, VALIDATION_REPORT)
    if any(event.asset_key == key for event in result.get_asset_materialization_events()):
        return Run(result.asset_value(key), str(place.folder))
    report = written_report(place)
    if report is None:
        raise unwritten_report(result)
    return Run(report, str(place.folder))
