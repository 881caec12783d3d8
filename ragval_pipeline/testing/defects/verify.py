"""Checking a report against what was planted: reported exactly, with its consequences and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import ReportedFinding, ReportedSubject
from ragval_pipeline.lazy import pq
from ragval_pipeline.testing.defects.registry import Planted

if TYPE_CHECKING:
    from ragval_pipeline.validation.report import ValidationReport


#: Measurements of one finding's subjects, by name.
Subjects = Mapping[str, Mapping[str, Any]]
#: Severities that a clean corpus must not have.
LOUD = ("error", "warning")


class Seen:
    """The findings of a run with all their subjects, except those of a run before."""

    def __init__(
        self,
        report: ValidationReport,
        folder: str | Path | None,
        *,
        before: Seen | None = None,
        planted: Iterable[Planted] = (),
    ) -> None:
        self._all = {} if folder is None else _read_subjects(Path(folder) / "findings.parquet")
        self._before = before
        self._planted = {(entry.code, entry.scope): entry.subjects for entry in planted}
        self.findings = [finding for finding in report.findings if not self._is_known(finding)]
        self.loud = [finding for finding in self.findings if finding.severity in LOUD]

    def named(self, code: str, scope: str | None) -> list[ReportedFinding]:
        """The findings of one code in one scope: one or none."""
        return [finding for finding in self.findings if (finding.code, finding.scope) == (code, scope)]

    def about(self, planted: Planted) -> ReportedFinding | None:
        """The finding of a planted defect; without a scope of its own, that with most of the planted subjects."""
        named = [
            finding
            for finding in self.findings
            if finding.code == planted.code and planted.scope in (None, finding.scope)
        ]
        return max(named, key=lambda finding: len(self.subjects(finding).keys() & planted.subjects), default=None)

    def subjects(self, finding: ReportedFinding) -> Subjects:
        """All known subjects of a finding."""
        known = self._all.get((finding.code, finding.scope))
        if known is None:
            details = finding.measured
            known = {name: details.get(name, {}) for name in finding.subjects}
        own = self._own(finding)
        return {name: entry for name, entry in known.items() if name not in own}

    def _own(self, finding: ReportedFinding) -> frozenset[str]:
        """Subjects that the corpus already had before planting."""
        if self._before is None:
            return frozenset()
        named = self._before.named(finding.code, finding.scope)
        known = frozenset(name for entry in named for name in self._before.subjects(entry))
        return known - self._planted.get((finding.code, finding.scope), frozenset())

    def _is_known(self, finding: ReportedFinding) -> bool:
        """Whether a finding has no new subjects."""
        return bool(self._own(finding)) and not self.subjects(finding)

    def causes(self, finding: ReportedFinding) -> set[str | None]:
        """Causes of the subjects of a finding; includes None if some have no cause."""
        subjects = [ReportedSubject(*each) for each in self.subjects(finding).items()]
        return {subject.because or finding.because for subject in subjects} or {finding.because}


def _read_subjects(file: Path) -> dict[tuple[str, str | None], dict[str, dict[str, Any]]]:
    found: dict[tuple[str, str | None], dict[str, dict[str, Any]]] = {}
    for row in pq.read_table(file).to_pylist():
        subjects = found.setdefault((row["code"], row["scope"]), {})
        if row["subject"] is not None:
            subjects[row["subject"]] = json.loads(row["details"])
    return found


_SHOWN = 5


@dataclass(frozen=True)
class Outcome:
    """How one planted defect was reported.

    Attributes:
        planted: What was planted.
        recall: Planted subjects that were reported / planted subjects.
        precision: Reported subjects that were planted / reported subjects, without another defect's consequences.
        named: Reported subjects, without another defect's consequences.
        place: Position of the finding in the report, from 1; None without a finding.
        followers: Further codes of severity error or warning that can be consequences, sorted.
        extra: Codes of severity error or warning that cannot be consequences, sorted.
        problems: Deviations from what was declared, one sentence each.
    """

    planted: Planted
    recall: float
    precision: float
    named: int = 0
    place: int | None = None
    followers: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    problems: tuple[str, ...] = field(default=())


def verify(planted: Planted, report: ValidationReport, *, folder: str | Path | None = None) -> list[str]:
    """What is wrong with the report of a corpus with one planted defect.

    Args:
        planted: What was planted.
        report: The report of the run.
        folder: The run's folder, whose findings.parquet has all subjects; None: use the report's first 100.

    Returns:
        One sentence per problem; empty if the code is reported with exactly the planted subjects, before its
        consequences, and everything else is a consequence with a ``because`` for each subject.
    """
    return list(judge([planted], report, folder=folder)[0].problems)


def judge(
    planted: Sequence[Planted],
    report: ValidationReport,
    *,
    folder: str | Path | None = None,
    before: Seen | None = None,
) -> list[Outcome]:
    """How each of several defects, planted in one corpus, was reported.

    Arguments are as for ``verify``; ``before`` are the findings of a run before planting: a corpus may have some.
    """
    seen = Seen(report, folder, before=before, planted=planted)
    shared = [*_unexplained(planted, seen), *_late(planted, seen)]
    extra = tuple(sorted(_extra(planted, seen)))
    shared += [f"{code} is named, and can neither follow nor was planted" for code in extra]
    return [_outcome(entry, planted, seen, extra, shared) for entry in planted]


def clean(report: ValidationReport) -> list[str]:
    """What is wrong with the report of a corpus in which nothing was planted: every error and warning."""
    return [f"{finding.code}: {finding.message}" for finding in report.findings if finding.severity in LOUD]


def _outcome(
    entry: Planted, planted: Sequence[Planted], seen: Seen, extra: tuple[str, ...], shared: Iterable[str]
) -> Outcome:
    named = seen.about(entry)
    subjects: Subjects = {} if named is None else seen.subjects(named)
    consequences = set() if named is None else _consequences(entry, planted, named, subjects)
    reported = subjects.keys() - consequences
    hit = reported & entry.subjects
    return Outcome(
        entry,
        recall=len(hit) / len(entry.subjects),
        precision=len(hit) / len(reported) if reported else 0.0,
        named=len(reported),
        place=None if named is None else seen.findings.index(named) + 1,
        followers=tuple(sorted({finding.code for finding in seen.loud} & (entry.followers | entry.causes))),
        extra=extra,
        problems=(*_subject_problems(entry, reported, named is not None), *shared),
    )


def _consequences(entry: Planted, planted: Sequence[Planted], named: ReportedFinding, subjects: Subjects) -> set[str]:
    """Subjects of this code that another planted defect explains, or is a consequence of."""
    others = [other for other in planted if other is not entry]
    codes = {
        code
        for other in others
        if entry.code in other.followers
        for code in (other.code, *other.causes, *(other.followers - {entry.code}))
    }
    causes = frozenset().union(*(other.subjects for other in others if entry.code in other.causes))
    return {
        name
        for name, details in subjects.items()
        if name not in entry.subjects
        and (name in causes or (ReportedSubject(name, details).because or named.because) in codes)
    }


def _subject_problems(entry: Planted, found: Iterable[str], named: bool) -> Iterator[str]:
    what = entry.code if entry.scope is None else f"{entry.code} ({entry.scope})"
    if not named:
        yield f"{what} is not named"
        return
    for word, names in (
        ("is not named for", entry.subjects - set(found)),
        ("is named for", set(found) - entry.subjects),
    ):
        if names:
            shown = ", ".join(sorted(names)[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
            yield f"{what} {word} {len(names)} {'' if word.startswith('is not') else 'further '}subjects: {shown}"


def _extra(planted: Sequence[Planted], seen: Seen) -> set[str]:
    expected = {(entry.code, entry.scope) for entry in planted}
    declared = frozenset().union(*(entry.followers | entry.causes for entry in planted))
    return {
        finding.code
        for finding in seen.loud
        if (finding.code, finding.scope) not in expected and finding.code not in declared
    }


def _unexplained(planted: Sequence[Planted], seen: Seen) -> Iterator[str]:
    """Followers with a subject without a cause.

    An info finding causes no error: an error triggered by it has no cause.
    """
    expected = {(entry.code, entry.scope) for entry in planted}
    causes = {code for entry in planted for code in entry.causes}
    allowed = {code for entry in planted for code in (entry.code, *entry.followers)} | causes
    alone = {code for entry in planted if CATALOGUE[entry.code].severity == "info" for code in entry.followers}
    for finding in seen.loud:
        if (finding.code, finding.scope) in expected or finding.code not in allowed - causes:
            continue
        strange = seen.causes(finding) - allowed
        if finding.severity == "error" and finding.code in alone:
            strange -= {None}
        if strange:
            yield f"{finding.code} follows from {', '.join(sorted(map(str, strange)))}, which was not planted"


def _late(planted: Sequence[Planted], seen: Seen) -> Iterator[str]:
    """Causes listed after their consequences; with a log of questions, of a part of a finding they may be."""
    places = {(finding.code, finding.scope): place for place, finding in enumerate(seen.findings)}
    for entry in planted:
        place = places.get((entry.code, entry.scope), 0)
        for finding in seen.loud:
            causes = {finding.because} if finding.is_asked else seen.causes(finding)
            if entry.code in causes and places[finding.code, finding.scope] < place:
                yield f"{finding.code} comes before its cause {entry.code}"
