"""What a suite's automation names: the asset or job that comes before, a schedule, an automation condition."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.names import SUITE_TAG, TRIGGER_TAG, UPSTREAM_ASSET_TAG, job_name
from ragval_pipeline.orchestration.partitions import keys_of
from ragval_pipeline.suite.model import Suite


@dataclass(frozen=True)
class UpstreamJob:
    """A job whose success starts a validation; ``location`` is None for any code location."""

    name: str
    location: str | None = None

    def made(self, run: dg.DagsterRun) -> bool:
        """Whether a run is one of this job."""
        origin = run.remote_job_origin
        here = self.location is None or (origin is not None and origin.location_name == self.location)
        return here and run.job_name == self.name


@dataclass(frozen=True)
class Upstream:
    """The known ingestion asset and job: runs of either are waited for, whichever trigger sees one end."""

    asset: dg.AssetKey | None = None
    job: UpstreamJob | None = None


def watched_asset(
    suite: Suite, upstream: dg.AssetKey | str | Sequence[str] | None, own: Collection[dg.AssetKey]
) -> dg.AssetKey | None:
    """The ingestion asset: the one given in code, else the suite's ``automation.after_asset`` (``a/b/c``).

    Raises:
        SuiteError: The key has an empty part, or is one of ``own``, the suite's own assets.
    """
    chosen, given_as = (
        (upstream, "upstream") if upstream is not None else (suite.automation.after_asset, "automation.after_asset")
    )
    if chosen is None:
        return None
    path = chosen.path if isinstance(chosen, dg.AssetKey) else chosen.split("/") if isinstance(chosen, str) else chosen
    parts = [part.strip() for part in path]
    if not parts or not all(parts):
        raise SuiteError(f"{'/'.join(path)!r} is not an asset key", key=given_as, remedy="Write its parts as a/b/c.")
    key = dg.AssetKey(parts)
    if key in own:
        raise SuiteError(
            f"{key.to_user_string()} is an asset of this suite, which cannot follow itself",
            key=given_as,
            remedy="Set the asset that fills the collection.",
        )
    return key


def watched_job(suite: Suite) -> UpstreamJob | None:
    """The suite's ``automation.after_job``: a job's name, or ``location:job``; None if not set.

    Raises:
        SuiteError: It has an empty part, or is the job that validates this suite.
    """
    written = suite.automation.after_job
    if written is None:
        return None
    location, colon, name = written.rpartition(":")
    job = UpstreamJob(name.strip(), location.strip() or None)
    if not job.name or (colon and not job.location):
        raise SuiteError(
            f"{written!r} is not a job", key="automation.after_job", remedy="Write the job's name, or location:job."
        )
    if job.name == job_name(suite.suite):
        raise SuiteError(
            f"{job.name} is the job of this suite, so each validation would start the next one",
            key="automation.after_job",
            remedy="Set the job that fills the collection.",
        )
    return job


#: Default if the suite names no time: nightly, switched off.
NIGHTLY = "0 4 * * *"


def build_schedule(suite: Suite) -> dg.ScheduleDefinition:
    """A schedule that is stopped by default, unless the suite names a time and switches automation on.

    Raises:
        SuiteError: ``automation.cron`` is not a cron expression.
    """
    settings = suite.automation
    on = settings.enabled and settings.cron is not None

    def every_partition(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest]:
        at = context.scheduled_execution_time.isoformat()
        for key in keys_of(suite, context.instance):
            yield dg.RunRequest(run_key=f"{at}:{key}", partition_key=key, tags={TRIGGER_TAG: "schedule"})

    how: dict[str, Any] = {"tags": {TRIGGER_TAG: "schedule"}}
    if suite.partitions is not None:
        how = {"execution_fn": every_partition}
    try:
        return dg.ScheduleDefinition(
            name=f"{suite.suite}_schedule",
            job_name=job_name(suite.suite),
            cron_schedule=settings.cron or NIGHTLY,
            default_status=dg.DefaultScheduleStatus.RUNNING if on else dg.DefaultScheduleStatus.STOPPED,
            description=f"Validate {suite.suite} at fixed times (UTC), regardless of ingestions.",
            **how,
        )
    except dg.DagsterInvalidDefinitionError:
        raise SuiteError(
            f"{settings.cron} is not a cron expression",
            key="automation.cron",
            remedy='Use minute, hour, day, month and weekday, e.g. "0 4 * * *".',
        ) from None


def condition_for(upstream: dg.AssetKey | None, *, declarative: bool) -> dg.AutomationCondition[Any] | None:
    """The condition of a suite's assets; None if a sensor or nothing follows the upstream asset.

    It is true once after each materialisation of ``upstream``, when neither it nor the validation is running, and the
    same for all assets of a suite, so that they run together: the sitemap is read again although it does not depend on
    the ingestion.

    Raises:
        SuiteError: It is requested without an asset to follow.
    """
    if not declarative:
        return None
    if upstream is None:
        raise SuiteError(
            "an automation condition needs an asset to follow, and none is set",
            key="automation.after_asset",
            remedy="Set the asset that fills the collection, here or as upstream=.",
        )
    ingested = dg.AutomationCondition.asset_matches(upstream, dg.AutomationCondition.newly_updated())
    ingesting = dg.AutomationCondition.asset_matches(upstream, dg.AutomationCondition.in_progress())
    pending = ingested.since(dg.AutomationCondition.newly_requested())
    return pending & ~ingesting & ~dg.AutomationCondition.in_progress()


def with_condition(assets: dg.AssetsDefinition, condition: dg.AutomationCondition[Any]) -> dg.AssetsDefinition:
    """The assets, requested when the condition is true."""
    return assets.map_asset_specs(lambda spec: spec.replace_attributes(automation_condition=condition))


def build_condition_sensor(suite: Suite, assets: Sequence[dg.AssetKey], upstream: dg.AssetKey) -> dg.SensorDefinition:
    """The sensor that evaluates the condition; its default status is from the suite."""
    on = suite.automation.enabled
    selection = dg.AssetSelection.assets(*assets)
    return dg.AutomationConditionSensorDefinition(
        f"{suite.suite}_automation_condition",
        target=selection | dg.AssetSelection.checks_for_assets(*assets),
        run_tags={
            SUITE_TAG: suite.suite,
            TRIGGER_TAG: "automation_condition",
            UPSTREAM_ASSET_TAG: upstream.to_user_string(),
        },
        default_status=dg.DefaultSensorStatus.RUNNING if on else dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=10,
        description=f"Validates {suite.suite} after {upstream.to_user_string()} was materialised, declaratively.",
    )
