"""A live Dagster: an ingestion, the validation that follows it, and what is published behind its gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.live import Live, dagster_dev
from tests.orchestration.world import COVERAGE_ALONE, NAME, World

JOB = f"{NAME}_validation"
DONE = {"SUCCESS", "FAILURE", "CANCELED"}
WORKSPACE = "load_from: [{python_module: {module_name: tests.orchestration.a_gated_shop, location_name: shop}}]\n"
PUBLISHED = """{ assetOrError(assetKey: {path: ["published"]}) { ... on Asset { assetMaterializations {
    runId timestamp } } } }"""


def published(live: Live) -> list[float]:
    """When the asset behind the gate was made, Unix seconds, the latest first."""
    asset = live.ask(PUBLISHED)["assetOrError"]
    return [float(event["timestamp"]) / 1000 for event in asset.get("assetMaterializations", ())]


def validated(live: Live, count: int) -> list[dict[str, Any]]:
    """The validations, the latest first, when ``count`` of them and all others have ended."""

    def ended() -> list[dict[str, Any]]:
        runs = live.runs(JOB)
        return runs if len(runs) >= count and all(run["status"] in DONE for run in runs) else []

    return live.until(ended)


@pytest.mark.daemon
def test_what_follows_an_ingestion_is_published_after_the_validation_that_covers_it(
    world: World, tmp_path: Path
) -> None:
    automation = {"after_asset": "ingestion/docs", "enabled": True}
    world.suite({"criteria": COVERAGE_ALONE, "automation": automation})
    workspace, hold = tmp_path / "workspace.yaml", tmp_path / "hold"
    workspace.write_text(WORKSPACE, encoding="utf-8")
    environ = {"SHOP_SUITE": str(world.folder / "ragval.yaml"), "SHOP_HOLD": str(hold)}
    with dagster_dev(tmp_path / "live", workspace, environ=environ) as live:
        live.materialise("shop", "ingestion", "docs")
        [first] = validated(live, 1)
        assert first["status"] == "SUCCESS"
        live.until(lambda: published(live))
        assert min(published(live)) >= first["endTime"]

        # A second ingestion, and a third that ends while the validation of the second is at work.
        hold.touch()
        live.materialise("shop", "ingestion", "docs")
        live.until(lambda: live.runs(JOB)[0]["status"] == "STARTED" and len(live.runs(JOB)) == 2)
        live.materialise("shop", "ingestion", "docs")
        live.until(lambda: live.runs("__ASSET_JOB")[0]["status"] in DONE)
        hold.unlink()
        third, overtaken, _ = validated(live, 3)
        assert overtaken["status"] == "FAILURE", "its verdict does not cover the third ingestion"
        assert third["status"] == "SUCCESS"
        live.until(lambda: len(published(live)) == 2)
        assert max(published(live)) >= third["endTime"]
