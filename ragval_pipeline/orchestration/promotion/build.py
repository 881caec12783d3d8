"""The definitions of a promotion: both validations, their comparison, the alias, and the jobs that move it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.errors import SuiteError, SystemFailure
from ragval_pipeline.measuring.connections import open_reader
from ragval_pipeline.measuring.names import VALIDATION_REPORT
from ragval_pipeline.measuring.place import RunPlace
from ragval_pipeline.measuring.table import ASSETS, CODE_VERSION
from ragval_pipeline.orchestration.build import build_validation_defs
from ragval_pipeline.orchestration.failures import reading_the_world
from ragval_pipeline.orchestration.metadata import numbers, short, table
from ragval_pipeline.orchestration.names import SUITE_TAG, asset_key, pool_name, prefix_parts, resource_key
from ragval_pipeline.orchestration.promotion.aliases import Aliases, AliasWriter
from ragval_pipeline.orchestration.promotion.decision import (
    AliasChange,
    Side,
    changed_since,
    last_change,
    reasons_against,
    side_by_side,
)
from ragval_pipeline.orchestration.run_place import run_place
from ragval_pipeline.rules.index.collection_missing import RULE as COLLECTION_MISSING
from ragval_pipeline.sources.history import SNAPSHOT
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.sameness import compare_points
from ragval_pipeline.suite.gates import gates_of
from ragval_pipeline.suite.load import resolve_suite, variant_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.text.printing import did_you_mean
from ragval_pipeline.validation.report import ValidationReport

SIDE_BY_SIDE = "side_by_side"
PROMOTED_ALIAS = "promoted_alias"
NO_WORSE = "no_worse_than_live"
ALIAS_WRITER = "alias_writer"
#: Dagster's executors that run every step in its own process on one machine.
_MANY_PROCESSES = frozenset({"multiprocess", "multi_or_in_process_executor"})
_COLUMNS = ("criterion", "live", "candidate", "change", "gate", "required", "worse")


class PromotionConfig(dg.Config):
    """Options of a promotion run."""

    dry_run: bool = False


def build_side_by_side(suite: Suite, live: Suite, prefix: Sequence[str]) -> dg.AssetsDefinition:
    """The comparison; its blocking check rejects a candidate that is worse than the live collection."""
    key = asset_key(suite.suite, SIDE_BY_SIDE, prefix)
    text = (
        "No required criterion of the candidate is below that of the live collection by more than the tolerated drop."
    )

    @dg.asset(
        key=key,
        group_name=suite.suite,
        kinds={"python", "qdrant"},
        code_version=CODE_VERSION,
        tags={"ragval/suite": suite.suite},
        ins=_reports(suite, live, prefix),
        check_specs=[dg.AssetCheckSpec(NO_WORSE, asset=key, blocking=True, description=text)],
        description="The candidate compared with the live collection, criterion by criterion.",
    )
    def compared(candidate: ValidationReport, live: ValidationReport) -> dg.MaterializeResult:  # type: ignore[type-arg]
        tolerated = resolve_suite(suite).history.tolerated_drop
        sides = side_by_side(candidate, live, tolerated_drop=tolerated)
        metadata: dict[str, Any] = {
            "candidate": dg.MetadataValue.text(f"{candidate.collection_name}: {candidate.verdict}"),
            "live": dg.MetadataValue.text(f"{live.collection_name}: {live.verdict}"),
            "criteria": table(_rows(sides), _COLUMNS),
            **numbers({f"{side.criterion}_change": side.change for side in sides}),
        }
        return dg.MaterializeResult(metadata=metadata, check_results=[_no_worse(sides, tolerated)])

    return compared


def build_promoted_alias(suite: Suite, live: Suite, alias: str, prefix: Sequence[str]) -> dg.AssetsDefinition:
    """The alias; materialising it moves it to the validated candidate."""

    @dg.asset(
        key=asset_key(suite.suite, PROMOTED_ALIAS, prefix),
        group_name=suite.suite,
        kinds={"python", "qdrant"},
        code_version=CODE_VERSION,
        tags={"ragval/suite": suite.suite},
        ins=_reports(suite, live, prefix),
        deps=[asset_key(suite.suite, SIDE_BY_SIDE, prefix)],
        required_resource_keys={resource_key(suite.suite, name) for name in ("qdrant", ALIAS_WRITER)},
        pool=pool_name(suite),
        metadata={"alias": alias},
        description=f"The alias `{alias}`, moved to the candidate if its gates are met. Points are never changed.",
    )
    def promoted_alias(
        context: dg.AssetExecutionContext, config: PromotionConfig, candidate: ValidationReport, live: ValidationReport
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]
        refuse(alias, reasons_against(candidate, live, run_id=context.run.run_id))
        resolved = resolve_suite(suite)
        writer = getattr(context.resources, resource_key(suite.suite, ALIAS_WRITER))
        connection = getattr(context.resources, resource_key(suite.suite, "qdrant"))
        with reading_the_world():
            moves = candidate.collection_name != live.collection_name and not config.dry_run
            with open_reader(connection, resolved) as reader:
                differences = compare_points(reader, _snapshot(run_place(context, resolved)))
            refuse(alias, changed_since(candidate, differences))
            if moves:
                with writer.open_for(resolved.qdrant) as aliases:
                    aliases.move(alias, expected=live.collection_name, to=candidate.collection_name)
        change = AliasChange(
            "promotion",
            alias,
            collection=candidate.collection_name,
            previous=live.collection_name,
            moved=moves,
            dry_run=config.dry_run,
        )
        context.log.info("%s: %s -> %s (moved: %s)", alias, change.previous, change.collection, change.moved)
        return dg.MaterializeResult(metadata=change.metadata())

    return promoted_alias


def _snapshot(place: RunPlace) -> SnapshotManifest:
    """What this run has read of the candidate."""
    return SnapshotManifest.model_validate_json((place.folder / "evidence" / SNAPSHOT).read_bytes())


def refuse(alias: str, reasons: Sequence[str]) -> None:
    """Fail the step if there is a reason not to move the alias."""
    if reasons:
        raise dg.Failure(f"the alias {alias} was not moved: {'; '.join(reasons)}", allow_retries=False)


def _reports(suite: Suite, live: Suite, prefix: Sequence[str]) -> dict[str, dg.AssetIn]:
    sides = {"candidate": suite, "live": live}
    return {side: dg.AssetIn(asset_key(of.suite, VALIDATION_REPORT, prefix)) for side, of in sides.items()}


def _no_worse(sides: Sequence[Side], tolerated: float) -> dg.AssetCheckResult:
    worse = [side for side in sides if side.worse]
    names = ", ".join(f"{side.criterion} {side.live:.3f} -> {side.candidate:.3f}" for side in worse)
    return dg.AssetCheckResult(
        check_name=NO_WORSE,
        passed=not worse,
        severity=dg.AssetCheckSeverity.ERROR,
        description=names or f"no required criterion falls by more than {tolerated:g}",
        metadata={"worse_criteria": len(worse), "tolerated_drop": tolerated, "worse": table(_rows(worse), _COLUMNS)},
    )


def _rows(sides: Sequence[Side]) -> Iterator[dict[str, Any]]:
    for side in sides:
        yield {
            "criterion": side.criterion,
            "live": short(side.live),
            "candidate": short(side.candidate),
            "change": short(side.change),
            "gate": short(side.threshold),
            "required": side.required,
            "worse": side.worse,
        }


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

    ``suite`` is that of the candidate: its collection is the new one, or an alias for it. ``alias_writer`` is an
    ``AliasWriter``, or anything with its ``open_for``; None: the suite's Qdrant without a key. ``upstream`` and
    ``declarative`` are for the candidate, everything else is as for ``build_validation_defs``, for both sides.

    Returns:
        Definitions of the suite, of ``<suite>_live``, and of the promotion.

    Raises:
        SuiteError: The candidate is the alias itself, or as ``build_validation_defs``.
    """
    live = live_suite(suite, alias)
    if suite.qdrant.path is not None and executor is not None and executor.name in _MANY_PROCESSES:
        raise SuiteError(
            "an embedded Qdrant (qdrant.path) can be opened by only one process at a time, and this executor validates "
            "candidate and live collection in two",
            key="executor",
            remedy="Use in_process, or a Qdrant server.",
        )
    given = {"resources": resources, "executor": executor, "io_manager": io_manager, "key_prefix": key_prefix}
    prefix = prefix_parts(key_prefix)
    names = [asset_key(side.suite, name, prefix) for side in (suite, live) for name in ASSETS]
    own = [build_side_by_side(suite, live, prefix), build_promoted_alias(suite, live, alias, prefix)]
    job = dg.define_asset_job(
        f"{suite.suite}_promotion",
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
        SuiteError: The candidate is the alias itself, or a file of points, or has partitions.
    """
    if candidate.partitions is not None:
        raise SuiteError(
            "a suite with partitions has no single alias to promote",
            key="partitions",
            remedy="Promote each collection by a suite of its own.",
        )
    if candidate.points is not None:
        raise SuiteError(
            "a file of points has no alias to promote",
            key="points",
            remedy="Upsert the points into a collection, and promote that.",
        )
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
        name=f"{suite.suite}_rollback",
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
            code=COLLECTION_MISSING.code,
            system="Qdrant",
            subject=collection,
            remedy=did_you_mean(collection, names) or "Ingest it again.",
        )
