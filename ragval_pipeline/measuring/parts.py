"""Measuring the parts of an asset, each with its own failure, and the words of failures."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ragval_pipeline.errors import NoDenseVectorError, NotMeasurableError, RagvalError, SuiteError, SystemFailure
from ragval_pipeline.findings.factory import grade_findings
from ragval_pipeline.measuring.cost import CountedEmbedding, budget_of
from ragval_pipeline.measuring.names import QUERY_VALIDATION_RESULTS, is_selected, selected_groups
from ragval_pipeline.measuring.progress import progress_of
from ragval_pipeline.measuring.task import Task
from ragval_pipeline.rules.index.collection_missing import RULE as COLLECTION_MISSING
from ragval_pipeline.validation.measurement import Measurement, failed_measurement, not_measured

if TYPE_CHECKING:
    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.validation.report import ValidationReport

#: Measures one part of an asset.
Work: TypeAlias = Callable[[Task], Measurement]


def measure_parts(task: Task, name: str, parts: Mapping[str, Work], *, embeds: bool) -> tuple[Measurement, ...]:
    """Measure every part of an asset that the run's groups select.

    If a system fails or a detector crashes, only that part is not measured. A part may read previous ones. ``embeds``:
    the cost of the parts is counted.
    """
    done: dict[str, Measurement] = {}
    budget = budget_of(task.suite, task.place) if embeds else None
    for part, work in parts.items():
        embedding = CountedEmbedding(task.embedder, budget) if embeds else None
        done[part] = _one_part(replace(task, embedding=embedding, before=done), part, work)
    task.measured[name] = tuple(done.values())
    return task.measured[name]


def _one_part(task: Task, name: str, work: Work) -> Measurement:
    from ragval_pipeline.sources.memory import give_back_memory

    if not is_selected(name, selected_groups(task.place.tags)):
        return Measurement(asset=name, selected=False)
    progress_of(name)(0, None)
    measurement = measured(task, name, work)
    give_back_memory()
    progress_of(name)(1, 1)
    if task.embedding is not None:
        # The cost is reported even if the work fails.
        measurement = measurement.model_copy(update={"sections": {**measurement.sections, **task.embedding.section()}})
    if task.suite.severity:
        # The UI shows the same as the report.
        graded = tuple(grade_findings(measurement.findings, task.suite.severity))
        measurement = measurement.model_copy(update={"findings": graded})
    return measurement


def measured(task: Task, name: str, work: Work) -> Measurement:
    """One measurement; if a system fails or a detector crashes, its failure."""
    started = time.monotonic()
    try:
        measurement = work(task)
    except NoDenseVectorError as lacking:
        task.log.info("%s: %s", name, lacking.problem)
        measurement = _without_dense(task.suite, name, lacking)
    except (SystemFailure, NotMeasurableError) as failure:
        error = vanished(failure) or failure
        task.log.error("%s: %s", name, error)
        measurement = failed_measurement(name, error)
    except SuiteError as error:
        task.log.error("%s: %s", name, error)
        measurement = _wrongly_asked(name, error)
    except Exception as error:  # noqa: BLE001  it is reported, as a finding, by the failed step and in the log
        log_crash(task.log, name, error)
        measurement = failed_measurement(name, error)
    return measurement.model_copy(update={"seconds": time.monotonic() - started})


def _without_dense(suite: Suite, name: str, error: NoDenseVectorError) -> Measurement:
    """The measurement of a part that judges dense vectors, for a collection that is made without any.

    Questions that count are not answered by leaving them out: then the part failed.
    """
    from ragval_pipeline.suite.criteria import all_criteria
    from ragval_pipeline.suite.gates import ranks_of
    from ragval_pipeline.suite.queries.load import load_queries

    if name == QUERY_VALIDATION_RESULTS and any(query.counted for query in load_queries(suite)):
        return failed_measurement(name, error)
    own = [criterion.name for criterion in all_criteria(ranks_of(suite)) if criterion.asset == name]
    values = tuple(not_measured(criterion, "not_applicable", error.problem) for criterion in own)
    return Measurement(asset=name, values=values)


def vanished(failure: Exception) -> SystemFailure | None:
    """The failure of a collection that disappeared after this run read it; None for others."""
    if not isinstance(failure, SystemFailure) or failure.code != COLLECTION_MISSING.code:
        return None
    return SystemFailure(
        f"the collection {failure.subject} existed when the run began, but is gone now",
        code=failure.code,
        system=failure.system,
        subject=failure.subject,
        remedy="Find out what deleted or renamed it, and validate again while nothing writes to it.",
        attempts=failure.attempts,
        details=failure.details,
    )


def _wrongly_asked(name: str, error: SuiteError) -> Measurement:
    """The measurement for an error of the suite, which is not a defect of ragval."""
    failed = failed_measurement(name, error)
    findings = [
        finding.model_copy(update={"cause": str(error), "remedy": error.remedy or "Correct the suite."})
        for finding in failed.findings
    ]
    failure = failed.failure and failed.failure.model_copy(update={"message": str(error)})
    return failed.model_copy(update={"findings": tuple(findings), "failure": failure})


def log_crash(log: logging.Logger, name: str, error: Exception) -> None:
    """Log the traceback of a defect, without its causes: server responses may repeat keys.

    An error that ragval raises deliberately is no defect, and its text says what happened.
    """
    if isinstance(error, RagvalError):
        log.error("%s: %s", name, error)
        return
    log.error("%s crashed\n%s", name, "".join(traceback.format_exception(error, chain=False)))


def problem_of(error: Exception) -> str:
    """The text of an error that ragval raises deliberately; empty for a defect, whose text may hold anything."""
    return str(error) if isinstance(error, RagvalError) else ""


def log_verdict(log: logging.Logger, report: ValidationReport, folder: object) -> None:
    """Log the verdict, what it rests on and where its report is: Dagster logs the results of checks as DEBUG."""
    from ragval_pipeline.reporting.headline import headline

    is_red = report.verdict in {"fail", "error"} or any(criterion.gate_fails for criterion in report.criteria)
    say = log.error if is_red else log.info
    say("The verdict is %s: %s The report: %s/report.html", report.verdict, headline(report), folder)
