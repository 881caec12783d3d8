"""Findings to link, and what their links say."""

from __future__ import annotations

from collections.abc import Iterable

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.causes import link_consequences

Because = dict[str, str | None]


def finding(code: str, *subjects: Subject | str, scope: str | None = None) -> Finding:
    return make_finding(code, subjects, scope=scope)


def page(name: str, **details: object) -> Subject:
    return Subject(name=name, page=name, details=details)


def failed(name: str, *pages: str) -> Subject:
    return Subject(name=name, details={"expected_pages": list(pages), "expected_module": None})


def link(*findings: Finding, modules: dict[str, str] | None = None) -> list[Finding]:
    return link_consequences(findings, page_modules=modules or {})


def because(findings: Iterable[Finding], code: str) -> str | None:
    return next(entry.because for entry in findings if entry.code == code)


def by_subject(findings: Iterable[Finding], code: str) -> Because:
    found = next(entry for entry in findings if entry.code == code)
    return {subject.name: subject.details.get("because") for subject in found.subjects}
