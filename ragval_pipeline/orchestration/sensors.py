"""The sensor that validates after an ingestion, also one of another code location.

What lives here: watching the materialisations of an upstream asset. An asset sensor sees those of jobs, of the UI and
of the REST API alike; sensors on runs miss some of them.
"""

from collections.abc import Sequence

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.names import (
    TRIGGER_TAG,
    UPSTREAM_ASSET_TAG,
    UPSTREAM_RUN_TAG,
    job_name,
    sensor_name,
)
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
        return run_request(suite.suite, upstream, event)

    return after_ingestion


def run_request(suite: str, upstream: dg.AssetKey, event: dg.EventLogEntry) -> dg.RunRequest:
    """The run that a materialisation of ``upstream`` asks for.

    A run key is never run twice, so it must never be a fixed name: it is the ingestion's own run and moment. Tags say
    why the run exists.
    """
    return dg.RunRequest(
        run_key=f"{suite}:{event.run_id or 'external'}:{event.timestamp:.6f}",
        tags={
            TRIGGER_TAG: "after_ingestion",
            UPSTREAM_ASSET_TAG: upstream.to_user_string(),
            **({UPSTREAM_RUN_TAG: event.run_id} if event.run_id else {}),
        },
    )


def upstream_key(suite: Suite, upstream: dg.AssetKey | str | Sequence[str] | None) -> dg.AssetKey | None:
    """The ingestion asset: the one given in code, else the suite's ``automation.after_asset`` (``a/b/c``).

    Raises:
        SuiteError: The key has an empty part.
    """
    chosen = upstream if upstream is not None else suite.automation.after_asset
    if chosen is None:
        return None
    path = chosen.path if isinstance(chosen, dg.AssetKey) else chosen.split("/") if isinstance(chosen, str) else chosen
    parts = [part.strip() for part in path]
    if not parts or not all(parts):
        raise SuiteError(
            f"{'/'.join(path)!r} is no asset key", key="automation.after_asset", remedy="Write its parts as a/b/c."
        )
    return dg.AssetKey(parts)
