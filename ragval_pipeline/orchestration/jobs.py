"""The job that validates a suite. What does not live here: what starts it (``triggers``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.names import SUITE_TAG, job_name
from ragval_pipeline.suite.model import Suite


def build_job(suite: Suite, assets: Sequence[dg.AssetKey], executor: dg.ExecutorDefinition) -> Any:
    """A job of all assets and checks of the suite.

    Args:
        suite: The suite.
        assets: Their keys. Not their group: a project that loads them may put them into another.
        executor: Runs its steps.
    """
    return dg.define_asset_job(
        job_name(suite.suite),
        selection=dg.AssetSelection.assets(*assets),
        executor_def=executor,
        description=f"Validates the collection of the suite {suite.suite} and writes its report.",
        tags={SUITE_TAG: suite.suite},
    )
