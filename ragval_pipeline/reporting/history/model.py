"""Earlier runs as plain values, for report.html, the command line and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragval_pipeline.rules.rule import Severity
from ragval_pipeline.suite.criteria import GROUPS
from ragval_pipeline.validation.verdict import CriterionResult, CriterionVerdict, RunVerdict


@dataclass(frozen=True)
class CriterionChange:
    """One criterion of two runs whose value or verdict differs.

    Attributes:
        name: The criterion.
        before: Its value then; None if not measured.
        after: Its value now.
        verdict_before: Its verdict then; None if that run did not have the criterion.
        verdict_after: Its verdict now; None if this run does not have the criterion.
        better: Whether the value improved; None if either is missing, or both are equal.
        is_gate: Whether it decides about the verdict of either run.
    """

    name: str
    before: float | None
    after: float | None
    verdict_before: CriterionVerdict | None
    verdict_after: CriterionVerdict | None
    better: bool | None
    is_gate: bool = True

    @property
    def delta(self) -> float | None:
        """``after - before``; None if either is missing."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class FindingChange:
    """One finding (code and scope) of two runs whose subjects differ.

    Attributes:
        code: Code of the catalogue.
        scope: Field, module or metric, or None.
        severity: Now, or then if it is gone.
        before: Number of subjects then; 0 if that run does not have it.
        after: Number of subjects now.
        new: Subjects only in the later run, sorted.
        gone: Subjects only in the earlier run, sorted.
        unchanged: Subjects in both, sorted.
    """

    code: str
    scope: str | None
    severity: Severity
    before: int
    after: int
    new: Sequence[str] = ()
    gone: Sequence[str] = ()
    unchanged: Sequence[str] = ()

    @property
    def is_new(self) -> bool:
        """Whether the earlier run did not have it."""
        return self.before == 0

    @property
    def is_gone(self) -> bool:
        """Whether the later run does not have it."""
        return self.after == 0

    @property
    def is_better(self) -> bool:
        """Whether it is gone, or has fewer subjects and no new one."""
        return self.after < self.before and not self.new

    @property
    def words(self) -> str:
        """The change in words: ``new, 3``, ``gone``, ``5 → 5, 1 new and 1 gone``."""
        if self.is_new:
            return f"new, {self.after:,}"
        if self.is_gone:
            return "gone"
        counts = ((self.new, "new"), (self.gone, "gone"))
        told = " and ".join(f"{len(names):,} {word}" for names, word in counts if names)
        return f"{self.before:,} → {self.after:,}" + (f", {told}" if self.new and self.gone else "")


@dataclass(frozen=True)
class RunChanges:
    """What differs between two runs.

    Attributes:
        since: Name of the earlier run's folder.
        timestamp: When the earlier report was made, UTC, ISO 8601 with Z.
        verdict_before: The verdict then.
        verdict_after: The verdict now.
        criteria: Criteria that differ, in report order.
        findings: Findings that differ, new ones first, then those with new subjects, those with fewer, and those that
            are gone; errors first in each. Only of groups that both runs measured.
        queries_lost: Ids of queries that passed then and do not now, sorted.
        queries_won: Ids of queries that pass now and did not then, sorted.
        queries_set_aside: Id of each query whose expectation changed to a description of the change, sorted. They are
            neither lost nor won.
        collections: Names of the collections then and now, if they differ: what an alias stands for.
        chunks_before: Chunks of the collection then; None if it was not read.
        chunks_after: Chunks now.
        pages_missing: In-scope pages that had a chunk and have none now, sorted.
        pages_indexed: In-scope pages that have a chunk now and had none, sorted.
        groups_uncompared: Groups of measurements that only one of the runs measured, in their usual order.
    """

    since: str
    timestamp: str
    verdict_before: RunVerdict
    verdict_after: RunVerdict
    criteria: Sequence[CriterionChange] = ()
    findings: Sequence[FindingChange] = ()
    queries_lost: Sequence[str] = ()
    queries_won: Sequence[str] = ()
    queries_set_aside: Mapping[str, str] = field(default_factory=dict)
    collections: tuple[str, str] | None = None
    chunks_before: int | None = None
    chunks_after: int | None = None
    pages_missing: Sequence[str] = ()
    pages_indexed: Sequence[str] = ()
    groups_uncompared: Sequence[str] = ()


@dataclass(frozen=True)
class RunPoint:
    """One run in a trend.

    Attributes:
        name: Name of its folder.
        run_id: Its run id.
        timestamp: When its report was made, UTC, ISO 8601 with Z.
        verdict: The run's verdict.
        collection_name: Its collection.
        criteria: Every criterion of the run, by name.
        groups: Groups of measurements that it ran.
    """

    name: str
    run_id: str
    timestamp: str
    verdict: RunVerdict
    collection_name: str
    criteria: Mapping[str, CriterionResult] = field(default_factory=dict)
    groups: frozenset[str] = frozenset(GROUPS)

    def value(self, criterion: str) -> float | None:
        """The value of a criterion; None if the run has none."""
        result = self.criteria.get(criterion)
        return None if result is None else result.value


@dataclass(frozen=True)
class RunHistory:
    """The runs of a suite.

    Attributes:
        runs: The runs, oldest first; in a report the last is the report's own.
        baseline: Name of the baseline's folder; None if there is none.
        changes: Differences between the last run and the previous one; None if there is no previous one.
    """

    runs: Sequence[RunPoint] = ()
    baseline: str | None = None
    changes: RunChanges | None = None

    def criteria(self) -> list[str]:
        """Criteria with a value in any run, in the order of the newest run that has each."""
        names: dict[str, None] = {}
        for run in reversed(self.runs):
            names |= dict.fromkeys(name for name, result in run.criteria.items() if result.value is not None)
        return list(names)

    def values(self, criterion: str) -> list[float | None]:
        """The value of a criterion in each run, oldest first; None for runs without it."""
        return [run.value(criterion) for run in self.runs]
