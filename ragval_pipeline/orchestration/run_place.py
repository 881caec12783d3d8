"""The folders of a run that Dagster knows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import dagster as dg

from ragval_pipeline.measuring.place import RunPlace, scratch_of
from ragval_pipeline.suite.model import Suite


def run_place(context: dg.AssetExecutionContext, suite: Suite) -> RunPlace:
    """The place of the run that a step belongs to."""
    return place_of_run(context.instance, context.run.run_id, context.run.tags, suite)


def place_of_run(instance: dg.DagsterInstance, run_id: str, tags: Mapping[str, str], suite: Suite) -> RunPlace:
    """The place of a run of a resolved suite."""
    from ragval_pipeline.sources.history import history_folder

    record = instance.get_run_record_by_id(run_id)
    started = datetime.now(UTC)
    if record is not None:
        started = (
            datetime.fromtimestamp(record.start_time, UTC)
            if record.start_time
            else record.create_timestamp.replace(tzinfo=UTC)
        )
    base = history_folder(suite.report_uri, suite.place)
    return RunPlace(run_id, started, base, dict(tags), scratch_of(base, shared=suite.scale.engine != "local"))


def has_ended(instance: dg.DagsterInstance, run_id: str) -> bool | None:
    """Whether a run has ended; None for one of another instance."""
    run = instance.get_run_by_id(run_id)
    return run.is_finished if run is not None else None
