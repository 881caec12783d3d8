"""The order of findings: causes before consequences. What does not live here: what follows from what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding

_SEVERITY_ORDER = {"error": 0, "warning": 1, "info": 2}
_CATALOGUE_ORDER = {code: index for index, code in enumerate(CATALOGUE)}


def order_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first, causes before consequences, then in the order of the catalogue.

    A cause stands where its gravest consequence would: a warning that explains an error comes with the errors. What
    explains only some subjects of a finding stands before it where it is as grave; a lesser one does not push back a
    finding that has subjects of its own. What follows from one cause as a whole stands right after it.
    """
    all_findings = list(findings)
    severities: dict[str, int] = {}
    for finding in all_findings:
        severity = _SEVERITY_ORDER[finding.severity]
        severities[finding.code] = min(severity, severities.get(finding.code, severity))
    known = [(finding, _causes(finding, severities)) for finding in all_findings]
    grades = _grades(known, severities)
    waiting = sorted(known, key=lambda entry: _rank(entry[0], grades[entry[0].code]))
    placed: dict[str, int] = {}
    ordered: list[Finding] = []
    while waiting:
        left = {finding.code for finding, _ in waiting}
        # Causes that explain each other, which the table does not allow, would leave none: nothing may get lost by it.
        free = [index for index, (_, causes) in enumerate(waiting) if left.isdisjoint(causes)] or [0]
        # What follows from the cause placed last comes next, what follows from none comes after all that follow.
        chosen, _ = waiting.pop(max(free, key=lambda index: placed.get(waiting[index][0].because or "", -1)))
        placed[chosen.code] = len(ordered)
        ordered.append(chosen)
    return ordered


def _causes(finding: Finding, severities: Mapping[str, int]) -> frozenset[str]:
    """Codes that the finding follows from, and those as grave as itself that some of its subjects follow from."""
    own = _SEVERITY_ORDER[finding.severity]
    some = {str(subject.details.get("because")) for subject in finding.subjects} - {"None"}
    grave = {code for code in some if finding.because is not None or severities.get(code, own) <= own}
    whole = {finding.because} if finding.because is not None else set()
    return frozenset((grave | whole) - {finding.code})


def _grades(known: Sequence[tuple[Finding, frozenset[str]]], severities: Mapping[str, int]) -> dict[str, int]:
    """The gravest severity of each code and of all that follows from it, however far."""
    grades, before = dict(severities), dict[str, int]()
    while grades != before:
        before = dict(grades)
        for finding, causes in known:
            for cause in causes & grades.keys():
                grades[cause] = min(grades[cause], grades[finding.code])
    return grades


def _rank(finding: Finding, gravest: int) -> tuple[int, int, str]:
    severity = _SEVERITY_ORDER[finding.severity]
    return (min(severity, gravest), _CATALOGUE_ORDER[finding.code], finding.scope or "")
