"""Which finding follows from which: causes first, consequences after them, each with its ``because``.

What lives here: the table of possible consequences, the test whether a subject really is one, and the order of
findings. What does not: finding anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.retrieval.texts import normalise_name

#: What can follow from what, the likelier cause first. A subject is a consequence only if it touches a page or point
#: of the cause.
CONSEQUENCES: Mapping[str, tuple[str, ...]] = {
    "query.failed": (
        "coverage.foreign_host", "coverage.loopback_host", "coverage.missing_page", "payload.field_map",
        "payload.empty_field", "payload.missing_field", "payload.wrong_type",
    ),
    "retrieval.incomplete_metadata": ("payload.field_map", "payload.missing_field", "payload.empty_field"),
    "chunk.duplicate_index": ("coverage.url_variant",),
}  # fmt: skip

_SEVERITY_ORDER = {"error": 0, "warning": 1, "info": 2}
_CATALOGUE_ORDER = {code: index for index, code in enumerate(CATALOGUE)}


def link_consequences(findings: Sequence[Finding], *, page_modules: Mapping[str, str]) -> list[Finding]:
    """Set ``because`` where every subject of a finding follows from one other finding, and order the findings.

    Args:
        findings: All findings of the run.
        page_modules: Module of each in-scope page by canonical form: a query that only names a module touches them.

    Returns:
        The same findings, errors first, causes before their consequences.
    """
    touched = {finding.code: _touched(finding, page_modules) for finding in findings}
    linked = [_link(finding, touched, page_modules) for finding in findings]
    return order_findings(linked)


def order_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first, causes before consequences, then in the order of the catalogue."""
    ordered = sorted(findings, key=_rank)
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
        waiting = by_cause.pop(finding.code, []) + waiting
    return placed + [finding for group in by_cause.values() for finding in group]


def _rank(finding: Finding) -> tuple[int, int, str]:
    return (_SEVERITY_ORDER[finding.severity], _CATALOGUE_ORDER[finding.code], finding.scope or "")


def _link(finding: Finding, touched: Mapping[str, frozenset[str]], page_modules: Mapping[str, str]) -> Finding:
    if finding.because is not None or not finding.subjects:
        return finding
    best: tuple[int, str] | None = None
    for cause in CONSEQUENCES.get(finding.code, ()):
        if cause in touched:
            explained = sum(bool(_touches(subject, page_modules) & touched[cause]) for subject in finding.subjects)
            if explained and (best is None or explained > best[0]):
                best = (explained, cause)
    if best is None:
        return finding
    subjects = tuple(_noted(subject, best[1], touched[best[1]], page_modules) for subject in finding.subjects)
    because = best[1] if best[0] == finding.count else None
    return finding.model_copy(update={"subjects": subjects, "because": because})


def _noted(subject: Subject, cause: str, touched: frozenset[str], page_modules: Mapping[str, str]) -> Subject:
    if not _touches(subject, page_modules) & touched:
        return subject
    return subject.model_copy(update={"details": {**subject.details, "because": cause}})


def _touched(finding: Finding, page_modules: Mapping[str, str]) -> frozenset[str]:
    return frozenset().union(*(_touches(subject, page_modules) for subject in finding.subjects))


def _touches(subject: Subject, page_modules: Mapping[str, str]) -> frozenset[str]:
    """The subject itself, its page, the pages that a query expects or whose module it expects."""
    touched = {subject.name, *subject.details.get("expected_pages", ())}
    if subject.page is not None:
        touched.add(subject.page)
    module = subject.details.get("expected_module")
    if module and not subject.details.get("expected_pages"):
        wanted = normalise_name(str(module))
        touched.update(page for page, name in page_modules.items() if normalise_name(name) == wanted)
    return frozenset(touched)
