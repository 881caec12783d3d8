"""The schedule of a suite. What does not live here: starting after an ingestion (``after_asset``, ``after_job``)."""

from __future__ import annotations

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.names import TRIGGER_TAG, job_name, schedule_name
from ragval_pipeline.suite.model import Suite

#: When the suite names no time: once a night, and switched off.
NIGHTLY = "0 4 * * *"


def build_schedule(suite: Suite) -> dg.ScheduleDefinition:
    """A schedule that is shipped stopped, unless the suite names a time and switches automation on.

    Raises:
        SuiteError: ``automation.cron`` is no cron expression.
    """
    settings = suite.automation
    on = settings.enabled and settings.cron is not None
    try:
        return dg.ScheduleDefinition(
            name=schedule_name(suite.suite),
            job_name=job_name(suite.suite),
            cron_schedule=settings.cron or NIGHTLY,
            default_status=dg.DefaultScheduleStatus.RUNNING if on else dg.DefaultScheduleStatus.STOPPED,
            tags={TRIGGER_TAG: "schedule"},
            description=f"Validates {suite.suite} at fixed times (UTC), whatever was ingested.",
        )
    except dg.DagsterInvalidDefinitionError:
        raise SuiteError(
            f"{settings.cron} is no cron expression",
            key="automation.cron",
            remedy='Write minute, hour, day, month and weekday, e.g. "0 4 * * *".',
        ) from None
