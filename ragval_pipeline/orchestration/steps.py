"""The asset of a table row: one step that does the row's work, stores the result, and fails with it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.orchestration.assets.table import ASSETS, ROWS, Row, suite_asset
from ragval_pipeline.orchestration.checks import gate_results, measurement_results
from ragval_pipeline.orchestration.closing import close_run, planned
from ragval_pipeline.orchestration.evidence import lineage
from ragval_pipeline.orchestration.io_manager import Notes, take_back_latest
from ragval_pipeline.orchestration.measuring import log_crash, reading_the_suite, reading_the_world
from ragval_pipeline.orchestration.names import PAYLOAD_SNAPSHOT, SITEMAP_URLS, VALIDATION_REPORT, asset_key
from ragval_pipeline.orchestration.run_place import run_place
from ragval_pipeline.orchestration.task import Task
from ragval_pipeline.orchestration.values import Measured, SitemapUrls, Value
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import failed_measurement


def build_asset(suite: Suite, name: str, *, prefix: Sequence[str] = (), **own: Any) -> dg.AssetsDefinition:
    """The asset of a row of the table, with its own options of ``@dg.asset``."""
    row = ROWS[name]
    searches_paid = suite.embedding.provider == "cohere" and "embedder" in row.asks
    checks = [spec.name for spec in own.get("check_specs", ())]

    @suite_asset(
        suite,
        name,
        prefix=prefix,
        kinds=(*row.kinds, *(["cohere"] if searches_paid else [])),
        description=row.text,
        ins={
            read: dg.AssetIn(asset_key(suite.suite, read, prefix), dagster_type=ROWS[read].value or Any)
            for read in row.reads
        },
        resources=row.asks,
        late=row.late,
        **own,
    )
    def compute(context: dg.AssetExecutionContext, **values: Any) -> Iterator[Any]:
        from ragval_pipeline.sources.memory import keep_large_blocks_apart, seldom_collecting

        keep_large_blocks_apart()
        with reading_the_suite():
            resolved = resolve_suite(suite)
        task = Task(context, resolved, run_place(context, resolved), values)
        with _taken_back(task), seldom_collecting():
            yield from _step(task, name, row, checks)

    return compute


def _step(task: Task, name: str, row: Row, checks: Sequence[str]) -> Iterator[Any]:
    """Yield the result of a row's work, then raise the failure of its systems, so that a retry repeats the work."""
    notes = Notes(task.place.base, task.place.run_id)
    task = replace(task, values={read: _heal(task, read, value) for read, value in task.values.items()})
    with _failing(task, notes, name):
        made = row.made(task)
        value, results = made.value, _published(made.value, task.suite, checks)
    if name == VALIDATION_REPORT:
        yield dg.MaterializeResult(value=value, metadata=made.metadata, check_results=results)
        return
    notes.keep(name, value)
    yield dg.MaterializeResult(value=value, metadata=made.metadata, check_results=results)
    failed = value.failed if isinstance(value, Measured) else []
    if failed:
        notes.fail(name, failed[0])
    close_run(task)
    if failed:
        told = [f"{part.asset} could not be measured: {part.failure.message}" for part in failed if part.failure]
        raise dg.Failure("; ".join(told), allow_retries=False)


def _published(value: Any, suite: Suite, checks: Sequence[str]) -> list[dg.AssetCheckResult]:
    if isinstance(value, Measured):
        return measurement_results(value, suite, checks)
    return [] if isinstance(value, Value) else gate_results(value, checks)


@contextmanager
def _failing(task: Task, notes: Notes, name: str) -> Iterator[None]:
    """Record why the work failed, close the run if nothing else can run, and fail the step."""
    try:
        with reading_the_suite():
            yield
    except Exception as error:
        if name == PAYLOAD_SNAPSHOT:
            notes.stop()
        if isinstance(error, dg.Failure):
            raise
        log_crash(task.context, name, error)
        notes.fail(name, failed_measurement(name, error))
        if name == SITEMAP_URLS and isinstance(error, SystemFailure):
            from ragval_pipeline.orchestration.assets.snapshots import unread_site

            _make_the_rest(task, notes, unread_site(task, error))
        # If the report itself cannot be written, the step says why.
        with suppress(Exception) if name == VALIDATION_REPORT else nullcontext():
            close_run(task)
        with reading_the_world():
            raise


def _make_the_rest(task: Task, notes: Notes, site: SitemapUrls) -> None:
    """Make assets that need no site in the step that could not read it: Dagster runs nothing after a failed step."""
    values: dict[str, Value] = {SITEMAP_URLS: site}
    notes.keep(SITEMAP_URLS, site)
    for name in sorted(planned(task) - {SITEMAP_URLS, VALIDATION_REPORT}, key=ASSETS.index):
        row = ROWS[name]
        if not values.keys() >= set(row.reads):
            continue
        try:
            value = row.made(replace(task, values={read: values[read] for read in row.reads})).value
        except Exception as error:  # noqa: BLE001  it is a finding of the report
            log_crash(task.context, name, error)
            notes.fail(name, failed_measurement(name, error))
            continue
        values[name] = value
        notes.keep(name, value)


def _heal(task: Task, name: str, value: Any) -> Any:
    """Remake a value that lacks data from an earlier failure; otherwise a retry would not have it."""
    if not isinstance(value, Value) or not value.stamp.lacking or value.stamp.run_id == task.place.run_id:
        return value
    row, notes = ROWS[name], Notes(task.place.base, task.place.run_id)
    again = notes.value(name, row.value)
    if again is None and not row.parts:
        inputs = {read: _heal(task, read, _kept(task, read)) for read in row.reads}
        again = row.made(replace(task, values=inputs)).value
        notes.keep(name, again)
    return value if again is None else again


def _kept(task: Task, name: str) -> Any:
    """Values of the run, or one that it re-executes."""
    for run_id in lineage(task.context.instance, task.context.run):
        value = Notes(task.place.base, run_id).value(name, ROWS[name].value)
        if value is not None:
            return value
    raise dg.Failure(f"{name} is gone: re-execute all steps", allow_retries=False)


@contextmanager
def _taken_back(task: Task) -> Iterator[None]:
    """Restore latest values if the run is cancelled during the step."""
    try:
        yield
    except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError):
        take_back_latest(task.place.base, task.place.run_id)
        raise
