"""How many questions of readers a finding concerns: what the log of real questions adds to findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ragval_pipeline.findings.model import Finding, Subject

#: Subjects that are not part of the content: what is wrong with one concerns every question.
_WHOLE = frozenset({"collection", "field", "system", "status", "vector", "host", "url"})


class AnsweredBy(NamedTuple):
    """What answers some questions: the page that most probably does, and which of its points they find.

    Attributes:
        questions: Number of them.
        page: Canonical form of the page.
        points: Ids of the hits of that page, as text.
    """

    questions: float
    page: str
    points: Sequence[str]


@dataclass(frozen=True)
class Readers:
    """What readers ask for.

    Attributes:
        asked: Number of questions of the log.
        answers: What answers them.
        wanted: How many each page of the site would answer that the index lacks.
        a_month: How many a month one question of the log stands for; None: the log has no times.
    """

    asked: float
    answers: Sequence[AnsweredBy] = ()
    wanted: Mapping[str, float] = field(default_factory=dict)
    a_month: float | None = None

    @classmethod
    def read(cls, section: Mapping[str, Any]) -> Readers:
        """From the section that a measurement keeps."""
        return cls(**{**section, "answers": [AnsweredBy(*answer) for answer in section["answers"]]})

    @cached_property
    def _of(self) -> Mapping[str, set[int]]:
        """Places of the answers by page and by point."""
        places: dict[str, set[int]] = {}
        for place, answer in enumerate(self.answers):
            for name in (answer.page, *answer.points):
                places.setdefault(name, set()).add(place)
        return places

    def meeting(self, names: Iterable[str]) -> float:
        """How many questions one of these pages or points answers."""
        places = set[int]().union(*(self._of.get(name, ()) for name in names))
        return sum(self.answers[place].questions for place in places)

    def concern(self, finding: Finding) -> float | None:
        """The share of the questions that decides on the place of a finding among others.

        A subject that follows from another finding goes away with that one, and counts there. Where all do, they count:
        such a finding takes its cause along.
        """
        alone = [subject for subject in finding.subjects if subject.because in {None, finding.code}]
        if finding.asked is None or len(alone) in {0, len(finding.subjects)}:
            return finding.asked
        if finding.subject_kind == "question":
            return sum(subject.extent for subject in alone)
        return sum(self.met_and_wanted(finding.subject_kind, alone)) / self.asked

    def met_and_wanted(self, kind: str, subjects: Sequence[Subject]) -> tuple[float, float]:
        """How many questions some subjects of a kind are met by, and how many they would answer."""
        pages = {page for subject in subjects for page in _pages_of(subject)}
        met = self.meeting((subject.name for subject in subjects) if kind == "point" else pages)
        return met, sum(self.wanted.get(page, 0) for page in pages)

    def said(self, count: float, begin: str) -> str:
        """A count of questions as a sentence; empty if it is none."""
        told = f"{_whole(count)} of the {_whole(self.asked)} questions of the log"
        if self.a_month is not None:
            told = f"{_whole(count * self.a_month)} questions a month"
        return f"{begin} {told}." if count else ""


#: Without a log.
NOBODY = Readers(asked=0)


def _whole(count: float) -> str:
    return f"{count:,.0f}" if count >= 1 else f"{count:,.1f}"


def with_readers(findings: Iterable[Finding], readers: Readers) -> list[Finding]:
    """Set the share of the traffic that each finding concerns, and say it.

    A page concerns the questions that it answers or would answer, a point those of them for which it is a hit:
    what is wrong with a chunk is met by whoever is shown it. A finding about the collection as a whole concerns all.
    ``None``: it names no page.
    """
    return [_with_readers(finding, readers) for finding in findings]


def _with_readers(finding: Finding, readers: Readers) -> Finding:
    if finding.subject_kind == "question":
        return finding.model_copy(update={"asked": finding.share})
    if not any(map(_pages_of, finding.subjects)):
        is_whole = finding.share is not None and finding.subject_kind in _WHOLE
        return finding.model_copy(update={"asked": finding.share if is_whole else None})
    is_about_points = finding.subject_kind == "point"
    met, wanted = readers.met_and_wanted(finding.subject_kind, finding.subjects)
    said = readers.said(met or wanted, "Would answer" if not met else "Shown for" if is_about_points else "Answers")
    update = {"asked": (met + wanted) / readers.asked, "message": f"{finding.message} {said}".strip()}
    return finding.model_copy(update=update)


def _pages_of(subject: Subject) -> tuple[str, ...]:
    return (*((subject.page,) if subject.page else ()), *subject.pages)
