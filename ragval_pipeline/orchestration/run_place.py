"""Where a run keeps its files, the same for all its steps.

What lives here: the run's folder names and start, from what Dagster knows of the run. What does not: writing them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg

from ragval_pipeline.orchestration.io_manager import work_folder
from ragval_pipeline.suite.model import Suite

if TYPE_CHECKING:
    from upath import UPath


@dataclass(frozen=True)
class RunPlace:
    """One run of one suite.

    Args:
        run_id: Dagster's run id.
        started: When it began, aware UTC.
        base: ``<report_uri>/<suite>``.
        tags: The run's tags.
    """

    run_id: str
    started: datetime
    base: UPath
    tags: Mapping[str, str]

    @property
    def folder(self) -> UPath:
        """Where the run's report will be."""
        from ragval_pipeline.reporting.folder import run_folder_name

        return self.base / run_folder_name(self.started, self.run_id)

    @property
    def kept_payload(self) -> UPath:
        """Where the snapshot's parts will be."""
        return self.folder / "evidence" / "payload"

    @property
    def staged_payload(self) -> UPath:
        """Where the snapshot's parts are until the report is written."""
        return work_folder(self.base, self.run_id) / "payload"

    @property
    def work(self) -> UPath:
        """What the run needs only until it ends."""
        return work_folder(self.base, self.run_id)


def run_place(context: dg.AssetExecutionContext, suite: Suite) -> RunPlace:
    """The place of the run that a step belongs to."""
    return place_of_run(context.instance, context.run_id, context.run.tags, suite)


def place_of_run(instance: dg.DagsterInstance, run_id: str, tags: Mapping[str, str], suite: Suite) -> RunPlace:
    """The place of a run of a resolved suite."""
    from upath import UPath

    record = instance.get_run_record_by_id(run_id)
    started = datetime.now(UTC)
    if record is not None:
        started = (
            datetime.fromtimestamp(record.start_time, UTC)
            if record.start_time
            else record.create_timestamp.replace(tzinfo=UTC)
        )
    return RunPlace(run_id=run_id, started=started, base=UPath(suite.report_uri) / suite.suite, tags=dict(tags))


def purge_abandoned(context: dg.AssetExecutionContext, place: RunPlace) -> None:
    """Remove the working files of runs that have ended without writing their report."""
    work = place.work.parent
    if not work.exists():
        return
    for folder in work.iterdir():
        run = context.instance.get_run_by_id(folder.name)
        age_s = datetime.now(UTC).timestamp() - folder.stat().st_mtime
        # A run that this instance does not know may belong to another one, and still be at work.
        if folder.name != place.run_id and (run.is_finished if run else age_s > 86_400):
            remove_tree(folder)


def remove_tree(folder: UPath) -> None:
    """Remove a folder and all that is in it, if it is there."""
    if folder.exists():
        folder.fs.rm(folder.path, recursive=True)
