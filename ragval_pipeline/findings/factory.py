"""The one place that makes findings, and operations on lists of them: merging, re-grading, ordering by cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE, ORDER
from ragval_pipeline.findings.model import REPORTED_SUBJECTS, Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import SEVERITIES, Rule, Severity

#: Maximum entries of a list in the details of a finding or a subject.
SHOWN = 20
#: The same for a list that is read as a whole: chunk numbers, points, values of a field.
LISTED = REPORTED_SUBJECTS
#: Maximum names listed in a sentence.
NAMED = 3
#: Maximum characters quoted of a text.
QUOTED = 80
#: Maximum characters of a passage or a message shown as a whole.
PASSAGE = 400


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
        subjects: Its subjects; sorted by name here; of equal names the first wins.
        scope: Field, module or metric, or None.
        details: Facts about the finding as a whole, JSON values only.
        message: Replaces the catalogue's sentence.
        cause: Replaces the catalogue's sentence.
        remedy: Replaces the catalogue's sentence.
        looked_at: Number of subjects examined, if that is a sample.

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
    """Merge findings of the same code and scope from partial results, keeping first-seen order."""
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


def _message(row: Rule, subjects: tuple[Subject, ...], scope: str | None) -> str:
    about, kind = f": {scope}" if scope else "", row.subject_kind
    if len(subjects) > 1:
        kinds = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
        return f"{len(subjects):,} {kinds} {row.many}{about}."
    if subjects and kind == "point":  # its id means nothing to a reader, and is in the list
        return f"1 point {row.means}{about}."
    named = f" {subjects[0].name}" if subjects else ""
    return f"The {kind}{named} {row.means}{about}."


def _union(first: Finding, second: Finding) -> Finding:
    if {subject.name for subject in second.subjects} <= {subject.name for subject in first.subjects}:
        return first  # the same thing seen twice, such as one server called by two assets: keep its wording
    return make_finding(
        first.code,
        (*first.subjects, *second.subjects),
        scope=first.scope,
        details={**second.details, **first.details},
        cause=first.cause,
        remedy=first.remedy,
        looked_at=first.looked_at,
    ).model_copy(update={"severity": first.severity})


#: Kinds of subjects without content: they count as much as the queries that they name.
_NO_CONTENT = frozenset({"setting", "metric", "module"})


@dataclass(frozen=True)
class Totals:
    """Number of pages in scope, points in the collection and queries in the suite; 0 if unknown."""

    pages: int = 0
    points: int = 0
    queries: int = 0


def with_shares(findings: Iterable[Finding], totals: Totals) -> list[Finding]:
    """Set how much of the index, or of the queries, each finding affects, and how much it touches.

    It is the sum of its subjects' extents, or their number, divided by the total: pages of the site (for a host, its
    own pages and those missing because of it), points of the collection, queries of the suite, the log's traffic. A
    collection, system or field counts as everything, as does a setting of every search, a setting or metric else as
    the queries that it names. ``None``: the total is not known.
    """
    return [
        finding.model_copy(
            update={
                "share": _share(finding, sum(subject.extent for subject in finding.subjects), totals),
                "reach": _share(finding, finding.count, totals),
            }
        )
        for finding in findings
    ]


def order_findings(
    findings: Iterable[Finding], concern: Callable[[Finding], float | None] = attrgetter("asked")
) -> list[Finding]:
    """Errors first, what most readers meet first, and every cause before what follows from it.

    Readers meet a finding by the share of the real questions that it concerns, which ``concern`` tells, without a log
    by its share of the index.

    A cause takes the place of its first consequence, but a warning comes before an error only if the error follows from
    it. With a log, a cause of a part of a finding takes the place that this part alone would have: the rest may concern
    more questions. Within a severity, a finding that follows entirely from another comes right after it.
    """
    found = list(findings)
    leads_to = {id(finding): _rank(finding, concern(finding)) for finding in found}
    left = sorted(found, key=lambda finding: leads_to[id(finding)])
    before: dict[int, list[Finding]] = {id(finding): [] for finding in found}
    for finding, parts in [(finding, _parts(finding)) for finding in found]:
        for cause in (other for other in left if other.code in parts):
            if finding.because is None and finding.asked is not None:
                rank = _rank(finding, parts[cause.code] * finding.asked)
                leads_to[id(cause)] = min(leads_to[id(cause)], rank)
            else:
                before[id(finding)].append(cause)

    def lead(finding: Finding) -> None:
        for cause in before[id(finding)]:
            if leads_to[id(finding)] < leads_to[id(cause)]:
                leads_to[id(cause)] = leads_to[id(finding)]
                lead(cause)

    for finding in found:
        lead(finding)
    ordered: list[Finding] = []
    placed: dict[str, int] = {}
    while left:
        waiting = {id(finding) for finding in left}
        ready = [finding for finding in left if waiting.isdisjoint(map(id, before[id(finding)]))]
        following = min(
            ready or left,  # two that cause each other
            key=lambda finding: (
                SEVERITIES.index(finding.severity),
                -placed.get(finding.because or "", -1),
                leads_to[id(finding)],
            ),
        )
        placed[following.code] = len(ordered)
        ordered.append(following)
        left = [finding for finding in left if finding is not following]
    return ordered


def _rank(finding: Finding, concern: float | None) -> tuple[int, float, float, int, str]:
    severity, share = SEVERITIES.index(finding.severity), finding.share or 0.0
    return (
        severity,
        -(share if concern is None else concern),
        -share,
        ORDER[finding.code],
        finding.scope or "",
    )


def _parts(finding: Finding) -> dict[str, float]:
    """The share of a finding's subjects that follow from each other code, 0..1."""
    named = Counter(subject.because for subject in finding.subjects)
    parts = {code: count / finding.count for code, count in named.items() if code not in {None, finding.code}}
    return {**({finding.because: 1.0} if finding.because else {}), **parts}


def _share(finding: Finding, affected: float, totals: Totals) -> float | None:
    kind = finding.subject_kind
    if kind == "host":
        affected, total = sum(len(subject.pages) for subject in finding.subjects), totals.pages
    elif kind in _NO_CONTENT and Aspect.SPACE not in CATALOGUE[finding.code].breaks:
        affected, total = len({name for entry in finding.subjects for name in entry.queries}), totals.queries
    else:
        total = {"page": totals.pages, "point": totals.points, "query": totals.queries}.get(kind, 1)
        # The extent of a real question is its share of the traffic.
        affected = affected if kind in {"page", "point", "query", "question"} else 1
    if finding.looked_at is not None:
        total = finding.looked_at
    return min(affected / total, 1.0) if total else None
