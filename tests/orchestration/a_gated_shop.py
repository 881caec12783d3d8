"""A code location for a live Dagster: an ingestion, the validation that follows it, and an asset behind the gate.

While the file ``SHOP_HOLD`` exists, validations wait before they read the collection.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import dagster as dg
from qdrant_client import QdrantClient

from ragval_pipeline import build_validation_defs, gate, load_suite

suite = load_suite(os.environ["SHOP_SUITE"])
INGESTION = dg.AssetKey(["ingestion", "docs"])


class Held(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The collection, which can be read only while nothing holds it."""

    def get_client(self) -> QdrantClient:
        while Path(os.environ["SHOP_HOLD"]).exists():
            time.sleep(0.2)
        return QdrantClient(path=str(suite.qdrant.path))


@dg.asset(key=INGESTION)
def ingestion() -> None: ...


@dg.asset(deps=[INGESTION, dg.AssetKey([suite.suite, "validation_report"])], automation_condition=gate(suite))
def published() -> None: ...


conditions = dg.AutomationConditionSensorDefinition(
    "conditions", target=[published], default_status=dg.DefaultSensorStatus.RUNNING, minimum_interval_seconds=1
)
defs = dg.Definitions.merge(
    build_validation_defs(suite, resources={"qdrant": Held()}),
    dg.Definitions(assets=[ingestion, published], sensors=[conditions], executor=dg.in_process_executor),
)
