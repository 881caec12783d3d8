"""The validation of a suite in Dagster: one step that reads, measures and judges, and yields every asset and check."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import dagster as dg

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.measuring.names import (
    COLLECTION,
    INDEX_HEALTH,
    METADATA_EXPECTATIONS,
    PAGE_SNAPSHOT,
    PAYLOAD_SNAPSHOT,
    SITEMAP,
    SITEMAP_URLS,
    VALIDATION_REPORT,
)
from ragval_pipeline.measuring.parts import log_crash, measure_parts
from ragval_pipeline.measuring.table import ASSETS, CODE_VERSION, MEASURING, ROWS
from ragval_pipeline.measuring.task import Task
from ragval_pipeline.orchestration.checks import (
    failed_parts,
    gate_results,
    gate_specs,
    measured_results,
    measured_specs,
    verdict_result,
)
from ragval_pipeline.orchestration.failures import reading_the_suite, reading_the_world
from ragval_pipeline.orchestration.metadata import (
    asset_metadata,
    described,
    masked_check,
    masked_metadata,
    snapshot_schema,
)
from ragval_pipeline.orchestration.names import (
    VERDICT_CHECK,
    VERDICT_TAG,
    asset_key,
    pool_name,
    resource_key,
    step_name,
)
from ragval_pipeline.orchestration.partitions import part_of, partitioned_check, partitions_of
from ragval_pipeline.orchestration.run_place import has_ended, run_place
from ragval_pipeline.orchestration.triggers.automation import Upstream
from ragval_pipeline.orchestration.triggers.records import overtaken
from ragval_pipeline.suite.gates import criteria_of
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Failure, Measurement, failed_measurement

if TYPE_CHECKING:
    from ragval_pipeline.validation.belonging import Partitions

#: What takes a while comes late: a missing collection is detected before pages are read, and Great Expectations have
#: the time of the other measurements to load.
_LATE = {PAGE_SNAPSHOT: ASSETS.index(PAYLOAD_SNAPSHOT), METADATA_EXPECTATIONS: ASSETS.index(INDEX_HEALTH)}
#: What reads: nothing of a text is shown there.
_READING = frozenset({SITEMAP_URLS, PAYLOAD_SNAPSHOT, PAGE_SNAPSHOT})
_ORDER = sorted(ASSETS, key=lambda name: (_LATE.get(name, ASSETS.index(name)), name in _LATE))


def build_validation(
    suite: Suite, *, prefix: Sequence[str] = (), upstream: Upstream | None = None
) -> dg.AssetsDefinition:
    """The assets and checks of a suite, made by one step.

    Nothing is passed between steps, so nothing of another run can count: a step that is retried measures again. Of a
    selection of assets or checks the step makes what they need, and yields only them. ``upstream``: what fills the
    collection.
    """
    upstream = upstream or Upstream()
    partitions = partitions_of(suite)
    gates = gate_specs(suite, asset_key(suite.suite, VALIDATION_REPORT, prefix))
    measured = (measured_specs(suite, name, asset_key(suite.suite, name, prefix)) for name in MEASURING)
    checks = [*(spec for specs in measured for spec in specs), *gates]

    @dg.multi_asset(
        name=step_name(suite.suite, prefix),
        specs=[_spec(suite, name, prefix, upstream.asset) for name in ASSETS],
        check_specs=[partitioned_check(spec, partitions) for spec in checks],
        can_subset=True,
        required_resource_keys={resource_key(suite.suite, name) for name in ("qdrant", "embedder")},
        # One validation of a collection at a time, if the deployment limits its pools.
        pool=pool_name(suite),
        description=f"Reads the index of {suite.suite} and its site, measures, and judges.",
    )
    def validate(context: dg.AssetExecutionContext) -> Iterator[Any]:
        from ragval_pipeline.sources.memory import keep_large_blocks_apart, seldom_collecting
        from ragval_pipeline.sources.stores.points_file import keeping_points

        keep_large_blocks_apart()
        with reading_the_suite():
            key = context.partition_key if context.has_partition_key else None
            resolved = resolve_suite(part_of(suite, key))
        qdrant, embedder = (
            getattr(context.resources, resource_key(resolved.suite, name)) for name in ("qdrant", "embedder")
        )
        place = run_place(context, resolved)
        task = Task(resolved, place, context.log, qdrant, embedder, partial(has_ended, context.instance))
        with place.working(), seldom_collecting(), keeping_points():
            yield from _Step(task, context, gates, upstream, tuple(prefix)).results()

    return validate


def _spec(suite: Suite, name: str, prefix: Sequence[str], ingestion: dg.AssetKey | None) -> dg.AssetSpec:
    row, external = ROWS[name], list[dg.AssetKey]()
    if name == SITEMAP_URLS and suite.source:
        external = [asset_key(suite.suite, SITEMAP, prefix)]
    if name == PAYLOAD_SNAPSHOT:
        # The ingestion too: in a run with both, nothing else makes the validation wait for it.
        external = [asset_key(suite.suite, COLLECTION, prefix), *([ingestion] if ingestion else [])]
    spec = dg.AssetSpec(
        key=asset_key(suite.suite, name, prefix),
        deps=[*external, *(asset_key(suite.suite, read, prefix) for read in row.reads)],
        group_name=suite.suite,
        kinds={"python", *row.kinds_for(suite)},
        code_version=CODE_VERSION,
        tags={"ragval/suite": suite.suite},
        description=row.text,
        metadata={"dagster/column_schema": snapshot_schema()} if name == PAYLOAD_SNAPSHOT else {},
        freshness_policy=_freshness(suite) if name == VALIDATION_REPORT else None,
        partitions_def=partitions_of(suite),
        skippable=True,
    )
    return spec.with_io_manager_key(resource_key(suite.suite, "io_manager")) if name == VALIDATION_REPORT else spec


def _freshness(suite: Suite) -> dg.FreshnessPolicy | None:
    """The policy that marks the report stale after ``automation.fresh_within_hours``; None if not set."""
    hours = suite.automation.fresh_within_hours
    if hours is None:
        return None
    # Dagster allows no window below a minute.
    return dg.FreshnessPolicy.time_window(fail_window=max(timedelta(hours=hours), timedelta(minutes=1)))


def needed_for(names: Iterable[str]) -> set[str]:
    """Some assets and everything that they read."""
    found = set[str]()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(ROWS[name].reads)
    return found


class _Step:
    """The work of one step, whatever is selected."""

    def __init__(
        self,
        task: Task,
        context: dg.AssetExecutionContext,
        gates: Sequence[dg.AssetCheckSpec],
        upstream: Upstream,
        prefix: Sequence[str],
    ) -> None:
        self.task, self.context, self.upstream, self.prefix, self.began = task, context, upstream, prefix, time.time()
        self.blocking = {spec.name: spec.blocking for spec in gates}
        self.shut: list[str] = []
        self.selected = {key.path[-1] for key in context.selected_asset_keys}
        self.checks = _names_of(context.selected_asset_check_keys)
        self.needed = needed_for(self.selected | self.checks.keys())
        self.errors: dict[str, Exception] = {}

    def results(self) -> Iterator[Any]:
        """Yield every selected asset and check, then raise what failed.

        If a system cannot be read, everything that does not need it is measured, and the report says so.
        """
        for name in _ORDER:
            if name in self.needed and name != VALIDATION_REPORT and self._can_be_made(name):
                yield from self._made(name)
        if VALIDATION_REPORT in self.needed:
            yield from self._reported()
        self._raise()

    def _key(self, name: str) -> dg.AssetKey:
        return asset_key(self.task.suite.suite, name, self.prefix)

    def _observation(self, name: str, metadata: Mapping[str, Any]) -> dg.AssetObservation:
        return dg.AssetObservation(self._key(name), partition=self.task.suite.partition, metadata=metadata)

    def _can_be_made(self, name: str) -> bool:
        # Pages are only compared with points.
        blocked = name == PAGE_SNAPSHOT and PAYLOAD_SNAPSHOT in self.errors
        return not blocked and self.task.there.issuperset(ROWS[name].reads)

    def _made(self, name: str) -> Iterator[Any]:
        task, row = self.task, ROWS[name]
        metadata: Mapping[str, Any]
        checks: list[dg.AssetCheckResult] = []
        try:
            with reading_the_suite():
                if row.parts:
                    parts = measure_parts(task, name, row.parts, embeds="embedder" in row.asks)
                    metadata, checks = asset_metadata(parts), self._checks_of(name, parts)
                else:
                    assert row.make is not None
                    metadata = described(row.make(task))
            task.there.add(name)
        except dg.Failure:  # the suite is wrong
            raise
        except Exception as error:  # noqa: BLE001  a finding of the report, and raised at the end
            log_crash(task.log, name, error)
            self.errors[name] = error
            task.failed[name] = failed_measurement(name, error)
            if name == SITEMAP_URLS and isinstance(error, SystemFailure):
                task.read_no_site(error)
            return
        for system, found in task.observed.items():
            yield self._observation(system, described(found))
        task.observed.clear()
        yield from self._yielded(name, metadata, checks)

    def _yielded(
        self, name: str, metadata: Mapping[str, Any], checks: Sequence[dg.AssetCheckResult], value: Any = None
    ) -> Iterator[Any]:
        from ragval_pipeline.reporting.masked import masking
        from ragval_pipeline.suite.absent import load_absent

        secrets = {} if name in _READING else self.task.secrets.values
        masked = masking(load_absent(self.task.suite), secrets)
        metadata, checks = masked_metadata(metadata, masked), [masked_check(check, masked) for check in checks]
        if name in self.selected:
            key = self._key(name)
            yield dg.MaterializeResult(asset_key=key, value=value, metadata=metadata, check_results=checks)
        else:
            yield from checks

    def _checks_of(self, name: str, parts: Sequence[Measurement]) -> list[dg.AssetCheckResult]:
        return measured_results(
            parts,
            self.task.suite,
            self.checks.get(name, ()),
            key=self._key(name),
            elsewhere=self.blocking if VALIDATION_REPORT in self.needed else (),
            partitions=self._partitions,
        )

    @property
    def _partitions(self) -> "Partitions | None":
        """Those of the collection, if it could be read and a criterion is of one of them."""
        is_asked = any(criterion.partition for criterion in criteria_of(self.task.suite))
        is_read = self.task.read.manifest is not None and self.task.read.inventory is not None
        return self.task.partitions if is_asked and is_read else None

    def _reported(self) -> Iterator[Any]:
        from ragval_pipeline.measuring import judging
        from ragval_pipeline.orchestration import report_page

        task = self.task
        for name in MEASURING:
            if name not in task.measured:
                failure = self._cause(name) or Failure(kind="crashed", message=f"{name} was not run")
                task.measured[name] = tuple(Measurement(asset=part, failure=failure) for part in ROWS[name].parts)
        report, folder = judging.write(task)
        if report.verdict != "error":
            self.context.instance.add_run_tags(self.context.run.run_id, {VERDICT_TAG: report.verdict})
        seen = self._observation(VALIDATION_REPORT, report_page.seen(report, folder))
        try:
            metadata = report_page.metadata_of(report, folder)
            gates = gate_results(
                report,
                self.blocking,
                key=self._key(VALIDATION_REPORT),
                measured=[finding for parts in task.measured.values() for part in parts for finding in part.findings],
                partitions=self._partitions,
            )
        except Exception:
            yield seen
            raise
        if task.failed or self._failed():
            # No new report for what waits for one: the run has not seen everything.
            yield seen
            yield from self._published(gates)
        else:
            yield from self._yielded(VALIDATION_REPORT, metadata, list(self._published(gates)), report)
        # Last of all: an ingestion that ends later than this is newer than the report.
        late = overtaken(
            self.context.instance,
            self.upstream,
            by=task.place.run_id,
            since=self.began,
            partition=task.suite.partition,
        )
        if VERDICT_CHECK in self.blocking:
            verdict = verdict_result(report, key=self._key(VALIDATION_REPORT), folder=folder, late=late)
            yield from self._published([verdict])

    def _published(self, gates: Iterable[dg.AssetCheckResult]) -> Iterator[dg.AssetCheckResult]:
        """The results of the selected checks; blocking ones that are not selected fail the step if they do not pass."""
        for gate in gates:
            name = str(gate.check_name)
            if name in self.checks.get(VALIDATION_REPORT, ()):
                yield gate
            elif not gate.passed and gate.severity == dg.AssetCheckSeverity.ERROR and self.blocking[name]:
                self.shut.append(name)

    def _cause(self, name: str) -> Failure | None:
        """The failure that prevents an asset: its own, or that of its first failed upstream asset."""
        own = self.task.failed.get(name)
        if own is not None:
            return own.failure
        causes = (self._cause(read) for read in ROWS[name].reads if read not in self.task.there)
        return next((failure for failure in causes if failure is not None), None)

    def _failed(self) -> list[Measurement]:
        measured = (self.task.measured.get(name, ()) for name in MEASURING)
        return [part for parts in measured for part in failed_parts(parts)]

    def _raise(self) -> None:
        for error in self.errors.values():
            with reading_the_world():
                raise error from None
        reported = self.task.failed.get(VALIDATION_REPORT)
        failed = [*self._failed(), *([reported] if reported else [])]
        if failed:
            told = [f"{part.asset} could not be measured: {part.failure.message}" for part in failed if part.failure]
            raise dg.Failure("; ".join(told), allow_retries=False)
        if self.shut:
            # What is downstream must not run because somebody left out the checks.
            raise dg.Failure(f"not met, and its check was not selected: {', '.join(self.shut)}", allow_retries=False)


def _names_of(keys: Collection[dg.AssetCheckKey]) -> dict[str, list[str]]:
    """Names of checks by their asset."""
    found: dict[str, list[str]] = {}
    for key in keys:
        found.setdefault(key.asset_key.path[-1], []).append(key.name)
    return found
