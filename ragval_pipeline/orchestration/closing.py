"""Writing the report of a run whose report step cannot run, from the values of its steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import dagster as dg

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.orchestration.assets.table import ASSETS, MEASURING, ROWS
from ragval_pipeline.orchestration.evidence import COLLECTION, lineage
from ragval_pipeline.orchestration.io_manager import Notes
from ragval_pipeline.orchestration.measuring import log_verdict
from ragval_pipeline.orchestration.names import (
    CHUNK_FACTS,
    PAGE_SNAPSHOT,
    PAYLOAD_SNAPSHOT,
    SITEMAP_URLS,
    VALIDATION_REPORT,
)
from ragval_pipeline.orchestration.run_place import RunPlace
from ragval_pipeline.orchestration.values import ChunkFacts, Measured, PageSnapshot, PayloadSnapshot, SitemapUrls, Value
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Failure, Measurement

if TYPE_CHECKING:
    from ragval_pipeline.orchestration.task import Task
    from ragval_pipeline.validation.report import ValidationReport

V = TypeVar("V")


class UnwrittenReportError(RagvalError):
    """The report location refuses writes."""

    exit_code = 3


def close_run(task: Task) -> None:
    """Write the report if a step of the run has failed and no other can run; nothing for a run without a report."""
    names = planned(task)
    notes = Notes(task.place.base, task.place.run_id)
    failed = notes.failed(names)
    if VALIDATION_REPORT not in names or not failed or pending(names, notes.ended(names), failed):
        return
    if not notes.claim("closed"):
        return
    report, folder = written_report(task.place), task.place.folder
    if report is None:  # else its step failed after writing it
        runs = lineage(task.context.instance, task.context.run)
        _make_what_can_be_made(task, [Notes(task.place.base, run_id) for run_id in runs])
        report = report_of_what_there_is(task.suite, task.place, runs)
    log_verdict(task.context, report, folder)
    seen = {
        "verdict": dg.MetadataValue.text(report.verdict),
        "report": dg.MetadataValue.path(f"{folder}/report.html"),
        "run": dg.MetadataValue.dagster_run(task.place.run_id),
    }
    # Dagster drops metadata logged by a failing step.
    seen_of = dg.AssetObservation(task.key(VALIDATION_REPORT), metadata=seen)
    task.context.instance.report_runless_asset_event(seen_of)


def _make_what_can_be_made(task: Task, kept: Sequence[Notes]) -> None:
    """Make assets downstream of a failed step whose inputs exist: Dagster will not run them."""
    for name in (name for name in MEASURING if name in planned(task) and not ROWS[name].asks):
        row, values = ROWS[name], dict[str, Value]()
        for read in row.reads:
            kind = ROWS[read].value
            value = _latest(kept, read, kind) if kind is not None else None
            values |= {read: value} if value is not None else {}
        if values.keys() >= set(row.reads) and not kept[0].ended([name]):
            kept[0].keep(name, row.made(replace(task, values=values)).value)


def written_report(place: RunPlace) -> ValidationReport | None:
    """The report written by a run; ``None`` if there is none."""
    from ragval_pipeline.sources.history import REPORT
    from ragval_pipeline.validation.report import ValidationReport

    file = place.folder / REPORT
    return ValidationReport.model_validate_json(file.read_bytes()) if file.is_file() else None


def planned(task: Task) -> set[str]:
    """The assets of the suite planned for the run."""
    steps = task.context.run.step_keys_to_execute or [node.name for node in task.context.job_def.graph.nodes]
    return {name for name in ASSETS if task.key(name).to_python_identifier() in steps}


def pending(names: Collection[str], ended: Collection[str], failed: Collection[str]) -> set[str]:
    """The assets that are neither made nor downstream of a failed one."""
    blocked = set(failed)
    for name, row in ROWS.items():
        if blocked & set(row.reads):
            blocked.add(name)
    return set(names) - set(ended) - blocked


def report_of_what_there_is(suite: Suite, place: RunPlace, runs: Sequence[str]) -> ValidationReport:
    """Write the report of what a run, and those that it re-executes, could read and measure.

    Raises:
        UnwrittenReportError: The report location refuses writes.
    """
    from ragval_pipeline.orchestration.report import write_report
    from ragval_pipeline.sources.storage import ReportNotWrittenError

    kept = [Notes(place.base, run_id) for run_id in runs]
    site = _latest(kept, SITEMAP_URLS, SitemapUrls)
    index = _latest(kept, PAYLOAD_SNAPSHOT, PayloadSnapshot)
    copies = _latest(kept, PAGE_SNAPSHOT, PageSnapshot)
    made = _latest(kept, CHUNK_FACTS, ChunkFacts)
    try:
        report, _ = write_report(
            suite,
            place,
            [*_unread(kept[0]), *(part for name in MEASURING for part in _parts(kept, name))],
            inventory=site.inventory if site else None,
            manifest=index.manifest if index else None,
            pages=copies.pages if copies else None,
            facts=made.facts if made else None,
            state=index.stamp.states[COLLECTION] if index else None,
        )
    except ReportNotWrittenError as error:
        raise UnwrittenReportError(str(error)) from None
    return report


def _latest(kept: Sequence[Notes], name: str, kind: type[V]) -> V | None:
    found: V | None = next((value for notes in kept if (value := notes.value(name, kind)) is not None), None)
    return found


def _unread(notes: Notes) -> Iterator[Measurement]:
    """Systems that could not be read, as findings."""
    for name, row in ROWS.items():
        failure = None if row.parts else notes.failure(name)
        if failure is not None:
            yield failure


def _parts(kept: Sequence[Notes], name: str) -> Iterator[Measurement]:
    measured = _latest(kept, name, Measured)
    if measured is not None:
        yield from measured.parts
        return
    failure = _cause(kept[0], name) or Failure(kind="crashed", message=f"{name} was not run")
    for part in ROWS[name].parts:
        yield Measurement(asset=part, failure=failure)


def _cause(notes: Notes, name: str) -> Failure | None:
    """The failure that prevents an asset: its own, or that of its first failed upstream asset."""
    own = notes.failure(name)
    if own is not None:
        return own.failure
    return next((failure for read in ROWS[name].reads if (failure := _cause(notes, read)) is not None), None)
