"""The condition for assets of other runs that must not run before an index that was not validated, or did not pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.measuring.names import VALIDATION_REPORT
from ragval_pipeline.measuring.table import ASSETS
from ragval_pipeline.orchestration.names import asset_key, prefix_parts
from ragval_pipeline.orchestration.triggers.automation import watched_asset
from ragval_pipeline.suite.model import Suite


def gate(
    suite: Suite, upstream: dg.AssetKey | str | Sequence[str] | None = None, *, key_prefix: str | Sequence[str] = ()
) -> dg.AutomationCondition[Any]:
    """An automation condition that is true once after each report of a suite whose blocking checks all passed.

    ``AutomationCondition.eager() & all_deps_blocking_checks_passed()`` is no guard on an asset that depends on the
    ingestion as well: a new ingestion requests it while the checks are still those of the report before. Here an
    ingestion closes the gate until its own report has passed.

    Args:
        suite: The suite, as ``load_suite`` reads it.
        upstream: The asset that fills the collection; None: the suite's ``automation.after_asset``.
        key_prefix: As for ``build_validation_defs``.

    Raises:
        SuiteError: ``upstream`` is not an asset key.
    """
    prefix = prefix_parts(key_prefix)
    report = asset_key(suite.suite, VALIDATION_REPORT, prefix)
    ingestion = watched_asset(suite, upstream, [asset_key(suite.suite, name, prefix) for name in ASSETS])
    validated = dg.AutomationCondition.asset_matches(report, dg.AutomationCondition.newly_updated())
    met: dg.AutomationCondition[Any] = validated.since(dg.AutomationCondition.newly_requested())
    busy: dg.AutomationCondition[Any] = dg.AutomationCondition.in_progress() | _in_progress(report)
    if ingestion is not None:
        # An own condition, because Dagster compares times within a tick only of single events. A report that an
        # ingestion overtook while it was made does not pass: see ``overtaken``.
        met &= validated.since(dg.AutomationCondition.asset_matches(ingestion, dg.AutomationCondition.newly_updated()))
        busy |= _in_progress(ingestion)
    passed = dg.AutomationCondition.asset_matches(
        report, dg.AutomationCondition.all_checks_match(dg.AutomationCondition.check_passed(), blocking_only=True)
    )
    return (met & passed & ~busy).with_label(f"the gates of {suite.suite} are met")


def _in_progress(key: dg.AssetKey) -> dg.AutomationCondition[Any]:
    return dg.AutomationCondition.asset_matches(key, dg.AutomationCondition.in_progress())
