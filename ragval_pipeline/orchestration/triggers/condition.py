"""The automation condition that validates after an ingestion, for deployments that are automated declaratively.

What lives here: the condition and the sensor that evaluates it. It takes the place of ``after_asset``'s sensor: a suite
follows an asset by one of them. Its runs name no ingestions, because a condition's run tags are fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.names import (
    SUITE_TAG,
    TRIGGER_TAG,
    UPSTREAM_ASSET_TAG,
    condition_sensor_name,
)
from ragval_pipeline.suite.model import Suite

TRIGGER = "automation_condition"


def condition_for(upstream: dg.AssetKey | None, *, declarative: bool) -> dg.AutomationCondition[Any] | None:
    """The condition of a suite's assets; null where a sensor or nothing follows the upstream asset.

    Raises:
        SuiteError: It is asked for, and there is no asset to follow.
    """
    if not declarative:
        return None
    if upstream is None:
        raise SuiteError(
            "an automation condition follows an asset, and none is named",
            key="automation.after_asset",
            remedy="Name the asset that fills the collection, here or as upstream=.",
        )
    return validation_condition(upstream)


def validation_condition(upstream: dg.AssetKey) -> dg.AutomationCondition[Any]:
    """True once after each materialisation of ``upstream``, when neither it nor the validation is running.

    It is the same for all assets of a suite, so that they run together: the sitemap is read anew although it does not
    depend on the ingestion.
    """
    ingested = dg.AutomationCondition.asset_matches(upstream, dg.AutomationCondition.newly_updated())
    ingesting = dg.AutomationCondition.asset_matches(upstream, dg.AutomationCondition.in_progress())
    pending = ingested.since(dg.AutomationCondition.newly_requested())
    return pending & ~ingesting & ~dg.AutomationCondition.in_progress()


def with_condition(
    assets: Iterable[dg.AssetsDefinition], condition: dg.AutomationCondition[Any]
) -> list[dg.AssetsDefinition]:
    """The assets, requested when the condition is true."""
    return [
        asset.map_asset_specs(lambda spec: spec.replace_attributes(automation_condition=condition)) for asset in assets
    ]


def build_condition_sensor(suite: Suite, assets: Sequence[dg.AssetKey], upstream: dg.AssetKey) -> dg.SensorDefinition:
    """The sensor that evaluates the condition, shipped as the suite says."""
    on = suite.automation.enabled
    selection = dg.AssetSelection.assets(*assets)
    return dg.AutomationConditionSensorDefinition(
        condition_sensor_name(suite.suite),
        target=selection | dg.AssetSelection.checks_for_assets(*assets),
        run_tags={
            SUITE_TAG: suite.suite,
            TRIGGER_TAG: TRIGGER,
            UPSTREAM_ASSET_TAG: upstream.to_user_string(),
        },
        default_status=dg.DefaultSensorStatus.RUNNING if on else dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=10,
        description=f"Validates {suite.suite} after {upstream.to_user_string()} was materialised, declaratively.",
    )
