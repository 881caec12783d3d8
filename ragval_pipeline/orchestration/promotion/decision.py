"""Whether a candidate may replace the live collection, and the record of alias changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import dagster as dg

from ragval_pipeline.orchestration.checks import left_out
from ragval_pipeline.sources.snapshot.sameness import Differences
from ragval_pipeline.text.numbers import TOLERANCE
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.report import ValidationReport


@dataclass(frozen=True)
class Side:
    """One criterion on both sides.

    Attributes:
        criterion: Its name.
        live: Value of the live collection; None if not measured.
        candidate: Value of the candidate; None if not measured.
        threshold: The gate, or None.
        required: Whether the candidate's suite requires it.
        worse: Whether the candidate is worse by more than tolerated.
    """

    criterion: str
    live: float | None
    candidate: float | None
    threshold: float | None
    required: bool
    worse: bool

    @property
    def change(self) -> float | None:
        """Candidate minus live; None unless both were measured."""
        return None if self.live is None or self.candidate is None else self.candidate - self.live


def side_by_side(candidate: ValidationReport, live: ValidationReport, *, tolerated_drop: float) -> list[Side]:
    """Every criterion measured on either side, in report order.

    A required criterion is worse if it falls by more than ``tolerated_drop``. Criteria for which lower is better
    (latency, findings) have their own units and are only judged by their gates.
    """
    sides = []
    for result in candidate.criteria:
        before = next((entry.value for entry in live.criteria if entry.name == result.name), None)
        if result.value is None and before is None:
            continue
        drop = 0.0 if result.value is None or before is None else before - result.value
        worse = result.required and result.operator == ">=" and drop > tolerated_drop + TOLERANCE
        sides.append(Side(result.name, before, result.value, result.threshold, result.required, worse))
    return sides


def reasons_against(candidate: ValidationReport, live: ValidationReport, *, run_id: str) -> list[str]:
    """Why the two reports do not allow a promotion; empty if they do."""
    reasons = []
    for name, report in (("candidate", candidate), ("live collection", live)):
        if report.run_id != run_id:
            reasons.append(f"the {name} was validated by another run ({report.run_id[:8]}) and may have changed")
    if candidate.verdict != "pass":
        failed = [result.name for result in candidate.criteria if result.gate_fails]
        reasons.append(f"the candidate's verdict is {candidate.verdict} ({', '.join(failed) or 'see its report'})")
    skipped = [result.name for result in left_out(candidate)]
    if skipped:
        reasons.append(f"the candidate was validated only in part: {', '.join(skipped)} not selected")
    return reasons


def changed_since(candidate: ValidationReport, found: Differences) -> list[str]:
    """Why the candidate is no longer what was validated; empty if it is.

    ``found`` is a comparison of every point of the suite's collection, right before the alias moves.
    """
    name = candidate.collection_name
    if found.moved:
        return [f"{name} was validated, but the suite's collection is {found.collection} now"]
    if found.has_changed:
        what = f"{plural(len(found.points), 'point')} came, went or changed" if found.points else "its settings changed"
        return [f"{name} was validated, but {what} since then"]
    if not found.vectors:
        return [f"no vector of {name} was read by this run, so nothing says that they are the ones to serve"]
    return []


#: Materialisations searched for the last change: there may be dry runs in between.
_LOOKED_AT = 100


@dataclass(frozen=True)
class AliasChange:
    """A change of an alias, real or in a dry run.

    Attributes:
        kind: Promotion or rollback.
        alias: The alias.
        collection: The collection that it points to afterwards.
        previous: The collection that it pointed to before.
        moved: False for a dry run, and if it already pointed there.
        dry_run: Whether only the decision was requested.
    """

    kind: Literal["promotion", "rollback"]
    alias: str
    collection: str
    previous: str
    moved: bool
    dry_run: bool = False

    def metadata(self) -> dict[str, dg.MetadataValue]:
        """The change as metadata for the UI and ``last_change``."""
        return {
            "kind": dg.MetadataValue.text(self.kind),
            "alias": dg.MetadataValue.text(self.alias),
            "collection": dg.MetadataValue.text(self.collection),
            "previous_collection": dg.MetadataValue.text(self.previous),
            "moved": dg.MetadataValue.bool(self.moved),
            "dry_run": dg.MetadataValue.bool(self.dry_run),
        }


def last_change(instance: dg.DagsterInstance, key: dg.AssetKey, alias: str) -> AliasChange | None:
    """The last change of ``alias`` known to this instance; None if there is none."""
    for record in instance.fetch_materializations(key, limit=_LOOKED_AT).records:
        event = record.asset_materialization
        if event is None:
            continue
        known = {name: value.value for name, value in event.metadata.items()}
        if known.get("moved") is True and known.get("alias") == alias:
            kind: Literal["promotion", "rollback"] = "rollback" if known["kind"] == "rollback" else "promotion"
            return AliasChange(kind, alias, str(known["collection"]), str(known["previous_collection"]), moved=True)
    return None
