"""The job that moves an alias back to what was live before. It validates nothing: it is for emergencies."""

from collections.abc import Sequence

import dagster as dg

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.orchestration.measuring import reading_the_world
from ragval_pipeline.orchestration.names import asset_key, resource_key
from ragval_pipeline.orchestration.promotion.aliases import ALIAS_WRITER, PROMOTED_ALIAS, Aliases, rollback_job_name
from ragval_pipeline.orchestration.promotion.assets import refuse
from ragval_pipeline.orchestration.promotion.decision import AliasChange, last_change
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.printing import did_you_mean


class RollbackConfig(dg.Config):
    """What a person may choose when rolling back."""

    to: str | None = None
    dry_run: bool = False


def build_rollback_job(suite: Suite, alias: str, prefix: Sequence[str] = ()) -> dg.JobDefinition:
    """The job ``<suite>_rollback``."""
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
        description=f"Points the alias {alias} back to the collection that was live before the last promotion.",
    )
    def rollback() -> None:
        roll_back()

    return rollback


def reasons_to_stay(last: AliasChange | None, now: str | None, *, to: str | None) -> list[str]:
    """Why an alias may not be moved back.

    Args:
        last: The last change that is known.
        now: Where the alias points; None when there is no such alias.
        to: The collection that a person named, which needs no record.
    """
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
    """Raise SystemFailure when there is no such collection, naming the nearest."""
    names = aliases.collections()
    if collection not in names:
        raise SystemFailure(
            f"there is no collection {collection} to point to",
            code="index.collection_missing",
            system="Qdrant",
            subject=collection,
            remedy=did_you_mean(collection, names) or "Ingest it again.",
        )
