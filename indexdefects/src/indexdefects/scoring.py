"""What a tool's answer on a world is worth, from the truth alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexdefects.addresses import folded
from indexdefects.advice import Outcome
from indexdefects.defects.registry import TIERS
from indexdefects.tools import Tool

ALARMS = ("error", "warning")


@dataclass(frozen=True)
class Score:
    """One tool on one world.

    Attributes:
        tool: Name of the tool.
        world: Name of the world.
        family: What is wrong in it.
        made: ``ingestion``, ``edit`` or ``clean``.
        ugly: Of a clean world: an unusual one.
        share: ``one``, ``tenth`` or ``half``.
        seed: Its seed.
        corpus: Its corpus.
        recipe: Its recipe.
        tier: What the tool was given.
        in_scope: Whether the tool's adapter maps a code to the family, and the tier is enough to tell it.
        detected: Whether a finding names the family, with at least one right subject or none at all.
        precision: Right subjects of those named, 0..1; None out of scope.
        recall: Subjects named, 0..1; None out of scope.
        f1: Their harmonic mean; None out of scope.
        first: Whether the first error or warning names the family; None out of scope.
        alarms: Errors and warnings.
        codes: Their codes, in order.
        advised: Whether there was advice to carry out.
        removed: Whether the defect was gone after it; None without advice.
        lost: Right chunks that the advice lost.
        cpu_seconds: CPU time of the tool.
        embedding_calls: Calls of the embedder.
        error: Why the tool did not answer.
    """

    tool: str
    world: str
    family: str
    made: str
    ugly: bool
    share: str
    seed: int
    corpus: str
    recipe: str
    tier: str
    in_scope: bool
    detected: bool
    precision: float | None
    recall: float | None
    f1: float | None
    first: bool | None
    alarms: int
    codes: str
    advised: bool
    removed: bool | None
    lost: int
    cpu_seconds: float
    embedding_calls: int
    error: str


def subjects_of(found: Mapping[str, Any], unit: str, pages_of_points: Mapping[str, str]) -> set[str]:
    """What a finding names, in the family's unit: points stand for their page, a page for all its points."""
    points, pages = found.get("points", ()), {folded(url) for url in found.get("pages", ())}
    if unit == "page":
        return pages | {folded(pages_of_points[point]) for point in points if point in pages_of_points}
    return {*points, *(point for point, url in pages_of_points.items() if folded(url) in pages)}


def f1_of(named: Collection[str], right: Collection[str], also: Collection[str] = ()) -> tuple[float, float, float]:
    """Precision, recall and F1 of named subjects; those of ``also`` count neither for nor against."""
    counted = set(named) - (set(also) - set(right))
    hits = len(counted & set(right))
    precision = hits / len(counted) if counted else 0.0
    recall = hits / len(right) if right else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


def score(tool: Tool, tier: str, truth: Mapping[str, Any], answer: Mapping[str, Any], outcome: Outcome) -> Score:
    """The score of a tool's answer."""
    findings = [found for found in answer.get("findings", ()) if found["severity"] in ALARMS]
    family, unit = truth["family"], truth["unit"]
    named = [found for found in findings if family in tool.names.get(found["code"], ())]
    clean = truth["made"] == "clean"
    in_scope = not clean and family in tool.claims and TIERS.index(truth["tier"]) <= TIERS.index(tier)
    right, also = _in_unit(truth["subjects"], unit), _in_unit(truth["also"], unit)
    told = set().union(*(subjects_of(found, unit, truth["pages_of_points"]) for found in named))
    told = {truth["same"].get(name, name) for name in told}
    precision, recall, f1 = f1_of(told, right, also)
    return Score(
        tool=tool.name,
        world=truth["world"],
        **{name: truth[name] for name in ("family", "made", "ugly", "share", "seed", "corpus", "recipe")},
        tier=tier,
        in_scope=in_scope,
        detected=bool(named) and (not told or bool(told & right)),
        precision=precision if in_scope else None,
        recall=recall if in_scope else None,
        f1=f1 if in_scope else None,
        first=_first(findings, named) if in_scope else None,
        alarms=len(findings),
        codes=" ".join(found["code"] + (">" if found.get("follows") else "") for found in findings),
        advised=outcome.advised,
        removed=outcome.removed if outcome.advised else None,
        lost=outcome.lost,
        cpu_seconds=float(answer.get("cpu_seconds", 0.0)),
        embedding_calls=int(answer.get("embedding_calls") or 0),
        error=str(answer.get("error") or ""),
    )


def _in_unit(names: Iterable[str], unit: str) -> set[str]:
    return set(map(folded, names)) if unit == "page" else set(names)


def _first(findings: Sequence[Mapping[str, Any]], named: Sequence[Mapping[str, Any]]) -> bool:
    return bool(findings) and any(found is findings[0] for found in named)
