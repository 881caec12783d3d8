"""The assets of a promotion: the comparison with its gate, and the alias."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.assets.table import suite_asset
from ragval_pipeline.orchestration.evidence import collection_state, lineage
from ragval_pipeline.orchestration.measuring import reading_the_world
from ragval_pipeline.orchestration.metadata import numbers, short, table
from ragval_pipeline.orchestration.names import VALIDATION_REPORT, asset_key, resource_key
from ragval_pipeline.orchestration.promotion.aliases import ALIAS_WRITER, NO_WORSE, PROMOTED_ALIAS, SIDE_BY_SIDE
from ragval_pipeline.orchestration.promotion.decision import (
    AliasChange,
    Side,
    changed_since,
    reasons_against,
    side_by_side,
)
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.report import ValidationReport

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

    @suite_asset(
        suite,
        SIDE_BY_SIDE,
        prefix=prefix,
        kinds={"qdrant"},
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

    @suite_asset(
        suite,
        PROMOTED_ALIAS,
        prefix=prefix,
        kinds={"qdrant"},
        ins=_reports(suite, live, prefix),
        deps=[asset_key(suite.suite, SIDE_BY_SIDE, prefix)],
        resources=("qdrant", ALIAS_WRITER),
        metadata={"alias": alias},
        description=f"The alias `{alias}`, moved to the candidate if its gates are met. Points are never changed.",
    )
    def promoted_alias(
        context: dg.AssetExecutionContext, config: PromotionConfig, candidate: ValidationReport, live: ValidationReport
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]
        refuse(alias, reasons_against(candidate, live, runs=lineage(context.instance, context.run)))
        resolved = resolve_suite(suite)
        writer = getattr(context.resources, resource_key(suite.suite, ALIAS_WRITER))
        connection = getattr(context.resources, resource_key(suite.suite, "qdrant"))
        with reading_the_world():
            refuse(alias, changed_since(candidate, collection_state(connection, resolved)))
            moves = candidate.collection_name != live.collection_name and not config.dry_run
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
