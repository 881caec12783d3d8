"""Which sensors a suite gets: one for each trigger that its automation names, and usually that is one."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from ragval_pipeline.orchestration.triggers.schedule import build_condition_sensor
from ragval_pipeline.orchestration.triggers.upstream import Upstream, watched_job
from ragval_pipeline.suite.model import Suite


def build_sensors(
    suite: Suite, watched: dg.AssetKey | None, *, keys: Sequence[dg.AssetKey], declarative: bool
) -> list[dg.SensorDefinition]:
    """The sensors of a suite.

    Args:
        suite: The suite.
        watched: The asset that ingests, if one is known.
        keys: The suite's own assets.
        declarative: Whether the assets carry an automation condition for ``watched``.

    Raises:
        SuiteError: ``automation.after_job`` or ``automation.poll_s`` cannot be followed.
    """
    upstream = Upstream(watched, watched_job(suite))
    poll_s = suite.automation.poll_s
    sensors: list[dg.SensorDefinition] = []
    if watched is not None and declarative:
        sensors.append(build_condition_sensor(suite, keys, watched))
    elif watched is not None:
        from ragval_pipeline.orchestration.triggers.after_ingestion import build_after_asset_sensor

        sensors.append(build_after_asset_sensor(suite, watched, upstream, keys))
    if upstream.job is not None:
        from ragval_pipeline.orchestration.triggers.after_ingestion import build_after_job_sensor

        sensors.append(build_after_job_sensor(suite, upstream.job, upstream, keys))
    if poll_s is not None:
        from ragval_pipeline.orchestration.triggers.after_ingestion import build_collection_sensor

        sensors.append(build_collection_sensor(suite, poll_s, upstream, keys))
    return sensors
