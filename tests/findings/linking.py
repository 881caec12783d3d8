"""Findings to link, and what their links say. Not a test."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ragval_pipeline.findings.causes import Site
from ragval_pipeline.findings.factory import Totals, make_finding, with_shares
from ragval_pipeline.findings.graph import Computed, explain
from ragval_pipeline.findings.model import Finding, Subject

#: By code and name of a subject the causes whose repair clears it.
Tried = Mapping[str, Mapping[str, Collection[Any]]]
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


def linked(*findings: Finding, site: Site | None = None, simulated: Tried | None = None, **more: Any) -> list[Finding]:
    """The findings with their causes; ``simulated`` may hold a set of causes where one of them is enough."""
    needs = {
        code: {name: causes if isinstance(causes, tuple) else (frozenset(causes),) for name, causes in names.items()}
        for code, names in (simulated or {}).items()
    }
    return explain(
        with_shares(findings, TOTALS), site or Site(), None if simulated is None else Computed(needs, **more)
    )


def because(findings: Iterable[Finding], code: str) -> dict[str, str | None]:
    """The cause of each subject of a code."""
    found = next(entry for entry in findings if entry.code == code)
    return {subject.name: subject.details.get("because") for subject in found.subjects}


def follows(consequence: Finding, *causes: Finding, **more: Any) -> str | None:
    """What a finding follows from as a whole."""
    return linked(consequence, *causes, **more)[0].because
