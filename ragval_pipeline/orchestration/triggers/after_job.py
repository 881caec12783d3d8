"""The sensor that validates after a job succeeded, also one of another code location."""

import time
from collections.abc import Collection

import dagster as dg

from ragval_pipeline.orchestration.names import job_name, job_sensor_name
from ragval_pipeline.orchestration.triggers.upstream import Upstream, UpstreamJob
from ragval_pipeline.suite.model import Suite

TRIGGER = "after_job"


def build_after_job_sensor(
    suite: Suite, job: UpstreamJob, upstream: Upstream, keys: Collection[dg.AssetKey]
) -> dg.SensorDefinition:
    """A sensor that starts the suite's job after ``job`` succeeded, shipped as the suite says."""
    on = suite.automation.enabled

    @dg.sensor(
        job_name=job_name(suite.suite),
        name=job_sensor_name(suite.suite),
        minimum_interval_seconds=10,
        default_status=dg.DefaultSensorStatus.RUNNING if on else dg.DefaultSensorStatus.STOPPED,
        description=f"Validates {suite.suite} after the job {job.name} succeeded.",
    )
    def after_job(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        return look_at_job(context.instance, suite.suite, job, upstream, context.cursor, keys)

    return after_job


def look_at_job(
    instance: dg.DagsterInstance,
    suite: str,
    job: UpstreamJob,
    upstream: Upstream,
    cursor: str | None,
    keys: Collection[dg.AssetKey],
) -> dg.SensorResult:
    """One look at the successes of a job that ended since the cursor, Unix seconds; the first look only sets it."""
    from ragval_pipeline.orchestration.triggers.decision import decide, unsettled
    from ragval_pipeline.orchestration.triggers.records import in_flight, share, successes, tags_for, validations_of

    now = time.time()
    if cursor is None:
        return dg.SensorResult(skip_reason=f"first look: successes of {job.name} from here on count", cursor=str(now))
    found = successes(instance, job, since=float(cursor))
    coming = in_flight(instance, upstream) if found else []
    decision = decide([*found, *coming], validations_of(instance, suite, keys) if found else [], now=now)
    share(instance, decision)
    left = any(unsettled(entry, decision) for entry in found)
    settled = cursor if left else str(max((entry.ended for entry in found if entry.ended), default=cursor))
    if decision.action != "run":
        return dg.SensorResult(skip_reason=decision.reason, cursor=settled)
    run_key = f"{suite}:{decision.ingestions[-1].name}"
    request = dg.RunRequest(run_key=run_key, tags=tags_for(TRIGGER, decision.ingestions))
    return dg.SensorResult(run_requests=[request], cursor=settled)
