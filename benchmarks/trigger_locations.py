"""Two code locations for ``benchmarks.triggers``: one that ingests, one that validates with the real triggers.

What validates is a stand-in of one asset. Each run imports this module, so it imports little.
"""

from __future__ import annotations

import os
from typing import Any

import dagster as dg

from ragval_pipeline.measuring.names import VALIDATION_REPORT
from ragval_pipeline.orchestration.build import build_sensors
from ragval_pipeline.orchestration.names import SUITE_TAG, asset_key, job_name, resource_key
from ragval_pipeline.orchestration.resources import QdrantConnection
from ragval_pipeline.orchestration.triggers.automation import (
    build_schedule,
    condition_for,
    watched_asset,
    with_condition,
)
from ragval_pipeline.suite.model import Suite

INGEST_JOB, INGESTED = "ingest", "ingestion/index"
COLLECTION = "book"
#: Trigger to the suite's automation; the suite is called like the trigger.
TRIGGERS: dict[str, dict[str, Any]] = {
    "after_asset": {"after_asset": INGESTED},
    "after_job": {"after_job": INGEST_JOB},
    "condition": {"after_asset": INGESTED},
    "collection": {"poll_s": 5},
    "asset_and_job": {"after_asset": INGESTED, "after_job": INGEST_JOB},
    "schedule": {"cron": "* * * * *"},
}
URL = "TRIGGERS_QDRANT_URL"
#: Names of the triggers that are measured, comma separated.
MEASURED = "TRIGGERS_MEASURED"


def ingesting() -> dg.Definitions:
    """The location that fills the collection, as far as Dagster sees it."""

    @dg.asset(key=INGESTED.split("/"))
    def index() -> None: ...

    return dg.Definitions(
        assets=[index], jobs=[dg.define_asset_job(INGEST_JOB, [index])], executor=dg.in_process_executor
    )


def validating() -> dg.Definitions:
    """The location that validates: the real triggers around a stand-in."""
    names = os.environ.get(MEASURED, ",".join(TRIGGERS)).split(",")
    return dg.Definitions.merge(dg.Definitions(executor=dg.in_process_executor), *(_one(name) for name in names))


def _one(name: str) -> dg.Definitions:
    automation = {**TRIGGERS[name], "enabled": True}
    qdrant = {"url": os.environ.get(URL, "http://127.0.0.1:9"), "collection": COLLECTION}
    queries = [{"id": "q1", "query_text": "q"}]
    suite = Suite.model_validate({"suite": name, "qdrant": qdrant, "queries": queries, "automation": automation})
    key = asset_key(name, VALIDATION_REPORT)
    watched = watched_asset(suite, None, [key])

    @dg.asset(key=key, deps=[watched] if watched else [])
    def report() -> None: ...

    declarative = name == "condition"
    assets = [report]
    if declarative and watched:
        assets = with_condition(assets, condition_for(watched, declarative=True))
    job = dg.define_asset_job(job_name(name), [key], tags={SUITE_TAG: name})
    return dg.Definitions(
        assets=assets,
        jobs=[job],
        schedules=[build_schedule(suite)],
        sensors=build_sensors(suite, watched, keys=[key], declarative=declarative),
        resources={resource_key(name, "qdrant"): QdrantConnection(url=None, api_key=None)},
    )
