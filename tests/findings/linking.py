"""Findings to link, and what their links say. Not a test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragval_pipeline.findings.causes import Site
from ragval_pipeline.findings.factory import Totals, make_finding, with_shares
from ragval_pipeline.findings.graph import Simulated, explain
from ragval_pipeline.findings.model import Finding, Subject

#: An index in which one subject of a kind is too few to matter everywhere.
TOTALS = Totals(pages=100, points=100, queries=100)


def finding(code: str, *subjects: Subject | str, **more: Any) -> Finding:
    return make_finding(code, subjects, **more)


def point(name: str, page: str | None = "/a", **entities: Any) -> Subject:
    return Subject(name=name, page=page, **entities)


def page(name: str, **entities: Any) -> Subject:
    return Subject(name=name, page=name, **entities)


def query(name: str, *pages: str, **entities: Any) -> Subject:
    return Subject(name=name, pages=pages, **entities)


def linked(*findings: Finding, site: Site | None = None, **tried: Simulated) -> list[Finding]:
    return explain(with_shares(findings, TOTALS), site or Site(), **tried)


def because(findings: Iterable[Finding], code: str) -> dict[str, str | None]:
    """The cause of each subject of a code."""
    found = next(entry for entry in findings if entry.code == code)
    return {subject.name: subject.details.get("because") for subject in found.subjects}


def follows(consequence: Finding, *causes: Finding, **more: Any) -> str | None:
    """What a finding follows from as a whole."""
    return linked(consequence, *causes, **more)[0].because
