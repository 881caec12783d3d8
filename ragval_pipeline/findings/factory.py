"""The one place that makes findings, and the two things done to lists of them: merging and re-grading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE, FindingType
from ragval_pipeline.findings.model import Finding, Severity, Subject


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
        scope: Field, module or metric, or null.
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
        return f"{len(subjects)} {kind_of(row, len(subjects))} {row.many}{about}."
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
