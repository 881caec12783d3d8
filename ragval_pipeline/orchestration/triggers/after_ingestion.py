"""Sensors that start a validation after an ingestion: of an asset, of a job, or detected as a changed collection."""

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import dagster as dg

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.measuring.connections import open_reader
from ragval_pipeline.orchestration.names import UPSTREAM_ASSET_TAG, job_name, resource_key
from ragval_pipeline.orchestration.partitions import keys_of
from ragval_pipeline.orchestration.triggers.automation import Upstream, UpstreamJob
from ragval_pipeline.orchestration.triggers.records import (
    Ingestion,
    Seen,
    Validation,
    covering,
    decide,
    in_flight,
    materialisations,
    share,
    successes,
    tags_for,
    tries_of,
    unsettled,
    validations_of,
)
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.sections import RetrySettings

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.change import CollectionState


#: Makes a sensor of a function that is called at each tick.
Ticking: TypeAlias = Callable[[Callable[[dg.SensorEvaluationContext], dg.SensorResult]], dg.SensorDefinition]


def _sensor(suite: Suite, name: str, description: str, *, every_s: int = 10, **more: Any) -> Ticking:
    """The decorator ``@dg.sensor`` for the job of a suite, which says whether it is on by default."""
    on = suite.automation.enabled
    return dg.sensor(
        job_name=job_name(suite.suite),
        name=f"{suite.suite}_{name}",
        default_status=dg.DefaultSensorStatus.RUNNING if on else dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=every_s,
        description=f"Validate {suite.suite} {description}.",
        **more,
    )


def build_after_asset_sensor(
    suite: Suite, asset: dg.AssetKey, upstream: Upstream, keys: Collection[dg.AssetKey]
) -> dg.SensorDefinition:
    """A sensor that starts the job after ``asset`` was materialised and its run has ended.

    Ingestions that end before a validation starts share it.
    """
    watches = {"watches": dg.MetadataValue.asset(asset)}

    @_sensor(suite, "after_ingestion", f"after {asset.to_user_string()} was materialised", metadata=watches)
    def after_ingestion(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        partitions = keys_of(suite, context.instance)
        return look_at_asset(
            context.instance, suite.suite, asset, upstream, context.cursor, keys, partitions=partitions
        )

    return after_ingestion


def look_at_asset(
    instance: dg.DagsterInstance,
    suite: str,
    asset: dg.AssetKey,
    upstream: Upstream,
    cursor: str | None,
    keys: Collection[dg.AssetKey],
    *,
    partitions: Sequence[str | None] = (None,),
) -> dg.SensorResult:
    """One tick for the materialisations of ``asset``.

    The cursor is the storage id before the first ingestion that is not settled. Later ingestions are recognised as
    settled by the validation that covers them. Of ``partitions``, those are validated that were ingested; an ingestion
    without a partition is one of all.
    """
    # Every suite that follows an ingestion loads this file, but most such processes never tick.
    after = int(cursor) if cursor and cursor.isdigit() else None
    events = materialisations(instance, asset, after, each_partition=None not in partitions)
    left, requests, reasons = list[Seen](), list[dg.RunRequest](), list[str]()
    for partition in partitions:
        relevant = [seen for seen in events if partition is None or seen.partition in {None, partition}]
        if not relevant:
            continue
        validations = validations_of(instance, suite, keys, partition)
        known = [seen.ingestion for seen in relevant]
        names = {entry.name for entry in known}
        coming = [entry for entry in in_flight(instance, upstream, partition) if entry.name not in names]
        decision = decide([*known, *coming], validations, now=time.time())
        share(instance, decision)
        left += [seen for seen in relevant if unsettled(seen.ingestion, validations)]
        if decision.action != "run":
            reasons.append(decision.reason)
            continue
        last = next(seen for seen in reversed(relevant) if seen.ingestion in decision.ingestions)
        of = "" if partition is None else f":{partition}"
        request = dg.RunRequest(
            # Dagster never runs a run key twice, so it must identify what is validated.
            run_key=f"{suite}{of}:{last.ingestion.name}:{last.last}{_again(last.ingestion, validations)}",
            tags={UPSTREAM_ASSET_TAG: asset.to_user_string(), **tags_for("after_ingestion", decision.ingestions)},
            partition_key=partition,
        )
        requests.append(request)
    first = min((seen.first for seen in left), default=None)
    settled = max((seen.last for seen in events), default=after or 0) if first is None else first - 1
    return _result(requests, reasons, str(settled))


def _result(requests: list[dg.RunRequest], reasons: Sequence[str], cursor: str) -> dg.SensorResult:
    """What a tick asks for, or why it asks for nothing."""
    if requests:
        return dg.SensorResult(run_requests=requests, cursor=cursor)
    return dg.SensorResult(skip_reason="; ".join(dict.fromkeys(reasons)) or "no new ingestion", cursor=cursor)


def _is_to_be_tried_again(ingestion: Ingestion, validations: Sequence[Validation]) -> bool:
    return bool(tries_of(ingestion, validations)) and covering(ingestion, validations) is None


def _again(ingestion: Ingestion, validations: Sequence[Validation]) -> str:
    """What tells the run key of another try from those before; empty for the first."""
    tries = len(tries_of(ingestion, validations))
    return f":{tries + 1}" if tries else ""


def build_after_job_sensor(
    suite: Suite, job: UpstreamJob, upstream: Upstream, keys: Collection[dg.AssetKey]
) -> dg.SensorDefinition:
    """A sensor that starts the suite's job after ``job`` succeeded."""

    @_sensor(suite, "after_job", f"after the job {job.name} succeeded")
    def after_job(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        known = keys_of(suite, context.instance)
        return look_at_job(context.instance, suite.suite, job, upstream, context.cursor, keys, partitions=known)

    return after_job


def look_at_job(
    instance: dg.DagsterInstance,
    suite: str,
    job: UpstreamJob,
    upstream: Upstream,
    cursor: str | None,
    keys: Collection[dg.AssetKey],
    *,
    partitions: Sequence[str | None] = (None,),
) -> dg.SensorResult:
    """One tick for the successes of a job that ended since the cursor, Unix seconds; the first tick only sets it.

    Of ``partitions``, those are validated that the job ran for; a run without a partition is one of all.
    """
    now = time.time()
    if cursor is None:
        return dg.SensorResult(skip_reason=f"first check: successes of {job.name} count from now on", cursor=str(now))
    ends, left, requests, reasons = list[float](), False, list[dg.RunRequest](), list[str]()
    for partition in partitions:
        runs = successes(instance, job, since=float(cursor), partition=partition)
        if not runs:
            continue
        validations = validations_of(instance, suite, keys, partition)
        decision = decide([*runs, *in_flight(instance, upstream, partition)], validations, now=now)
        share(instance, decision)
        left = left or any(unsettled(entry, validations) for entry in runs)
        ends += [entry.ended for entry in runs if entry.ended]
        if decision.action != "run":
            reasons.append(decision.reason)
            continue
        last, of = decision.ingestions[-1], "" if partition is None else f":{partition}"
        request = dg.RunRequest(
            run_key=f"{suite}{of}:{last.name}{_again(last, validations)}",
            tags=tags_for("after_job", decision.ingestions),
            partition_key=partition,
        )
        requests.append(request)
    return _result(requests, reasons, cursor if left else str(max(ends, default=cursor)))


#: Dagster ends a sensor after a minute; one tick makes at most six calls.
_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class Polled:
    """State of earlier ticks.

    Attributes:
        settled: Fingerprint of the state that needs no validation.
        seen: Fingerprint at the last tick.
        since: When ``seen`` was first seen, Unix seconds.
    """

    settled: str
    seen: str
    since: float

    @classmethod
    def of_cursor(cls, cursor: str | None) -> "Polled | None":
        """The content of a cursor; None for none or an invalid one."""
        try:
            return cls(**json.loads(cursor or ""))
        except (ValueError, TypeError):
            return None

    def as_cursor(self) -> str:
        """The text that ``of_cursor`` reads."""
        return json.dumps(asdict(self))


def build_collection_sensor(
    suite: Suite, poll_s: int, upstream: Upstream, keys: Collection[dg.AssetKey]
) -> dg.SensorDefinition:
    """A sensor that checks the collection every ``poll_s`` seconds.

    Raises:
        SuiteError: The collection is in an embedded Qdrant, which only one process, the validation's, may open, or a
            file of points, or the suite has partitions.
    """
    if suite.partitions is not None:
        raise SuiteError(
            "a suite with partitions cannot poll its collections",
            key="automation.poll_s",
            remedy="Use after_asset, after_job or cron.",
        )
    if suite.points is not None:
        raise SuiteError(
            "a file of points cannot be polled",
            key="automation.poll_s",
            remedy="Use after_asset or after_job, of what writes it, or cron.",
        )
    if suite.qdrant.path is not None:
        raise SuiteError(
            "an embedded Qdrant (qdrant.path) cannot be polled: only one process at a time can open it",
            key="automation.poll_s",
            remedy="Use after_asset, after_job or cron, or a Qdrant server.",
        )
    qdrant = resource_key(suite.suite, "qdrant")
    when = "when its collection has changed and then stayed the same for one check"

    @_sensor(suite, "collection_changed", when, every_s=poll_s, required_resource_keys={qdrant})
    def collection_changed(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        polled = Polled.of_cursor(context.cursor)
        try:
            state = poll(getattr(context.resources, qdrant), resolve_suite(suite))
        except SystemFailure as failure:
            return dg.SensorResult(skip_reason=str(failure), cursor=context.cursor)
        return look_at_state(context.instance, suite.suite, state, polled, upstream, keys)

    return collection_changed


def poll(resource: Any, suite: Suite) -> "CollectionState":
    """The state of a resolved suite's collection, read once with short timeouts: the next tick is the retry.

    Raises:
        SystemFailure: Qdrant does not answer, or the collection does not exist.
    """
    from ragval_pipeline.sources.stores.qdrant.change import read_state

    settings = suite.qdrant.model_copy(update={"timeout_s": min(suite.qdrant.timeout_s, _TIMEOUT_S)})
    briefly = suite.model_copy(update={"qdrant": settings, "retry": RetrySettings(max=0)})
    with open_reader(resource, briefly) as reader:
        return read_state(reader, suite.payload.fields.get("embedded_at"))


def look_at_state(
    instance: dg.DagsterInstance,
    suite: str,
    state: "CollectionState",
    polled: Polled | None,
    upstream: Upstream,
    keys: Collection[dg.AssetKey],
) -> dg.SensorResult:
    """One tick for the collection: a change is an ingestion, which has ended when two ticks see the same state."""
    now = time.time()
    if polled is None:
        first = Polled(state.fingerprint, state.fingerprint, now)
        return dg.SensorResult(skip_reason=f"first check: {state}; changes count from now on", cursor=first.as_cursor())
    ingestion = Ingestion(f"collection:{state.fingerprint}", polled.since)
    validations = validations_of(instance, suite, keys)
    if state.fingerprint == polled.settled and not _is_to_be_tried_again(ingestion, validations):
        back = replace(polled, seen=polled.settled)
        return dg.SensorResult(skip_reason=f"unchanged: {state}", cursor=back.as_cursor())
    if state.fingerprint != polled.seen:
        moving = Polled(polled.settled, state.fingerprint, now)
        reason = f"changed: {state}; waiting until a check sees no further change"
        return dg.SensorResult(skip_reason=reason, cursor=moving.as_cursor())
    decision = decide([ingestion, *in_flight(instance, upstream)], validations, now=now)
    share(instance, decision)
    after = polled if decision.action == "wait" else replace(polled, settled=state.fingerprint)
    if decision.action != "run":
        return dg.SensorResult(skip_reason=decision.reason, cursor=after.as_cursor())
    request = dg.RunRequest(
        run_key=f"{suite}:{state.fingerprint}:{polled.since:.3f}{_again(ingestion, validations)}",
        tags=tags_for("collection_changed", decision.ingestions),
    )
    return dg.SensorResult(run_requests=[request], cursor=after.as_cursor())
