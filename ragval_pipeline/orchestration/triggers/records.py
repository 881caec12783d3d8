"""A Dagster instance's records of validations and ingestions, and what to do about unvalidated ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import dagster as dg

from ragval_pipeline.measuring.names import ONLY_TAG, VALIDATION_REPORT
from ragval_pipeline.orchestration.names import INGESTIONS_TAG, TRIGGER_TAG, UPSTREAM_RUN_TAG, VERDICT_TAG, step_name
from ragval_pipeline.orchestration.partitions import PARTITION_TAG, run_tags
from ragval_pipeline.orchestration.triggers.automation import Upstream, UpstreamJob

State: TypeAlias = Literal["waiting", "running", "ended"]

#: Seconds after which a running validation is not waited for: its process has probably died.
GIVEN_UP_AFTER_S = 6 * 3600
#: Seconds that an ended ingestion waits for others: queued or running partitions of a backfill.
WAITS_FOR_OTHERS_S = 3600
#: Validations of an ingestion without a verdict, until it is given up, and seconds between them.
TRIES, TRIED_AGAIN_AFTER_S = 3, 600


@dataclass(frozen=True)
class Ingestion:
    """Something that filled the collection.

    Attributes:
        name: Its run id, or a substitute if Dagster did not run it.
        ended: When it ended, Unix seconds; None while running.
    """

    name: str
    ended: float | None


@dataclass(frozen=True)
class Validation:
    """A complete validation of the suite.

    Attributes:
        run_id: Its run.
        state: ``waiting`` has not begun, so it will see everything that has ended so far.
        started: When it began, Unix seconds; None if it has not.
        names: Ingestions that its tags name.
        judged: Whether it reached a verdict, as far as it has ended: an outage may have ended it before.
        ended: When it ended, Unix seconds; None if it has not.
    """

    run_id: str
    state: State
    started: float | None = None
    names: frozenset[str] = frozenset()
    judged: bool = True
    ended: float | None = None


@dataclass(frozen=True)
class Decision:
    """What to do about some ingestions.

    Attributes:
        action: ``run`` requests a validation, ``share`` adds to one that has not begun, ``wait`` checks again later.
        reason: Why, in words.
        ingestions: Those to validate, or waiting.
        run_id: The shared validation.
    """

    action: Literal["run", "share", "wait", "nothing"]
    reason: str
    ingestions: tuple[Ingestion, ...] = ()
    run_id: str | None = None


def decide(ingestions: Sequence[Ingestion], validations: Iterable[Validation], *, now: float) -> Decision:
    """What to do for ended ingestions.

    A validation covers an ingestion if it starts after the ingestion ended and reaches a verdict; without one it is
    tried again, up to three times, ten minutes apart. A queued one is shared; a running one is
    waited for, because a collection is validated once at a time. Queued and running ingestions are also waited for, up
    to an hour: the collection is complete only after the last of them.
    """
    known = list(validations)
    over = [entry for entry in ingestions if entry.ended is not None]
    fresh = tuple(entry for entry in over if covering(entry, known) is None)
    if not fresh:
        return _nothing_fresh(ingestions, over, known)
    waiting = next((entry for entry in known if entry.state == "waiting"), None)
    if waiting is not None:
        named = {entry.name for entry in fresh} <= waiting.names
        reason = f"{_listed(fresh)}: the validation {waiting.run_id} has not started yet and will cover it"
        return Decision("nothing" if named else "share", reason, fresh, waiting.run_id)
    others = [entry for entry in ingestions if entry.ended is None]
    if others and now - min(entry.ended or now for entry in fresh) < WAITS_FOR_OTHERS_S:
        return Decision("wait", f"{_listed(fresh)} ended; {_listed(others)} is still to come", fresh)
    running = next((entry for entry in known if entry.state == "running" and not _given_up(entry, now)), None)
    if running is not None:
        reason = f"{_listed(fresh)}: the validation {running.run_id} started before it ended and is still running"
        return Decision("wait", reason, fresh)
    tries = tries_of(fresh[-1], known)
    last = max((entry.ended or 0.0 for entry in tries), default=0.0)
    if now - last < TRIED_AGAIN_AFTER_S:
        return Decision(
            "wait", f"{_listed(fresh)}: {tries[0].run_id} ended without a verdict; tried again later", fresh
        )
    again = f"; try {len(tries) + 1} of {TRIES}" if tries else ""
    return Decision("run", f"{_listed(fresh)} ended{again}", fresh)


def covering(ingestion: Ingestion, validations: Iterable[Validation]) -> Validation | None:
    """The validation that began after the ingestion ended and reached a verdict, or the last of three that did not."""
    after = _after(ingestion, validations)
    tries = tries_of(ingestion, after)
    return next((entry for entry in after if entry.judged), tries[0] if len(tries) >= TRIES else None)


def tries_of(ingestion: Ingestion, validations: Iterable[Validation]) -> list[Validation]:
    """The validations of an ingestion that ended without a verdict."""
    return [entry for entry in _after(ingestion, validations) if entry.state == "ended" and not entry.judged]


def unsettled(ingestion: Ingestion, validations: Iterable[Validation]) -> bool:
    """Whether a trigger must check the ingestion again: no validation that covers it has ended."""
    by = covering(ingestion, validations)
    return by is None or by.state != "ended"


def _after(ingestion: Ingestion, validations: Iterable[Validation]) -> list[Validation]:
    """The validations that began after the ingestion ended, or were started for it and never began."""
    if ingestion.ended is None:
        return []
    return [
        entry
        for entry in validations
        if (entry.started is not None and entry.started >= ingestion.ended)
        or (entry.state == "ended" and entry.started is None and ingestion.name in entry.names)
    ]


def _nothing_fresh(all_: Sequence[Ingestion], over: Sequence[Ingestion], known: Sequence[Validation]) -> Decision:
    if over:
        by = covering(over[-1], known)
        assert by is not None
        return Decision("nothing", f"{_listed(over)} was already validated by {by.run_id}")
    if all_:
        return Decision("wait", f"{_listed(all_)} is still running", tuple(all_))
    return Decision("nothing", "no new ingestion")


def _given_up(validation: Validation, now: float) -> bool:
    return validation.started is not None and now - validation.started > GIVEN_UP_AFTER_S


def _listed(ingestions: Sequence[Ingestion]) -> str:
    shown = ", ".join(entry.name for entry in ingestions[:3])
    more = f" and {len(ingestions) - 3} more" if len(ingestions) > 3 else ""
    return f"{'ingestion' if len(ingestions) == 1 else 'ingestions'} {shown}{more}"


_BEGINNING = {dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING}
_IN_FLIGHT = [dg.DagsterRunStatus.QUEUED, *_BEGINNING, dg.DagsterRunStatus.STARTED]
_RUNNING = {dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING}
#: Seconds after which a dequeued run that has not begun never will: its process has died.
_BEGINS_WITHIN_S = 900
#: Enough to find the validation of an ingestion: validations of one collection run one after the other.
_RECENT = 50
#: Maximum events read per tick; the next tick continues.
_EVENTS = 1000


def validations_of(
    instance: dg.DagsterInstance, suite: str, keys: Collection[dg.AssetKey], partition: str | None = None
) -> list[Validation]:
    """The latest complete validations of the suite, or of one of its partitions, newest first, however started.

    Runs of some groups or assets only, re-executions without the step that validates, and cancelled runs do not count.
    """
    records = instance.get_run_records(filters=dg.RunsFilter(tags=run_tags(suite, partition)), limit=_RECENT)
    return [_validation(record) for record in records if _is_whole(record.dagster_run, frozenset(keys))]


def _is_whole(run: dg.DagsterRun, keys: frozenset[dg.AssetKey]) -> bool:
    if ONLY_TAG in run.tags or run.status == dg.DagsterRunStatus.CANCELED:
        return False
    if run.parent_run_id is not None and run.step_keys_to_execute:
        report = next(key for key in keys if key.path[-1] == VALIDATION_REPORT)
        return step_name(report.path[-2], report.path[:-2]) in run.step_keys_to_execute
    return keys <= (run.asset_selection or keys)


def in_flight(instance: dg.DagsterInstance, upstream: Upstream, partition: str | None = None) -> list[Ingestion]:
    """Queued and running runs that will materialise the upstream asset, or are of the upstream job.

    ``partition``: of this partition, or of none.

    A run of a whole job lists no assets: it counts if the last run that materialised the asset was of that job.
    """
    key, job = upstream.asset, upstream.job
    latest = instance.get_latest_materialization_event(key) if key is not None else None
    last = instance.get_run_by_id(latest.run_id) if latest is not None and latest.run_id else None
    records = instance.get_run_records(filters=dg.RunsFilter(statuses=_IN_FLIGHT), limit=_EVENTS)

    def ingests(run: dg.DagsterRun) -> bool:
        if _is_of_another(run, partition):
            return False
        if job is not None and job.made(run):
            return True
        if run.asset_selection:
            return key in run.asset_selection
        return last is not None and run.job_name == last.job_name

    return [Ingestion(run.run_id, None) for run in (record.dagster_run for record in records) if ingests(run)]


def _is_of_another(run: dg.DagsterRun, partition: str | None) -> bool:
    """Whether a run is one of another partition; a run without any may fill them all."""
    return partition is not None and run.tags.get(PARTITION_TAG, partition) != partition


def overtaken(
    instance: dg.DagsterInstance, upstream: Upstream, *, by: str, since: float, partition: str | None = None
) -> str | None:
    """The ingestion that the run ``by``, which validates since then, does not cover; None if there is none.

    It materialised its asset since then, Unix seconds. A run of a job fills the collection until it has ended.
    """
    if upstream.asset is not None:
        # The first event may be older: storages compare times in whole seconds, or in their own time zone.
        wanted = dg.AssetRecordsFilter(asset_key=upstream.asset)
        for record in instance.fetch_materializations(wanted, limit=1 if partition is None else _RECENT).records:
            if record.timestamp >= since and (partition is None or record.partition_key in {None, partition}):
                return record.run_id or "reported from outside"
    if upstream.job is None:
        return None
    ingestions = [
        *successes(instance, upstream.job, since=since, partition=partition),
        *in_flight(instance, Upstream(job=upstream.job), partition),
    ]
    return next((entry.name for entry in ingestions if entry.name != by), None)


@dataclass(frozen=True)
class Seen:
    """An ingestion, with the storage ids of its first and last event, and the partition that they are of."""

    ingestion: Ingestion
    first: int
    last: int
    partition: str | None = None


def materialisations(
    instance: dg.DagsterInstance, key: dg.AssetKey, after: int | None, *, each_partition: bool = False
) -> list[Seen]:
    """Ingestions that materialised ``key``, in order.

    ``after`` is the storage id of the last settled event; None: only the latest event counts. ``each_partition``: of
    each partition, for itself.
    """
    wanted, first = dg.AssetRecordsFilter(asset_key=key, after_storage_id=after), after is None
    fetched = instance.fetch_materializations(
        wanted, limit=1 if first and not each_partition else _EVENTS, ascending=not first
    )
    records = list(fetched.records)
    if first:
        latest: dict[str | None, dg.EventLogRecord] = {}
        for record in records:
            latest.setdefault(record.partition_key, record)
        records = list(latest.values())[::-1]
    events: dict[tuple[str, str | None], list[dg.EventLogRecord]] = {}
    for record in records:
        # Events reported over the REST API have no run: they have ended when reported.
        name = record.run_id or f"external:{record.storage_id}"
        events.setdefault((name, record.partition_key if each_partition else None), []).append(record)
    return [
        Seen(Ingestion(name, _end_of(instance, own[-1])), own[0].storage_id, own[-1].storage_id, partition)
        for (name, partition), own in events.items()
    ]


def successes(
    instance: dg.DagsterInstance, job: UpstreamJob, *, since: float, partition: str | None = None
) -> list[Ingestion]:
    """Successful runs of a job that ended after ``since``, Unix seconds, ordered by start."""
    filters = dg.RunsFilter(
        job_name=job.name,
        statuses=[dg.DagsterRunStatus.SUCCESS],
        updated_after=datetime.fromtimestamp(since, UTC),
    )
    records = instance.get_run_records(filters=filters, limit=_EVENTS)
    return [
        Ingestion(record.dagster_run.run_id, record.end_time)
        for record in reversed(records)
        if record.end_time
        and record.end_time > since
        and job.made(record.dagster_run)
        and not _is_of_another(record.dagster_run, partition)
    ]


def tags_for(trigger: str, ingestions: Iterable[Ingestion]) -> dict[str, str]:
    """Run tags with the run's reason and every ingestion that it covers."""
    names = [entry.name for entry in ingestions]
    runs = [name for name in names if ":" not in name]
    return {
        TRIGGER_TAG: trigger,
        INGESTIONS_TAG: ",".join(names),
        **({UPSTREAM_RUN_TAG: runs[-1]} if runs else {}),
    }


def share(instance: dg.DagsterInstance, decision: Decision) -> None:
    """Add ingestions to the tags of the queued run that covers them."""
    run = instance.get_run_by_id(decision.run_id) if decision.action == "share" and decision.run_id else None
    if run is None:
        return
    names = list(_names(run.tags)) + [entry.name for entry in decision.ingestions]
    instance.add_run_tags(run.run_id, {INGESTIONS_TAG: ",".join(dict.fromkeys(names))})


def _validation(record: dg.RunRecord) -> Validation:
    run = record.dagster_run
    state = _state(record)
    judged = state != "ended" or VERDICT_TAG in run.tags or run.status == dg.DagsterRunStatus.SUCCESS
    return Validation(
        run.run_id, state, record.start_time, frozenset(_names(run.tags)), judged=judged, ended=record.end_time
    )


def _state(record: dg.RunRecord) -> State:
    status = record.dagster_run.status
    if status in _RUNNING:
        return "running"
    age_s = (datetime.now(UTC) - record.create_timestamp.replace(tzinfo=UTC)).total_seconds()
    begins = status == dg.DagsterRunStatus.QUEUED or (status in _BEGINNING and age_s < _BEGINS_WITHIN_S)
    return "waiting" if begins else "ended"


def _names(tags: Mapping[str, str]) -> list[str]:
    return [name for name in tags.get(INGESTIONS_TAG, "").split(",") if name]


def _end_of(instance: dg.DagsterInstance, event: dg.EventLogRecord) -> float | None:
    """When an ingestion ended; None while its run continues: an asset is materialised before its run ends."""
    record = instance.get_run_record_by_id(event.run_id) if event.run_id else None
    if record is None:
        return event.timestamp
    return (record.end_time or event.timestamp) if record.dagster_run.is_finished else None
