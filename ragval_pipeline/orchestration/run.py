"""Running a validation in this process through Dagster's assets, with preparation and clean-up."""

from __future__ import annotations

import builtins
import gc
import logging
import os
import re
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import dagster as dg
from upath import UPath
from yaml import YAMLError

from ragval_pipeline.errors import MachineError, RagvalError, SuiteError, failure_of_machine
from ragval_pipeline.measuring.expectations import loading_expectations
from ragval_pipeline.measuring.names import FULL_TAG, ONLY_TAG, steps_of
from ragval_pipeline.measuring.place import RunPlace, remove_tree
from ragval_pipeline.measuring.preflight import check_before_any_call
from ragval_pipeline.measuring.progress import check_observer, expect_steps
from ragval_pipeline.measuring.table import STEPS
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.failures import fault_of_the_suite
from ragval_pipeline.orchestration.names import TRIGGER_TAG, job_name
from ragval_pipeline.orchestration.run_place import place_of_run
from ragval_pipeline.reporting.files.folder import copy_outputs
from ragval_pipeline.reporting.run import Run
from ragval_pipeline.sources.history import REPORT
from ragval_pipeline.sources.memory import give_back_memory
from ragval_pipeline.sources.storage import ReportNotWrittenError, local_path, writing_remedy, writing_to
from ragval_pipeline.sources.stores.opening import keeping_stores
from ragval_pipeline.sources.stores.points_file import keeping_points
from ragval_pipeline.sources.workers import keeping_workers
from ragval_pipeline.suite.criteria import groups_of
from ragval_pipeline.suite.load import as_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.report import ValidationReport

logger = logging.getLogger(__name__)

#: Runs of this process so far, and number of runs after which their memory is collected.
_RUNS, _FORGOTTEN_AT_ONCE = count(), 10


def validate(
    suite: Suite | str | Path, *, only: Collection[str] | None = None, output: str | Path | None = None
) -> Run:
    """Validate an index now, in this process.

    Args:
        suite: Path of the suite file, or the suite as ``load_suite`` reads it.
        only: Groups of measurements to run, as a list or separated by commas; ``None``: all.
        output: Additional folder for the report's files.

    Returns:
        The run: its report, findings and facts. Its verdict is ``error`` if an outside system failed.

    Raises:
        SuiteError: The suite, its queries or the environment are wrong; nothing was read or written.
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
    full: bool = False,
    resources: Mapping[str, Any] | None = None,
    log_level: str = "CRITICAL",
) -> Run:
    """``validate`` as the command line and tests call it; ``full`` reads nothing of an earlier run.

    Raises:
        SuiteError: As ``validate``.
        RagvalError: The report could not be written.
        KeyboardInterrupt: The run was interrupted; its files are removed.
    """
    with keeping_points():  # a file is checked before anything else is read, and read once
        return _run_checked(
            suite, only=groups_of(only), output=output, full=full, resources=resources, log_level=log_level
        )


def _run_checked(
    suite: Suite,
    *,
    only: Collection[str] | None,
    output: str | Path | None,
    full: bool,
    resources: Mapping[str, Any] | None,
    log_level: str,
) -> Run:
    resolved = check_before_any_call(suite, only=only)
    tags = {TRIGGER_TAG: "command_line", **({FULL_TAG: "yes"} if full else {})}
    tags |= {ONLY_TAG: ",".join(sorted(only))} if only is not None else {}
    run_id = str(uuid.uuid4())
    if next(_RUNS) % _FORGOTTEN_AT_ONCE == _FORGOTTEN_AT_ONCE - 1:
        _forget_earlier_runs()
    with loading_expectations(only), _instance() as instance:
        defs = build_validation_defs(suite, resources=resources)
        expect_steps(steps_of(STEPS, only))
        if resolved.partitions and resolved.partitions.dynamic and resolved.partition:
            instance.add_dynamic_partitions(resolved.partitions.dynamic, [resolved.partition])
        place_of = partial(place_of_run, instance, run_id, tags, resolved)
        with tidied(place_of, place_of().base), keeping_workers(), _keeping_index(resolved):
            _check_place(place_of())
            result = defs.resolve_job_def(job_name(suite.suite)).execute_in_process(
                instance=instance,
                partition_key=resolved.partition,
                run_id=run_id,
                tags=tags,
                raise_on_error=False,
                run_config={"loggers": {"console": {"config": {"log_level": log_level}}}},
            )
            if was_interrupted(result):
                raise KeyboardInterrupt
            finished = _finish(result, place_of())
            check_observer()
    if output is not None:
        copy_outputs(finished.folder, str(output))
    return finished


def _keeping_index(suite: Suite) -> AbstractContextManager[None]:
    """An embedded index stays open for all steps, unless code of the suite's own may open it too; a file does."""
    return keeping_stores() if suite.retrieval.retriever is None or suite.points else nullcontext()


def _forget_earlier_runs() -> None:
    """Free the memory of earlier runs: Dagster's objects reference each other until they are collected.

    A process with many validations would grow by a megabyte per run for the first fifty. Collecting takes a quarter of
    a small run's time, so it is not done after each.
    """
    gc.collect()
    give_back_memory()


def _check_place(place: RunPlace) -> None:
    """Fail early if the report location refuses writes."""
    folder = local_path(place.base)
    with writing_to(folder or place.base):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        else:
            place.base.exists()


@contextmanager
def _instance() -> Iterator[dg.DagsterInstance]:
    """Dagster's instance if one is configured, else an ephemeral one.

    Raises:
        SuiteError: DAGSTER_HOME is not a folder, or its dagster.yaml is wrong.
        MachineError: Its databases cannot be used.
    """
    home = os.environ.get("DAGSTER_HOME", "").strip()
    if not home:
        with dg.DagsterInstance.ephemeral() as instance:
            yield instance
        return
    try:
        with _opened(Path(home).expanduser()) as instance:
            yield instance
    except Exception as error:
        if not any(kind.__module__ == "sqlalchemy.exc" for kind in type(error).__mro__):  # what Dagster stores with
            raise
        problem = str(getattr(error, "orig", None) or error).partition("\n")[0].rstrip(".")
        raise MachineError(f"Dagster's storage, DAGSTER_HOME={home}: {problem}. {_STORAGE}") from error


#: What to do if Dagster's storage fails.
_STORAGE = (
    "Repair it, wait for what holds it, or name another folder; without the variable, a run is not recorded in Dagster."
)


def _opened(home: Path) -> dg.DagsterInstance:
    """Dagster's instance in its home."""
    remedy = "Create it, correct the variable, or remove it: without it, a run is not recorded in Dagster."
    if not home.is_absolute():
        raise SuiteError(f"{home} is not an absolute path", key="DAGSTER_HOME", remedy=remedy)
    if not home.is_dir():
        problem = "is a file, not a folder" if home.exists() else "does not exist"
        raise SuiteError(f"{home} {problem}", key="DAGSTER_HOME", remedy=remedy)
    try:
        return dg.DagsterInstance.get()
    except (dg.DagsterError, YAMLError) as error:
        # Dagster's messages may quote the whole schema.
        problem = " ".join(str(error).split())[:_QUOTED].partition(" Expected: ")[0]
        remedy = "Correct it, or unset DAGSTER_HOME: a run is then not recorded in Dagster."
        raise SuiteError(problem.rstrip("."), file=home / "dagster.yaml", remedy=remedy) from error


#: Letters of a message of Dagster.
_QUOTED = 300


class UnwrittenReportError(RagvalError):
    """The report location refuses writes."""

    exit_code = 3


def _finish(result: dg.ExecuteInProcessResult, place: RunPlace) -> Run:
    file = place.folder / REPORT
    if not file.is_file():
        raise fault_of_the_suite(result) or unwritten_report(result, place)
    return Run(ValidationReport.model_validate_json(file.read_bytes()), str(place.folder))


#: Names of ``OSError`` and its subclasses.
_OF_THE_FILESYSTEM = frozenset(
    name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, OSError)
)
#: What Python, NumPy and Arrow raise without memory.
_OF_MEMORY = frozenset({"MemoryError", "_ArrayMemoryError", "ArrowMemoryError"})
#: Dagster turns Ctrl-C and SIGTERM into the first of these and records an ordinary failure.
_INTERRUPTIONS = frozenset({"DagsterExecutionInterruptedError", "KeyboardInterrupt"})


def was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Whether the run was ended by a person or the system."""
    for event in result.all_events:
        if event.event_type == dg.DagsterEventType.RUN_CANCELED:
            return True
        if event.is_failure:
            error = event.step_failure_data.error if event.is_step_failure else event.job_failure_data.error
            if error is not None and error.cls_name in _INTERRUPTIONS:
                return True
    return False


def unwritten_report(result: dg.ExecuteInProcessResult, place: RunPlace) -> Exception:
    """Why a run has no report: its location refuses writes or was removed, or a defect."""
    failed = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    causes = [error.cause or error for error in failed if error is not None]  # Dagster wraps exceptions of steps
    for error in causes:
        told = error.message.strip().partition(": ")[2]
        if error.cls_name in {"ReportNotWrittenError", "UnwrittenReportError", "HistoryNotReadError"}:
            return UnwrittenReportError(told)
        if error.cls_name in _OF_THE_FILESYSTEM:  # outside systems fail with other errors
            problem = re.sub(r"^\[Errno \d+\] ", "", told)
            remedy = writing_remedy(place.base)
            return UnwrittenReportError(f"{place.base}: the report could not be written: {problem}. {remedy}")
    if any(error.cls_name in _OF_MEMORY for error in causes):
        return failure_of_machine(MemoryError()) or MemoryError()
    told = "; ".join(error.message.strip() for error in causes) or "no step failed"
    return RuntimeError(f"the report could not be made: {told}")


@contextmanager
def tidied(place_of: Callable[[], RunPlace], base: UPath) -> Iterator[None]:
    """Remove the run's working files; after an interruption also everything it has written.

    ``place_of`` is called at the end, when the run's start is known. Parent folders that were created for ``base`` are
    removed again if empty.
    """
    made = _missing_folders(base)
    try:
        yield
    except KeyboardInterrupt:
        with _leaving_it_if_refused(base, "what the interrupted run has written was not removed"):
            remove_tree(place_of().folder)
        raise
    finally:
        with _leaving_it_if_refused(base, "the working files of the run were not removed"):
            place = place_of()
            remove_tree(place.work)
            place.remove_scratch()
            for folder in (place.base, *made):
                if folder.exists() and not any(folder.iterdir()):
                    folder.rmdir()


@contextmanager
def _leaving_it_if_refused(base: UPath, told: str) -> Iterator[None]:
    """Clean up, and only warn where the place refuses: how the run ends is decided by now."""
    try:
        with writing_to(base):
            yield
    except ReportNotWrittenError as error:
        logger.warning("%s: %s: %s", told, error.where, error.problem)


def withdraw(run: Run) -> None:
    """Remove what a finished run has written: its command was interrupted before it could end."""
    remove_tree(UPath(run.folder))


def _missing_folders(base: UPath) -> list[UPath]:
    """Missing parent folders of ``base``, innermost first; none on stores without real folders."""
    if "://" in str(base):
        return []
    return [UPath(folder) for folder in Path(str(base)).absolute().parents if not folder.exists()]
