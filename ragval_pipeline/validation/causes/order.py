"""The order of findings: causes before consequences. What does not live here: what follows from what."""

from __future__ import annotations

from collections.abc import Iterable

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding

_SEVERITY_ORDER = {"error": 0, "warning": 1, "info": 2}
_CATALOGUE_ORDER = {code: index for index, code in enumerate(CATALOGUE)}


def order_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first, causes before consequences, then in the order of the catalogue.

    A cause stands where its gravest consequence would: a warning that explains an error comes with the errors.
    """
    known = list(findings)
    gravest: dict[str, int] = {}
    for finding in known:
        if finding.because is not None:
            severity = _SEVERITY_ORDER[finding.severity]
            gravest[finding.because] = min(severity, gravest.get(finding.because, severity))
    ordered = sorted(known, key=lambda finding: _rank(finding, gravest.get(finding.code)))
    by_cause: dict[str, list[Finding]] = {}
    codes = {finding.code for finding in ordered}
    for finding in ordered:
        if finding.because in codes:
            by_cause.setdefault(str(finding.because), []).append(finding)
    placed: list[Finding] = []
    waiting = [finding for finding in ordered if finding.because not in codes]
    while waiting:
        finding = waiting.pop(0)
        placed.append(finding)
        if all(other.code != finding.code for other in waiting):
            waiting = by_cause.pop(finding.code, []) + waiting
    return placed + [finding for group in by_cause.values() for finding in group]


def _rank(finding: Finding, gravest: int | None) -> tuple[int, int, str]:
    severity = _SEVERITY_ORDER[finding.severity]
    grade = severity if gravest is None else min(severity, gravest)
    return (grade, _CATALOGUE_ORDER[finding.code], finding.scope or "")
