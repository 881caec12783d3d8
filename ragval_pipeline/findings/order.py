"""How much a finding costs the reader, and the order that follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import SEVERITIES, Finding

_ORDER = {code: place for place, code in enumerate(CATALOGUE)}
#: Kinds of subjects that hold no content: they cost what the queries cost that they name.
_NO_CONTENT = frozenset({"setting", "metric", "module"})


@dataclass(frozen=True)
class Totals:
    """How many pages are in scope, points in the collection and queries in the suite; 0 where it is not known."""

    pages: int = 0
    points: int = 0
    queries: int = 0


def with_shares(findings: Iterable[Finding], totals: Totals) -> list[Finding]:
    """Set the share of the index, or of the queries, that each finding affects.

    It is the sum of the extents of its subjects over all that there are: pages of the site (of a host, those it holds
    and those missing for it), points of the collection, queries of the suite. What is about a whole collection, system
    or field is all of it, a setting or metric as much as the queries that it names. ``None``: the total is not known.
    """
    return [finding.model_copy(update={"share": _share(finding, totals)}) for finding in findings]


def order_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first, the largest share first, and every cause before what follows from it, as a whole or in part.

    A finding takes its place by its own severity and share. What it follows from is placed right before it, where it
    is not yet; what follows from it as a whole comes right after it.
    """
    ranked = sorted(findings, key=_rank)
    by_code: dict[str, list[Finding]] = {}
    below: dict[str, list[Finding]] = {}
    for finding in ranked:
        by_code.setdefault(finding.code, []).append(finding)
        if finding.because is not None:
            below.setdefault(finding.because, []).append(finding)
    begun: set[int] = set()
    ordered: list[Finding] = []

    def place(finding: Finding) -> None:
        # With the cause of it all comes what follows from that, this finding too.
        place_all([cause for cause in by_code.get(finding.because or "", ()) if id(cause) not in begun])
        if id(finding) in begun:
            return
        begun.add(id(finding))
        for cause in _causes(finding):
            place_all(by_code.get(cause, ()))
        ordered.append(finding)
        if all(id(same) in begun for same in by_code[finding.code]):
            place_all(below.get(finding.code, ()))

    def place_all(some: Sequence[Finding]) -> None:
        for finding in some:
            place(finding)

    place_all(ranked)
    return ordered


def _rank(finding: Finding) -> tuple[int, float, int, str]:
    severity = SEVERITIES.index(finding.severity)
    return severity, -(finding.share or 0.0), _ORDER[finding.code], finding.scope or ""


def _causes(finding: Finding) -> list[str]:
    """Codes that subjects of a finding follow from, in the order of the catalogue."""
    named = {str(subject.details["because"]) for subject in finding.subjects if "because" in subject.details}
    return sorted(named, key=_ORDER.__getitem__)


def _share(finding: Finding, totals: Totals) -> float | None:
    kind = finding.subject_kind
    if kind == "host":
        affected, total = float(sum(len(subject.pages) for subject in finding.subjects)), totals.pages
    elif kind in _NO_CONTENT:
        affected, total = float(len({name for entry in finding.subjects for name in entry.queries})), totals.queries
    else:
        affected = sum(subject.extent for subject in finding.subjects)
        total = {"page": totals.pages, "point": totals.points, "query": totals.queries}.get(kind, 1)
        affected = affected if kind in {"page", "point", "query"} else 1.0
    if finding.looked_at is not None:
        total = finding.looked_at
    return min(affected / total, 1.0) if total else None
