"""What the repairs that were tried would clear, by themselves and together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from typing import Any

from ragval_pipeline.findings.graph import Needs
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.validation.repair.cases import FELL, QUERIES
from ragval_pipeline.validation.thresholds import MOST

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class WouldClear:
    """What the repair of one cause would clear, found by simulating it.

    Attributes:
        code: Of the cause.
        scope: Of the cause.
        cleared: Subjects that would be well, by the code of their finding; only findings that were judged again.
        kept: Subjects that would not, or not surely, of those that were judged again.
        refuted: Those of them that surely would not.
        passing: Queries that pass as the index is, of those that were asked again.
        failing: Those of them that surely would fail.
    """

    code: str
    scope: str | None
    cleared: Mapping[str, frozenset[str]]
    kept: Mapping[str, frozenset[str]]
    refuted: Mapping[str, frozenset[str]] = field(default_factory=dict)
    passing: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()

    def without(self, kept: Mapping[str, frozenset[str]]) -> WouldClear:
        """The same, with subjects that another repair of the same finding, or that of its root, would not clear."""
        codes = self.cleared.keys() | self.kept.keys()
        cleared = {code: self.cleared.get(code, _NONE) - kept.get(code, _NONE) for code in codes}
        tried = {code: self.cleared.get(code, _NONE) | self.kept.get(code, _NONE) for code in codes}
        return replace(self, cleared=cleared, kept={code: tried[code] - cleared[code] for code in codes})

    def and_also(self, other: WouldClear) -> WouldClear:
        """What both ways to repair the same finding have in common."""
        both = {code: names & other.refuted.get(code, _NONE) for code, names in self.refuted.items()}
        return replace(self.without(other.kept), refuted=both, failing=self.failing & other.failing)


@dataclass(frozen=True)
class Simulated:
    """All repairs that were tried.

    Attributes:
        results: One for each repair, in the order of the findings.
        together: By query that no repair clears by itself, the causes whose repairs clear it together, each of them
            needed.
        left_out: Causes that have a repair and were not simulated, with the reason.
        too_large: Those of them whose repair is too much to try: nothing else speaks against it.
    """

    results: tuple[WouldClear, ...] = ()
    together: Mapping[str, frozenset[str]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    too_large: frozenset[str] = frozenset()

    def needs(self, findings: Sequence[Finding]) -> Needs:
        """What has to be repaired, by finding code and subject: one cause of each set; subjects without any left out.

        What fell follows from the causes of all queries that it fell by, where no repair clears it by itself.

        Args:
            findings: All findings of the run.
        """
        alone = _by_subject((result.code, result.cleared) for result in self.results)
        found: dict[str, dict[str, tuple[frozenset[str], ...]]] = {
            code: {name: (causes,) for name, causes in names.items()} for code, names in alone.items()
        }
        failed = {
            entry.name: finding.code for finding in findings if finding.code in QUERIES for entry in finding.subjects
        }
        for name in failed.keys() & self.together.keys():
            together = tuple(frozenset({cause}) for cause in sorted(self.together[name]))
            found.setdefault(failed[name], {}).setdefault(name, together)
        of_query = {name: found[code][name] for name, code in failed.items() if name in found.get(code, {})}
        for finding in findings:
            for subject in finding.subjects if finding.code in FELL else ():
                if is_made_good(finding, subject, failed.keys(), of_query.keys()):
                    queries = sorted(of_query.keys() & {subject.name, *subject.queries})
                    several = tuple(dict.fromkeys(chain.from_iterable(of_query[name] for name in queries)))
                    found.setdefault(finding.code, {}).setdefault(subject.name, several)
        return found

    def unasked(self, findings: Iterable[Finding]) -> dict[str, frozenset[str]]:
        """Subjects of findings of which only others were judged again, by code: there were more than are asked."""
        asked = _by_code((*result.cleared.items(), *result.kept.items()) for result in self.results)
        return {
            finding.code: frozenset(subject.name for subject in finding.subjects) - asked[finding.code]
            for finding in findings
            if finding.code in asked and finding.code not in FELL
        }

    @property
    def refuted(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """Causes whose repair surely does not clear it by itself, by finding code and subject."""
        return _by_subject((result.code, result.refuted) for result in self.results)

    def below_roots(self, findings: Iterable[Finding]) -> Simulated:
        """The same without what a repair clears that is only tried because of a cause whose own repair does not."""
        roots = {(finding.code, finding.scope): finding.because for finding in findings}
        results = []
        for result in self.results:
            root = roots.get((result.code, result.scope))
            above = (other.kept for other in self.results if other.code == root)
            results.append(reduce(WouldClear.without, above, result))
        root_of = {code: root for (code, _), root in roots.items()}
        together = {
            name: causes
            for name, causes in self.together.items()
            if causes.issuperset(root for cause in causes if (root := root_of.get(cause)) is not None)
        }
        return replace(self, results=tuple(results), together=together)


def _by_subject(results: Iterable[tuple[str, Mapping[str, frozenset[str]]]]) -> dict[str, dict[str, frozenset[str]]]:
    found: dict[str, dict[str, frozenset[str]]] = {}
    for cause, subjects in results:
        for code, names in subjects.items():
            for name in names:
                causes = found.setdefault(code, {})
                causes[name] = causes.get(name, _NONE) | {cause}
    return found


def _by_code(parts: Iterable[Iterable[tuple[str, frozenset[str]]]]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for code, names in chain.from_iterable(parts):
        found[code] = found.get(code, _NONE) | names
    return found


def is_made_good(finding: Finding, subject: Subject, failed: Set[str], cleared: Set[str]) -> bool:
    """Whether a lost query passes again, or all that pull a metric down and fail do, where these are most of them.

    Some that pull it down may pass, with what they expect at a lower rank.
    """
    if finding.code == "regression.query_lost":
        return subject.name in cleared
    lower = frozenset(subject.queries)
    good = lower & cleared
    return lower & failed == good and len(good) > MOST * len(lower)


def with_would_clear(findings: Sequence[Finding], simulated: Simulated) -> list[Finding]:
    """The findings, each with what its repair would change.

    ``details.would_clear`` maps a code to cleared and of, ``details.would_fail`` names the queries that pass and no
    longer would, with of how many; it is left out when there are none.
    """
    results = {(result.code, result.scope): result for result in simulated.results}
    return [
        finding.model_copy(update={"details": {**finding.details, **_told(result)}})
        if (result := results.get((finding.code, finding.scope))) is not None
        else finding
        for finding in findings
    ]


def _told(result: WouldClear) -> dict[str, Any]:
    cleared = {
        code: {"cleared": sorted(names), "of": len(names) + len(result.kept[code])}
        for code, names in result.cleared.items()
        if names
    }
    failing = {"failing": sorted(result.failing), "of": len(result.passing)}
    return {"would_clear": cleared, **({"would_fail": failing} if result.failing else {})}
