"""How many questions of readers a finding concerns: what the log of real questions adds to findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ragval_pipeline.findings.model import Finding, Subject

#: Subjects that are not part of the content: what is wrong with one concerns every question.
_WHOLE = frozenset({"collection", "field", "system", "status", "vector", "host", "url"})


@dataclass(frozen=True)
class Readers:
    """What readers ask for.

    Attributes:
        asked: Number of questions of the log.
        first: How many are answered first by each page, by canonical form.
        wanted: How many each page of the site would answer that the index lacks.
        a_month: How many a month one question of the log stands for; None: the log has no times.
    """

    asked: float
    first: Mapping[str, float] = field(default_factory=dict)
    wanted: Mapping[str, float] = field(default_factory=dict)
    a_month: float | None = None

    def said(self, count: float, *, wanted: bool) -> str:
        """A count of questions as a sentence; empty if it is none."""
        told = f"{_whole(count)} of the {_whole(self.asked)} questions of the log"
        if self.a_month is not None:
            told = f"{_whole(count * self.a_month)} questions a month"
        return "" if not count else f"{'Would answer' if wanted else 'First for'} {told}."


def _whole(count: float) -> str:
    return f"{count:,.0f}" if count >= 1 else f"{count:,.1f}"


def with_readers(findings: Iterable[Finding], readers: Readers) -> list[Finding]:
    """Set the share of the traffic that each finding concerns, and say it.

    It is the share of the questions that its pages, or those of its points, answer first or would answer. A finding
    about the collection as a whole concerns all. ``None``: it names no page.
    """
    return [_with_readers(finding, readers) for finding in findings]


def _with_readers(finding: Finding, readers: Readers) -> Finding:
    if finding.subject_kind == "question":
        return finding.model_copy(update={"asked": finding.share})
    pages = {page for subject in finding.subjects for page in _pages_of(subject)}
    if not pages:
        is_whole = finding.share is not None and finding.subject_kind in _WHOLE
        return finding.model_copy(update={"asked": finding.share if is_whole else None})
    first = sum(readers.first.get(page, 0) for page in pages)
    wanted = sum(readers.wanted.get(page, 0) for page in pages)
    said = readers.said(first or wanted, wanted=not first)
    update = {"asked": (first + wanted) / readers.asked, "message": f"{finding.message} {said}".strip()}
    return finding.model_copy(update=update)


def _pages_of(subject: Subject) -> tuple[str, ...]:
    return (*((subject.page,) if subject.page else ()), *subject.pages)
