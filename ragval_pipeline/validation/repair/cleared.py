"""What the simulated repairs would clear, alone and together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.graph import Computed, Needs
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.details import read
from ragval_pipeline.rules.query.negative_scored_high import RULE as NEGATIVE_SCORED_HIGH
from ragval_pipeline.rules.query.threshold_unfit import RULE as THRESHOLD_UNFIT
from ragval_pipeline.rules.query.threshold_unfit import Details as Scores
from ragval_pipeline.rules.regression.query_lost import RULE as QUERY_LOST
from ragval_pipeline.rules.regression.significant_drop import RULE as SIGNIFICANT_DROP
from ragval_pipeline.validation.paired import fewest_pairs
from ragval_pipeline.validation.repair.cases import LOWERING, is_failed_query, lowering
from ragval_pipeline.validation.thresholds import MOST

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class WouldClear:
    """What the repair of one cause would clear, according to its simulation.

    Attributes:
        code: Code of the cause.
        scope: Scope of the cause.
        cleared: Subjects that would be cleared, by the code of their finding; only for simulated findings.
        kept: Simulated subjects that would not, or not certainly, be cleared.
        refuted: Those of them that certainly would not.
        passing: Simulated queries that currently pass.
        failing: Those of them that certainly would fail.
    """

    code: str
    scope: str | None
    cleared: Mapping[str, frozenset[str]]
    kept: Mapping[str, frozenset[str]]
    refuted: Mapping[str, frozenset[str]] = field(default_factory=dict)
    passing: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()

    def without(self, kept: Mapping[str, frozenset[str]]) -> WouldClear:
        """The same without subjects that another repair of the same finding, or of its root, would not clear."""
        cleared = {code: names - kept.get(code, _NONE) for code, names in self.cleared.items()}
        still = {code: names | (self.cleared[code] - cleared[code]) for code, names in self.kept.items()}
        return replace(self, cleared=cleared, kept=still)

    def and_also(self, other: WouldClear) -> WouldClear:
        """The common result of two ways to repair the same finding."""
        both = {code: names & other.refuted.get(code, _NONE) for code, names in self.refuted.items()}
        return replace(self.without(other.kept), refuted=both, failing=self.failing & other.failing)


@dataclass(frozen=True)
class Simulated:
    """All simulated repairs.

    Attributes:
        results: One for each repair, in order of the findings.
        together: By query that no single repair clears, a minimal set of causes whose repairs clear it together.
        left_out: Causes with a repair that were not simulated, with the reason.
        too_large: Those of them whose repair is only too large to simulate.
    """

    results: tuple[WouldClear, ...] = ()
    together: Mapping[str, frozenset[str]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    too_large: frozenset[str] = frozenset()

    def needs(self, findings: Sequence[Finding]) -> Needs:
        """What has to be repaired, by finding code and subject: one cause of each set; only for subjects with causes.

        A metric that fell follows from the causes of all queries that have their value again, if too few others are
        left: from one that they share, else from all, also if fewer of these queries would be enough.
        """
        alone = _by_subject((result.code, result.cleared) for result in self.results)
        needed: dict[str, dict[str, tuple[frozenset[str], ...]]] = {
            code: {name: (causes,) for name, causes in names.items()} for code, names in alone.items()
        }
        failed = {
            entry.name: finding.code
            for finding in findings
            if is_failed_query(finding.code)
            for entry in finding.subjects
        }
        for name in failed.keys() & self.together.keys():
            together = tuple(frozenset({cause}) for cause in sorted(self.together[name]))
            needed.setdefault(failed[name], {}).setdefault(name, together)
        of_query = {name: needed[code][name] for name, code in failed.items() if name in needed.get(code, {})}
        regained = needed.pop(LOWERING, {})
        for finding in findings:
            for subject in finding.subjects if finding.code == QUERY_LOST.code else ():
                if subject.name in of_query:
                    needed.setdefault(QUERY_LOST.code, {}).setdefault(subject.name, of_query[subject.name])
            for subject in finding.subjects if finding.code == SIGNIFICANT_DROP.code else ():
                causing = [regained.get(lowering(subject.name, name)) or of_query.get(name) for name in subject.queries]
                several = tuple(dict.fromkeys(chain.from_iterable(filter(None, causing))))
                if several and is_no_drop(causing.count(None)):
                    shared = frozenset.intersection(*several)
                    needed.setdefault(SIGNIFICANT_DROP.code, {})[subject.name] = (shared,) if shared else several
        for finding in findings:
            for subject in finding.subjects if finding.code == THRESHOLD_UNFIT.code else ():
                causes = _of_threshold(subject, alone.get(NEGATIVE_SCORED_HIGH.code, {}))
                if causes:
                    needed.setdefault(finding.code, {})[subject.name] = (causes,)
        return needed

    def unasked(self, findings: Sequence[Finding]) -> dict[str, frozenset[str]]:
        """Subjects left out of the simulation, by code: there were too many, or no query is about them."""
        judged = (part for result in self.results for part in (*result.cleared.items(), *result.kept.items()))
        asked = by_code((code, name) for code, names in judged for name in names)
        left: dict[str, frozenset[str]] = {}
        for finding in findings:
            if finding.code in asked:
                names = frozenset(subject.name for subject in finding.subjects) - asked[finding.code]
                left[finding.code] = left.get(finding.code, _NONE) | names
        return left

    def computed(self, findings: Sequence[Finding]) -> Computed:
        """What the simulation tells about the causes of the findings.

        A simulated subject that no repair clears has none of the simulated causes. Nor has a threshold that rejects
        right answers: their scores may be the same with correct vectors.
        """
        needs = self.needs(findings)
        simulated = (code for code, rule in CATALOGUE.items() if rule.simulated_as)
        untried = (code for code, rule in CATALOGUE.items() if rule.repair == "untried")
        return Computed(
            needs={code: needs.get(code, {}) for code in (*simulated, THRESHOLD_UNFIT.code)},
            refuted=self.refuted,
            untried=self.too_large.union(untried),
            unasked=self.unasked(findings),
        )

    @property
    def refuted(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """Causes whose repair alone certainly does not clear it, by finding code and subject."""
        return _by_subject((result.code, result.refuted) for result in self.results)

    def below_roots(self, findings: Iterable[Finding]) -> Simulated:
        """The same without subjects that a repair clears, but not the repair of the cause that it depends on."""
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


def _of_threshold(subject: Subject, alone: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The causes without which a threshold would no longer admit most negative queries; none if it also rejects."""
    if Aspect.REACH not in subject.without or not subject.queries:
        return _NONE
    of = (read(Scores, subject.details).negative or {})["n"]
    cleared = Counter(chain.from_iterable(alone.get(name, _NONE) for name in subject.queries))
    return frozenset(
        cause
        for cause, count in cleared.items()
        if cause != THRESHOLD_UNFIT.code and len(subject.queries) - count <= MOST * of
    )


def _by_subject(results: Iterable[tuple[str, Mapping[str, frozenset[str]]]]) -> dict[str, dict[str, frozenset[str]]]:
    found: dict[str, dict[str, frozenset[str]]] = {}
    for cause, subjects in results:
        for code, names in subjects.items():
            for name in names:
                causes = found.setdefault(code, {})
                causes[name] = causes.get(name, _NONE) | {cause}
    return found


def by_code(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """The names of each code."""
    found: dict[str, set[str]] = {}
    for code, name in pairs:
        found.setdefault(code, set()).add(name)
    return {code: frozenset(names) for code, names in found.items()}


def restored(finding: Finding, held: Mapping[str, Set[str]], *, at_all: bool = False) -> frozenset[str]:
    """Lost queries that pass again, and metrics of which too few queries are left for a drop, if these cases hold.

    ``held`` are the subjects of cases by code. ``at_all``: metrics of which any query is as before.
    """
    if finding.code == QUERY_LOST.code:
        passing = frozenset().union(*(held.get(code, _NONE) for code in held if is_failed_query(code)))
        return frozenset(subject.name for subject in finding.subjects) & passing
    good = {
        subject.name: [query for query in subject.queries if lowering(subject.name, query) in held.get(LOWERING, _NONE)]
        for subject in finding.subjects
    }
    return frozenset(
        subject.name
        for subject in finding.subjects
        if good[subject.name] and (at_all or is_no_drop(len(subject.queries) - len(good[subject.name])))
    )


def is_no_drop(losses: int) -> bool:
    """Whether so few queries lower a metric that no test finds it significant."""
    return losses < fewest_pairs()


def with_would_clear(findings: Sequence[Finding], simulated: Simulated) -> list[Finding]:
    """The findings, each with the effects of its repair.

    ``details.would_clear`` maps a code to cleared and of; ``details.would_fail`` lists passed queries that would fail,
    with their total, if any.
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
        if names and code != LOWERING
    }
    failing = {"failing": sorted(result.failing), "of": len(result.passing)}
    return {"would_clear": cleared, **({"would_fail": failing} if result.failing else {})}
