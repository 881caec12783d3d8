"""How a run in this process ended, and what it must not leave behind.

What lives here: telling interruptions, failed systems and defects apart, and tidying up. What does not: starting runs
(``run``) and the report of a failed one (``closing``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from ragval_pipeline.orchestration.closing import UnwrittenReportError
from ragval_pipeline.orchestration.latest import take_back_latest
from ragval_pipeline.orchestration.run_place import RunPlace, remove_tree

if TYPE_CHECKING:
    from upath import UPath

#: Dagster turns Ctrl-C and SIGTERM into the first of these and records it as an ordinary failure.
_INTERRUPTIONS = frozenset({"DagsterExecutionInterruptedError", "KeyboardInterrupt"})


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


def unwritten_report(result: dg.ExecuteInProcessResult) -> Exception:
    """Why a run left no report: the place for it refuses, or a defect."""
    failed = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    causes = [error.cause or error for error in failed if error is not None]  # Dagster wraps what was raised in a step
    for error in causes:
        if error.cls_name in {"ReportNotWrittenError", "UnwrittenReportError"}:
            return UnwrittenReportError(error.message.strip().partition(": ")[2])
    told = "; ".join(error.message.strip() for error in causes) or "no step failed"
    return RuntimeError(f"the report could not be made: {told}")


@contextmanager
def tidied(place_of: Callable[[], RunPlace], base: UPath) -> Iterator[None]:
    """Remove what only the run needed; after an interruption also what it has written so far, latest values included.

    Args:
        place_of: The run's place, asked for at the end, when its start is known.
        base: Where the run will write; folders above it that are not there yet are removed again if nothing is in them.
    """
    made = _missing_folders(base)
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
