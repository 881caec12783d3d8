"""The factory of a promotion: both validations, their comparison, the alias, and the two jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.orchestration.assets.table import ASSETS
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.names import SUITE_TAG, asset_key, prefix_parts, resource_key
from ragval_pipeline.orchestration.promotion.aliases import ALIAS_WRITER, AliasWriter, promotion_job_name
from ragval_pipeline.orchestration.promotion.assets import build_promoted_alias, build_side_by_side
from ragval_pipeline.orchestration.promotion.rollback import build_rollback_job
from ragval_pipeline.suite.gates import gates_of
from ragval_pipeline.suite.load import variant_of
from ragval_pipeline.suite.model import Suite


def build_promotion_defs(
    suite: Suite,
    *,
    alias: str,
    alias_writer: Any = None,
    resources: Mapping[str, Any] | None = None,
    executor: dg.ExecutorDefinition | None = None,
    io_manager: Any = None,
    upstream: dg.AssetKey | str | Sequence[str] | None = None,
    declarative: bool = False,
    key_prefix: str | Sequence[str] = (),
) -> dg.Definitions:
    """A suite that promotes: in place of ``build_validation_defs`` for the same suite.

    The job ``<suite>_promotion`` validates the suite's collection and what ``alias`` points to, compares both, and
    moves the alias only if every gate holds. ``<suite>_rollback`` moves it back. The alias must exist: a misspelt one
    would otherwise be made, and nobody would read it.

    Args:
        suite: The suite of the candidate: its collection is the new one, or an alias that the ingestion points to it.
        alias: The alias that the application asks.
        alias_writer: An ``AliasWriter``, or anything with its ``open_for``; None: the suite's Qdrant without a key.
        resources: As for ``build_validation_defs``; both sides are read with them.
        executor: Runs the steps of all jobs that validate; None: in the run's own process.
        io_manager: As for ``build_validation_defs``, for both sides.
        upstream: The asset that fills the candidate.
        declarative: As for ``build_validation_defs``, for the candidate.
        key_prefix: As for ``build_validation_defs``, for both sides and the alias.

    Returns:
        Definitions of the suite, of ``<suite>_live``, and of the promotion.

    Raises:
        SuiteError: The candidate is the alias itself, or as ``build_validation_defs``.
    """
    live = live_suite(suite, alias)
    given = {"resources": resources, "executor": executor, "io_manager": io_manager, "key_prefix": key_prefix}
    prefix = prefix_parts(key_prefix)
    names = [asset_key(side.suite, name, prefix) for side in (suite, live) for name in ASSETS]
    own = [build_side_by_side(suite, live, prefix), build_promoted_alias(suite, live, alias, prefix)]
    job = dg.define_asset_job(
        promotion_job_name(suite.suite),
        selection=dg.AssetSelection.assets(*names, *[asset.key for asset in own]),
        executor_def=executor or dg.in_process_executor,
        description=f"Validates the candidate and what is live, and moves the alias {alias} if the gates hold.",
        tags={SUITE_TAG: suite.suite},
    )
    promotion = dg.Definitions(
        assets=own,
        jobs=[job, build_rollback_job(suite, alias, prefix)],
        resources={resource_key(suite.suite, ALIAS_WRITER): alias_writer or AliasWriter(url=None, api_key=None)},
    )
    return dg.Definitions.merge(
        build_validation_defs(suite, upstream=upstream, declarative=declarative, **given),
        build_validation_defs(live, **given),
        promotion,
    )


def live_suite(candidate: Suite, alias: str) -> Suite:
    """The suite ``<candidate>_live`` of the collection behind ``alias``.

    It requires nothing: an index that went bad must not stand in the way of the better one.

    Raises:
        SuiteError: The candidate is the alias itself.
    """
    if candidate.qdrant.collection == alias:
        raise SuiteError(
            f"{alias} is the alias that is live, so there is no candidate",
            key="qdrant.collection",
            remedy="Name the new collection, or another alias that the ingestion points to it.",
        )
    shown = {
        name: {"threshold": gate.threshold, "required": False}
        for name, gate in gates_of(candidate).items()
        if gate.required
    }
    return variant_of(
        candidate,
        {
            "suite": f"{candidate.suite}_live",
            "qdrant": {"collection": alias},
            "criteria": shown,
            "history": {"baseline": None},
            "automation": {"after_asset": None, "after_job": None, "cron": None, "poll_s": None, "enabled": False},
        },
    )
