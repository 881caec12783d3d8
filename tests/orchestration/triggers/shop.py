"""A validating code location, seen by its sensor tick by tick, and ingestions that happen elsewhere."""

from __future__ import annotations

from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import SUITE_TAG, job_name
from ragval_pipeline.suite.model import Suite
from tests.orchestration.world import NAME, QUIET

INGESTION = dg.AssetKey(["demo_ingestion", "physical_ai_book_index"])


class Shop:
    """One suite's location on an instance."""

    def __init__(self, suite: Suite, instance: dg.DagsterInstance, sensor: str, **build: Any) -> None:
        self.instance = instance
        defs = build_validation_defs(suite, **build)
        self.repository = defs.get_repository_def()
        self._resources = dict(defs.resources or {})
        self.sensor = self.repository.get_sensor_def(sensor)
        self.cursor: str | None = None
        self.skipped: str | None = None
        self._keys: set[str | None] = set()

    def tick(self) -> list[dg.RunRequest]:
        """One look of the sensor; ``skipped`` says why nothing was asked for. No run key is run twice."""
        needed = {key: self._resources[key] for key in self.sensor.required_resource_keys}
        context = dg.build_sensor_context(
            self.instance, cursor=self.cursor, repository_def=self.repository, resources=needed
        )
        data = self.sensor.evaluate_tick(context)
        self.cursor = data.cursor or self.cursor
        self.skipped = data.skip_message
        new = [request for request in data.run_requests or [] if request.run_key not in self._keys]
        self._keys |= {request.run_key for request in new}
        return new

    def ingest(self) -> str:
        """A run of a job that this location does not know."""

        @dg.asset(key=INGESTION)
        def index() -> None: ...

        return dg.materialize([index], instance=self.instance, run_config=QUIET).run_id

    def report(self) -> None:
        """What the REST endpoint does for an ingestion outside Dagster."""
        self.instance.report_runless_asset_event(dg.AssetMaterialization(INGESTION))

    def validate(self, **tags: str) -> str:
        """A run of the suite's job that has started and ended, whatever it did."""

        @dg.op
        def nothing() -> None: ...

        @dg.job(name=job_name(NAME), tags={SUITE_TAG: NAME, **tags})
        def validation() -> None:
            nothing()

        return validation.execute_in_process(instance=self.instance, run_config=QUIET).run_id

    def queue(self, **tags: str) -> str:
        """A validation that has not begun."""
        job = self.repository.get_job(job_name(NAME))
        run = self.instance.create_run_for_job(
            job_def=job, tags={SUITE_TAG: NAME, **tags}, status=dg.DagsterRunStatus.NOT_STARTED
        )
        return run.run_id

    def tags(self, run_id: str) -> dict[str, str]:
        run = self.instance.get_run_by_id(run_id)
        assert run is not None
        return dict(run.tags)
