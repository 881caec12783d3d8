"""The one place that makes findings, and what is done to lists of them: merging, re-grading and ordering by cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE, FindingType
from ragval_pipeline.findings.model import SEVERITIES, Finding, Severity, Subject


def make_finding(
    code: str,
    subjects: Iterable[Subject | str] = (),
    *,
    scope: str | None = None,
    details: Mapping[str, Any] | None = None,
    message: str | None = None,
    cause: str | None = None,
    remedy: str | None = None,
    looked_at: int | None = None,
) -> Finding:
    """Make the finding of one code in one scope.

    Args:
        code: Code of the catalogue.
        subjects: What it holds for; sorted by name here, the first of equal names wins.
        scope: Field, module or metric, or None.
        details: Facts about the finding as a whole, JSON values only.
        message: Sentence that replaces the catalogue's.
        cause: Sentence that replaces the catalogue's.
        remedy: Sentence that replaces the catalogue's.
        looked_at: Subjects among which these were found, where that is a sample.

    Returns:
        The finding with the catalogue's severity.

    Raises:
        KeyError: The code is not in the catalogue.
    """
    row = CATALOGUE[code]
    unique = _unique(subjects)
    return Finding(
        code=code,
        severity=row.severity,
        scope=scope,
        subject_kind=row.subject_kind,
        subjects=unique,
        details=dict(details or {}),
        message=message or _message(row, unique, scope),
        cause=cause or row.cause,
        remedy=remedy or row.remedy,
        looked_at=looked_at,
    )


def merge_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings of the same code and scope, as partial results of slices have them, keeping first-seen order."""
    merged: dict[tuple[str, str | None], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.scope)
        known = merged.get(key)
        merged[key] = finding if known is None else _union(known, finding)
    return list(merged.values())


def grade_findings(findings: Iterable[Finding], severities: Mapping[str, Severity | str]) -> list[Finding]:
    """Apply the suite's ``severity`` setting: re-grade codes and drop those that are ``off``."""
    graded = []
    for finding in findings:
        severity = severities.get(finding.code, finding.severity)
        if severity != "off":
            graded.append(finding.model_copy(update={"severity": severity}))
    return graded


def _unique(subjects: Iterable[Subject | str]) -> tuple[Subject, ...]:
    by_name: dict[str, Subject] = {}
    for subject in subjects:
        entry = Subject(name=subject) if isinstance(subject, str) else subject
        by_name.setdefault(entry.name, entry)
    return tuple(by_name[name] for name in sorted(by_name))


def _message(row: FindingType, subjects: tuple[Subject, ...], scope: str | None) -> str:
    about = f": {scope}" if scope else ""
    if len(subjects) > 1:
        return f"{len(subjects):,} {kind_of(row, len(subjects))} {row.many}{about}."
    if subjects and row.subject_kind == "point":  # its id says nothing to a reader, and is in the list
        return f"1 point {row.means}{about}."
    named = f" {subjects[0].name}" if subjects else ""
    return f"The {row.subject_kind}{named} {row.means}{about}."


def kind_of(row: FindingType, count: int) -> str:
    """What the subjects of a row are, in the number that ``count`` asks for: query, queries."""
    kind = row.subject_kind
    if count == 1:
        return kind
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def _union(first: Finding, second: Finding) -> Finding:
    if {subject.name for subject in second.subjects} <= {subject.name for subject in first.subjects}:
        return first  # the same thing seen twice, such as one server asked by two assets: its own words stand
    return make_finding(
        first.code,
        (*first.subjects, *second.subjects),
        scope=first.scope,
        details={**second.details, **first.details},
        cause=first.cause,
        remedy=first.remedy,
        looked_at=first.looked_at,
    ).model_copy(update={"severity": first.severity})


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

    A warning stands before an error only where the error, or one right behind it, follows from it. Of one severity,
    what a finding follows from is placed right before it, and what follows from it as a whole right after it.
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
    return _errors_first(ordered)


def _errors_first(ordered: Sequence[Finding]) -> list[Finding]:
    """Of what no cause is still missing for, the gravest, then what leads to the gravest, else as it stands."""
    needs: list[set[int]] = []
    for index, finding in enumerate(ordered):
        codes = {*_causes(finding), finding.because}
        needs.append({before for before in range(index) if ordered[before].code in codes})
    own = [SEVERITIES.index(finding.severity) for finding in ordered]
    leads_to = list(own)
    for index in reversed(range(len(ordered))):
        for cause in needs[index]:
            leads_to[cause] = min(leads_to[cause], leads_to[index])
    left, placed = set(range(len(ordered))), []
    while left:
        ready = [index for index in sorted(left) if needs[index].isdisjoint(left)]
        placed.append(min(ready, key=lambda index: (own[index], leads_to[index])))
        left.remove(placed[-1])
    return [ordered[index] for index in placed]


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
