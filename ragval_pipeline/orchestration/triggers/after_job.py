"""The sensor that validates after a job succeeded, also one of another code location.

What lives here: following the success of named jobs. What does not: runs without a named job, such as those that the
UI's button starts, and events from outside Dagster; ``after_asset`` sees those as well.
"""

import time
from collections.abc import Collection
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.names import job_sensor_name
from ragval_pipeline.orchestration.triggers.decision import decide
from ragval_pipeline.orchestration.triggers.records import ended_ingestion, share, successes, tags_for, validations_of
from ragval_pipeline.orchestration.triggers.upstream import UpstreamJob
from ragval_pipeline.suite.model import Suite

TRIGGER = "after_job"


def build_after_job_sensor(
    suite: Suite, upstream: UpstreamJob, job: Any, keys: Collection[dg.AssetKey]
) -> dg.SensorDefinition:
    """A run-status sensor that starts ``job`` after ``upstream`` succeeded, shipped as the suite says."""
    on = suite.automation.enabled
    monitored: dict[str, Any] = {"monitor_all_code_locations": True}
    if upstream.location is not None:
        monitored = {"monitored_jobs": [dg.JobSelector(location_name=upstream.location, job_name=upstream.name)]}

    @dg.run_status_sensor(
        run_status=dg.DagsterRunStatus.SUCCESS,
        name=job_sensor_name(suite.suite),
        request_job=job,
        minimum_interval_seconds=10,
        default_status=dg.DefaultSensorStatus.RUNNING if on else dg.DefaultSensorStatus.STOPPED,
        description=f"Validates {suite.suite} after the job {upstream.name} succeeded.",
        **monitored,
    )
    def after_job(context: dg.RunStatusSensorContext) -> dg.RunRequest | dg.SkipReason | None:
        return look_at_success(context.instance, suite.suite, upstream, context.dagster_run, keys)

    return after_job


def look_at_success(
    instance: dg.DagsterInstance, suite: str, upstream: UpstreamJob, run: dg.DagsterRun, keys: Collection[dg.AssetKey]
) -> dg.RunRequest | dg.SkipReason | None:
    """What the success of one run asks for; null when there is nothing to say of it.

    The sensor is shown a few successes at a look, and where it watches all locations, those of all jobs. So whichever
    it is shown, it looks for successes of the upstream job that no validation has followed: when their own turn comes,
    they are validated already, and a busy deployment delays none. A success is never put off, because it is shown once:
    while a validation runs, the next one is queued, and the pool makes it wait.
    """
    validations = validations_of(instance, suite, keys)
    own = [ended_ingestion(instance, run)] if run.job_name == upstream.name else []
    begun = [entry.started for entry in validations if entry.started] or [entry.ended for entry in own if entry.ended]
    if not begun:
        return None
    # Any run of the job: where a location is named, Dagster shows that location's runs only.
    origin = run.remote_job_origin if upstream.location is not None else None
    others = successes(instance, upstream.name, since=max(begun), origin=origin)
    ingestions = [*(entry for entry in others if entry not in own), *own]
    decision = decide(ingestions, validations, now=time.time(), waits=False)
    share(instance, decision)
    if decision.action == "run":
        last = decision.ingestions[-1].name
        return dg.RunRequest(run_key=f"{suite}:{last}", tags=tags_for(TRIGGER, decision.ingestions))
    return dg.SkipReason(decision.reason) if ingestions else None
