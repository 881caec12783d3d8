"""The sensor that validates after an ingestion, also one of another code location.

What lives here: watching the materialisations of an upstream asset. An asset sensor sees those of jobs, of the UI and
of the REST API alike; sensors on runs miss some of them.
"""

from collections.abc import Sequence

import dagster as dg

from ragval_pipeline.orchestration.names import TRIGGER_TAG, UPSTREAM_RUN_TAG, job_name, sensor_name
from ragval_pipeline.suite.model import Suite


def build_after_ingestion_sensor(suite: Suite, upstream: dg.AssetKey) -> dg.SensorDefinition:
    """A sensor that starts the job when ``upstream`` materialises.

    It is shipped stopped, unless the suite switches automation on. Ingestions that end before it looks again share one
    validation, which starts after the last of them.
    """
    on = suite.automation.enabled

    @dg.asset_sensor(
        asset_key=upstream,
        job_name=job_name(suite.suite),
        name=sensor_name(suite.suite),
        default_status=dg.DefaultSensorStatus.RUNNING if on else dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=15,
        description=f"Validates {suite.suite} after {upstream.to_user_string()} was materialised.",
    )
    def after_ingestion(context: dg.SensorEvaluationContext, event: dg.EventLogEntry) -> dg.RunRequest:
        return run_request(suite.suite, event, cursor=context.cursor)

    return after_ingestion


def run_request(suite: str, event: dg.EventLogEntry, *, cursor: str | None) -> dg.RunRequest:
    """The run that an ingestion asks for.

    The run key is the ingestion's own run and event: a key is never run twice, so it must never be a fixed name.
    """
    return dg.RunRequest(
        run_key=f"{suite}:{event.run_id or 'external'}:{event.timestamp:.6f}",
        tags={TRIGGER_TAG: "after_ingestion", **({UPSTREAM_RUN_TAG: event.run_id} if event.run_id else {})},
    )


def upstream_key(suite: Suite, upstream: dg.AssetKey | str | Sequence[str] | None) -> dg.AssetKey | None:
    """The ingestion asset: the one given in code, else the suite's ``automation.after_asset`` (``a/b/c``)."""
    chosen = upstream if upstream is not None else suite.automation.after_asset
    if chosen is None or isinstance(chosen, dg.AssetKey):
        return chosen
    return dg.AssetKey(chosen.split("/") if isinstance(chosen, str) else list(chosen))
