"""The sensor that validates after an ingestion's asset was materialised, also one of another code location."""

import time
from collections.abc import Collection

import dagster as dg

from ragval_pipeline.orchestration.names import UPSTREAM_ASSET_TAG, job_name, sensor_name
from ragval_pipeline.orchestration.triggers.upstream import Upstream
from ragval_pipeline.suite.model import Suite

TRIGGER = "after_ingestion"


def build_after_asset_sensor(
    suite: Suite, asset: dg.AssetKey, upstream: Upstream, keys: Collection[dg.AssetKey]
) -> dg.SensorDefinition:
    """A sensor that starts the job after ``asset`` was materialised and the run that did it is over.

    It is shipped stopped, unless the suite switches automation on. Ingestions that end before a validation starts share
    it.
    """
    on = suite.automation.enabled

    @dg.sensor(
        job_name=job_name(suite.suite),
        name=sensor_name(suite.suite),
        default_status=dg.DefaultSensorStatus.RUNNING if on else dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=10,
        description=f"Validates {suite.suite} after {asset.to_user_string()} was materialised.",
        metadata={"watches": dg.MetadataValue.asset(asset)},
    )
    def after_ingestion(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        return look_at_asset(context.instance, suite.suite, asset, upstream, context.cursor, keys)

    return after_ingestion


def look_at_asset(
    instance: dg.DagsterInstance,
    suite: str,
    asset: dg.AssetKey,
    upstream: Upstream,
    cursor: str | None,
    keys: Collection[dg.AssetKey],
) -> dg.SensorResult:
    """One look at the materialisations of ``asset``.

    The cursor is the storage id before the first ingestion that is not settled. What comes after it and is settled is
    recognised by the validation that covers it.
    """
    # Every suite that follows an ingestion loads this file, and most processes that do so never tick.
    from ragval_pipeline.orchestration.triggers.decision import decide, unsettled
    from ragval_pipeline.orchestration.triggers.records import (
        in_flight,
        materialisations,
        share,
        tags_for,
        validations_of,
    )

    after = int(cursor) if cursor and cursor.isdigit() else None
    found = materialisations(instance, asset, after)
    validations = validations_of(instance, suite, keys) if found else []
    known = [seen.ingestion for seen in found]
    names = {entry.name for entry in known}
    coming = [entry for entry in in_flight(instance, upstream) if entry.name not in names] if found else []
    decision = decide([*known, *coming], validations, now=time.time())
    share(instance, decision)
    left = [seen.first for seen in found if unsettled(seen.ingestion, decision)]
    settled = str(left[0] - 1 if left else max((seen.last for seen in found), default=after or 0))
    if decision.action != "run":
        return dg.SensorResult(skip_reason=decision.reason, cursor=settled)
    last = next(seen for seen in reversed(found) if seen.ingestion in decision.ingestions)
    request = dg.RunRequest(
        # A run key is never run twice, so it must name what is validated and not be a fixed name.
        run_key=f"{suite}:{last.ingestion.name}:{last.last}",
        tags={UPSTREAM_ASSET_TAG: asset.to_user_string(), **tags_for(TRIGGER, decision.ingestions)},
    )
    return dg.SensorResult(run_requests=[request], cursor=settled)
