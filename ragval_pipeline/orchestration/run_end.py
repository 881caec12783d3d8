"""How a run in this process ended, and what it must not leave behind.

What lives here: telling interruptions, failed systems and defects apart, and tidying up. What does not: starting runs
(``run``) and the report of a failed one (``report``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.orchestration.latest import keep_latest, take_back_latest
from ragval_pipeline.orchestration.measuring import failure_of_step
from ragval_pipeline.orchestration.run_place import RunPlace, remove_tree

if TYPE_CHECKING:
    from upath import UPath

#: Dagster turns Ctrl-C and SIGTERM into the first of these and records it as an ordinary failure.
_INTERRUPTIONS = frozenset({"DagsterExecutionInterruptedError", "KeyboardInterrupt"})


class UnwrittenReportError(RagvalError):
    """The place for the report refuses it."""

    exit_code = 3


def was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Whether a person or the system ended the run, rather than anything that it found."""
    for event in result.all_events:
        if event.event_type == dg.DagsterEventType.RUN_CANCELED:
            return True
        if event.is_failure:
            error = event.step_failure_data.error if event.is_step_failure else event.job_failure_data.error
            if error is not None and error.cls_name in _INTERRUPTIONS:
                return True
    return False


def failed_step(result: dg.ExecuteInProcessResult, step: str) -> bool:
    """Whether a step failed."""
    return any(event.is_step_failure for event in result.events_for_node(step))


def exception_of_step(result: dg.ExecuteInProcessResult, step: str) -> BaseException:
    """What a failed step failed with.

    Returns:
        The failure of an outside system as it was raised; else an exception with the same type name and text, which is
        all that Dagster keeps of it.
    """
    data = next(event for event in result.events_for_node(step) if event.is_step_failure).step_failure_data
    if data.user_failure_data is not None:
        failure = dg.Failure(data.user_failure_data.description, metadata=data.user_failure_data.metadata)
        known = failure_of_step(failure)
        if known is not None:
            return known
    if data.error is None:
        return RuntimeError("failed")
    # Inside a step Dagster wraps what was raised.
    error = data.error.cause or data.error
    name = error.cls_name or "RuntimeError"
    text = "".join(error.message.strip().partition(": ")[2:]) or name
    kept: BaseException = type(name, (RuntimeError,), {})(text)
    return kept


def unwritten_report(error: BaseException) -> Exception:
    """Why the report's own step left no report: the place for it refuses, or a defect."""
    if type(error).__name__ == "ReportNotWrittenError":
        return UnwrittenReportError(str(error))
    return RuntimeError(f"the report could not be made: {type(error).__name__}: {error}")


@contextmanager
def tidied(place_of: Callable[[], RunPlace], base: UPath) -> Iterator[None]:
    """Remove what only the run needed; after an interruption also what it has written so far, latest values included.

    Args:
        place_of: The run's place, asked for at the end, when its start is known.
        base: Where the run will write; folders above it that are not there yet are removed again if nothing is in them.
    """
    made = _missing_folders(base)
    keep_latest(base, place_of().run_id)
    try:
        yield
    except KeyboardInterrupt:
        take_back_latest(base, place_of().run_id)
        remove_tree(place_of().folder)
        raise
    finally:
        place = place_of()
        remove_tree(place.work)
        for folder in (place.work.parent, place.base, *made):
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()


def _missing_folders(base: UPath) -> list[UPath]:
    """Folders on the way to ``base`` that are not there, the innermost first; none on stores without real folders."""
    from upath import UPath

    if "://" in str(base):
        return []
    return [UPath(folder) for folder in Path(str(base)).absolute().parents if not folder.exists()]
