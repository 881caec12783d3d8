"""Whether a candidate may take the place of what is live, and what is remembered of each change of an alias."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import dagster as dg

from ragval_pipeline.validation.report import ValidationReport

#: Two values this close are the same.
SAME = 1e-9


@dataclass(frozen=True)
class Side:
    """One criterion on both sides.

    Attributes:
        criterion: Its name.
        live: Value of what is live; None when it was not measured.
        candidate: Value of the candidate; None when it was not measured.
        threshold: The gate, or None.
        required: Whether the candidate's suite requires it.
        worse: Whether the candidate lies further behind than is tolerated.
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
    """Every criterion that one of both measured, in report order.

    Worse is a required criterion that falls by more than ``tolerated_drop``. Those that fall as they get better
    (latency, findings) have units of their own and are held to their gates alone.
    """
    sides = []
    for result in candidate.criteria:
        before = next((entry.value for entry in live.criteria if entry.name == result.name), None)
        if result.value is None and before is None:
            continue
        drop = 0.0 if result.value is None or before is None else before - result.value
        worse = result.required and result.operator == ">=" and drop > tolerated_drop + SAME
        sides.append(Side(result.name, before, result.value, result.threshold, result.required, worse))
    return sides


def reasons_against(candidate: ValidationReport, live: ValidationReport, *, runs: Collection[str]) -> list[str]:
    """Why the two reports do not allow a promotion; empty when they do."""
    reasons = []
    for name, report in (("candidate", candidate), ("live collection", live)):
        if report.run_id not in runs:
            reasons.append(f"the {name} was validated by another run ({report.run_id[:8]}) and may have changed")
    if candidate.verdict != "pass":
        failed = [result.name for result in candidate.criteria if result.gate_fails]
        reasons.append(f"the candidate's verdict is {candidate.verdict} ({', '.join(failed) or 'see its report'})")
    skipped = [result.name for result in candidate.criteria if result.required and result.reason_code == "not_selected"]
    if skipped:
        reasons.append(f"the candidate was validated only in part: {', '.join(skipped)} not selected")
    return reasons


def changed_since(candidate: ValidationReport, state: str) -> list[str]:
    """Why the candidate is no longer what was validated; empty when it is.

    Args:
        candidate: Its report.
        state: Fingerprint of the collection that the suite names now: an alias may have moved on.
    """
    if candidate.index.get("fingerprint") == state:
        return []
    return [f"{candidate.collection_name} was validated, but the suite's collection has changed since then"]


#: Materialisations that are looked through for the last change: dry runs stand between.
_LOOKED_AT = 100


@dataclass(frozen=True)
class AliasChange:
    """A change of an alias, or what would have been one.

    Attributes:
        kind: Promotion or rollback.
        alias: The alias.
        collection: The collection that it points to afterwards.
        previous: The collection that it pointed to before.
        moved: False for a dry run, and when it pointed there already.
        dry_run: Whether only the decision was wanted.
    """

    kind: Literal["promotion", "rollback"]
    alias: str
    collection: str
    previous: str
    moved: bool
    dry_run: bool = False

    def metadata(self) -> dict[str, dg.MetadataValue]:
        """The change as the UI shows it, and as ``last_change`` reads it."""
        return {
            "kind": dg.MetadataValue.text(self.kind),
            "alias": dg.MetadataValue.text(self.alias),
            "collection": dg.MetadataValue.text(self.collection),
            "previous_collection": dg.MetadataValue.text(self.previous),
            "moved": dg.MetadataValue.bool(self.moved),
            "dry_run": dg.MetadataValue.bool(self.dry_run),
        }


def last_change(instance: dg.DagsterInstance, key: dg.AssetKey, alias: str) -> AliasChange | None:
    """The last change of ``alias`` that this instance knows of; None when there is none."""
    for record in instance.fetch_materializations(key, limit=_LOOKED_AT).records:
        event = record.asset_materialization
        if event is None:
            continue
        known = {name: value.value for name, value in event.metadata.items()}
        if known.get("moved") is True and known.get("alias") == alias:
            kind: Literal["promotion", "rollback"] = "rollback" if known["kind"] == "rollback" else "promotion"
            return AliasChange(kind, alias, str(known["collection"]), str(known["previous_collection"]), moved=True)
    return None
