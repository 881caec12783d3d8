"""The factory of a promotion: both validations, their comparison, the alias, and the jobs that move it and back."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.orchestration.assets.table import ASSETS
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.measuring import reading_the_world
from ragval_pipeline.orchestration.names import SUITE_TAG, asset_key, prefix_parts, resource_key
from ragval_pipeline.orchestration.promotion.aliases import (
    ALIAS_WRITER,
    PROMOTED_ALIAS,
    Aliases,
    AliasWriter,
    promotion_job_name,
    rollback_job_name,
)
from ragval_pipeline.orchestration.promotion.assets import build_promoted_alias, build_side_by_side, refuse
from ragval_pipeline.orchestration.promotion.decision import AliasChange, last_change
from ragval_pipeline.suite.gates import gates_of
from ragval_pipeline.suite.load import resolve_suite, variant_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.printing import did_you_mean


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
    """Definitions of a suite with promotion, instead of ``build_validation_defs``.

    The job ``<suite>_promotion`` validates the suite's collection and the one behind ``alias``, compares both, and
    moves the alias only if every gate passes. ``<suite>_rollback`` moves it back. The alias must exist: otherwise a
    misspelt one would be created.

    Args:
        suite: The suite of the candidate: its collection is the new one, or an alias for it.
        alias: The alias that the application uses.
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
        description=f"Validate the candidate and the live collection, and move the alias {alias} if the gates are met.",
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

    It requires nothing: a bad live index must not block a better one.

    Raises:
        SuiteError: The candidate is the alias itself.
    """
    if candidate.qdrant.collection == alias:
        raise SuiteError(
            f"{alias} is the live alias, so there is no candidate",
            key="qdrant.collection",
            remedy="Set the new collection, or another alias that the ingestion points to it.",
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


class RollbackConfig(dg.Config):
    """Options of a rollback."""

    to: str | None = None
    dry_run: bool = False


def build_rollback_job(suite: Suite, alias: str, prefix: Sequence[str] = ()) -> dg.JobDefinition:
    """The job ``<suite>_rollback``. It validates nothing: it is for emergencies."""
    writer_key = resource_key(suite.suite, ALIAS_WRITER)
    key = asset_key(suite.suite, PROMOTED_ALIAS, prefix)

    @dg.op(name=f"{suite.suite}__roll_back", required_resource_keys={writer_key})
    def roll_back(context: dg.OpExecutionContext, config: RollbackConfig) -> None:
        last = last_change(context.instance, key, alias)
        with reading_the_world(), getattr(context.resources, writer_key).open_for(resolve_suite(suite).qdrant) as book:
            now = book.target(alias)
            refuse(alias, reasons_to_stay(last, now, to=config.to))
            target = config.to or (last.previous if last else "")
            moves = target != now and not config.dry_run
            must_exist(book, target)
            if moves:
                book.move(alias, expected=str(now), to=target)
        change = AliasChange("rollback", alias, target, previous=str(now), moved=moves, dry_run=config.dry_run)
        context.log_event(dg.AssetMaterialization(key, metadata=change.metadata()))

    @dg.job(
        name=rollback_job_name(suite.suite),
        executor_def=dg.in_process_executor,
        description=f"Point the alias {alias} back to the collection that was live before the last promotion.",
    )
    def rollback() -> None:
        roll_back()

    return rollback


def reasons_to_stay(last: AliasChange | None, now: str | None, *, to: str | None) -> list[str]:
    """Why an alias that points to ``now`` may not be moved back; a collection named explicitly needs no record."""
    if now is None:
        return ["there is no such alias"]
    if to is not None:
        return []
    if last is None:
        return ["no promotion of it is recorded. Name the collection in the run's config: to"]
    if last.kind == "rollback":
        return ["its last change was a rollback itself. Name the collection in the run's config: to"]
    if now != last.collection:
        return [
            f"it points to {now}, and {last.collection} was promoted: somebody else moved it. Name one in config: to"
        ]
    return []


def must_exist(aliases: Aliases, collection: str) -> None:
    """Raise SystemFailure if there is no such collection, with similar names."""
    names = aliases.collections()
    if collection not in names:
        raise SystemFailure(
            f"there is no collection {collection} to point to",
            code="index.collection_missing",
            system="Qdrant",
            subject=collection,
            remedy=did_you_mean(collection, names) or "Ingest it again.",
        )
