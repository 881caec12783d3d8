"""Comparing two stored runs: differences of their reports, and the content of ``ragval compare``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.history.earlier import Subjects, kept_subjects, read_report, whole_answers_of
from ragval_pipeline.reporting.history.model import CriterionChange, FindingChange, RunChanges
from ragval_pipeline.reporting.outline import groups_of_report
from ragval_pipeline.rules.rule import SEVERITIES
from ragval_pipeline.sources.history import KeptRun, corpus_rows
from ragval_pipeline.suite.criteria import GROUPS
from ragval_pipeline.text.numbers import TOLERANCE
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.measurement import MeasuredValue, not_measured
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.regression.compare import Comparison, compare_answers, measured_values
from ragval_pipeline.validation.regression.measure import CRITERION, measure_regression
from ragval_pipeline.validation.regression.measure import section as regression_section
from ragval_pipeline.validation.regression.neighbours import smallest_loss
from ragval_pipeline.validation.regression.pairing import pair_queries
from ragval_pipeline.validation.regression.turnover import CHUNK_COLUMNS, ChunkChange, chunk_changes, turnover
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult


def changes_between(
    name: str, before: ValidationReport, after: ValidationReport, subjects: tuple[Subjects, Subjects]
) -> RunChanges:
    """The differences between two runs."""
    pairing = pair_queries(before.query_results, after.query_results)
    had, have = set(before.coverage_report.indexed_urls or ()), set(after.coverage_report.indexed_urls or ())
    groups = groups_of_report(before), groups_of_report(after)
    names = before.collection_name, after.collection_name
    both_read = before.coverage_report.indexed_urls is not None and after.coverage_report.indexed_urls is not None
    return RunChanges(
        since=name,
        timestamp=before.timestamp,
        verdict_before=before.verdict,
        verdict_after=after.verdict,
        criteria=_criteria(before, after),
        # Findings of groups that a run did not measure are not a change.
        findings=_findings(_of_both(before.findings, groups), _of_both(after.findings, groups), subjects),
        queries_lost=sorted(new.query_id for old, new in pairing.same if old.passed is True and new.passed is False),
        queries_won=sorted(new.query_id for old, new in pairing.same if old.passed is False and new.passed is True),
        queries_set_aside=dict(sorted(pairing.set_aside.items())),
        collections=None if names[0] == names[1] else names,
        chunks_before=before.quality_metrics.total_chunks,
        chunks_after=after.quality_metrics.total_chunks,
        pages_missing=sorted(had - have) if both_read else (),
        pages_indexed=sorted(have - had) if both_read else (),
        groups_uncompared=[group for group in GROUPS if group in groups[0] ^ groups[1]],
    )


def _of_both(
    findings: Iterable[ReportedFinding], groups: tuple[frozenset[str], frozenset[str]]
) -> list[ReportedFinding]:
    """Findings of groups that both runs measured."""
    if groups[0] == groups[1]:
        return list(findings)
    both = groups[0] & groups[1]
    # A code unknown to this version has no group.
    return [finding for finding in findings if (row := CATALOGUE.get(finding.code)) is not None and row.group in both]


def _criteria(before: ValidationReport, after: ValidationReport) -> list[CriterionChange]:
    old = {result.name: result for result in before.criteria}
    new = {result.name: result for result in after.criteria}
    changes = (_criterion(name, old.get(name), new.get(name)) for name in {**new, **old})
    return [change for change in changes if change is not None]


def _criterion(name: str, old: CriterionResult | None, new: CriterionResult | None) -> CriterionChange | None:
    """The change of one criterion; None if value and verdict are the same."""
    before, after = old.value if old else None, new.value if new else None
    if any(result is not None and result.reason_code == "not_selected" for result in (old, new)):
        return None  # one of the runs did not measure it
    verdicts = old.verdict if old else None, new.verdict if new else None
    moved = before is not None and after is not None and abs(after - before) > TOLERANCE
    if not moved and verdicts[0] == verdicts[1] and (before is None) == (after is None):
        return None
    known = new or old
    better = None
    if moved and known is not None and before is not None and after is not None:
        better = (after > before) == (known.operator == ">=")
    is_gate = any(result is not None and result.required for result in (old, new))
    return CriterionChange(name, before, after, *verdicts, better, is_gate)


def _findings(
    before: Iterable[ReportedFinding], after: Iterable[ReportedFinding], subjects: tuple[Subjects, Subjects]
) -> list[FindingChange]:
    old = {(finding.code, finding.scope): finding for finding in before}
    new = {(finding.code, finding.scope): finding for finding in after}
    changes = []
    for key in {**new, **old}:
        then, now = old.get(key), new.get(key)
        had, has = (part.get(key, frozenset()) for part in subjects)
        known = now or then
        if known is not None and ((then is None) != (now is None) or had != has):
            # A finding about the run as a whole may have no subjects, but exists.
            before_now = [max(finding.count, 1) if finding else 0 for finding in (then, now)]
            names = (sorted(has - had), sorted(had - has), sorted(had & has))
            changes.append(FindingChange(*key, known.severity, before_now[0], before_now[1], *names))
    return sorted(changes, key=_weight)


def _weight(change: FindingChange) -> tuple[int, int, str, str]:
    kind = 0 if change.is_new else 3 if change.is_gone else 1 if change.new else 2
    return kind, SEVERITIES.index(change.severity), change.code, change.scope or ""


@dataclass(frozen=True)
class RunComparison:
    """Two runs of one suite.

    Attributes:
        before: The earlier run's report, under the name of its folder.
        after: The later one's.
        no_regression: The criterion as in a run with this baseline.
        changes: Criteria and findings that differ.
        answers: Metrics with their tests, queries won and lost, how the corpus changed.
        chunks: Chunks that differ; None without both snapshots.
        addresses: Stored address of each page that differs, by canonical form.
    """

    before: tuple[str, ValidationReport]
    after: tuple[str, ValidationReport]
    no_regression: MeasuredValue
    changes: RunChanges
    answers: Comparison
    chunks: Sequence[ChunkChange] | None
    addresses: Mapping[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """1 for a regression, 4 if unknown, else 0."""
        return {0.0: 1, 1.0: 0}.get(self.no_regression.value, 4) if self.no_regression.value is not None else 4


def compare_runs(
    before: KeptRun, after: KeptRun, *, tolerated_drop: float, names: tuple[str, str] | None = None
) -> RunComparison:
    """Compare two stored runs, the earlier one first; ``tolerated_drop`` is that of ``history``.

    ``names`` are what the runs are called; None: as their folders.

    Raises:
        HistoryNotReadError: A file of either run cannot be read.
    """
    old, new = read_report(before), read_report(after)
    rows = (corpus_rows(run, (*CHUNK_COLUMNS, "source_url")) for run in (before, after))
    then, now = rows
    snapshots = None if then is None or now is None else (list(then), list(now))
    first, second = names or (before.name, after.name)
    answers = compare_answers(
        whole_answers_of(before, old),
        whole_answers_of(after, new),
        tolerated_drop=tolerated_drop,
        turnover=turnover(*snapshots) if snapshots else None,
        criteria=(measured_values(old.criteria), measured_values(new.criteria)),
    )
    return RunComparison(
        (first, old),
        (second, new),
        no_regression=_judged(answers, first, old, new),
        changes=changes_between(first, old, new, (kept_subjects(before, old), kept_subjects(after, new))),
        answers=answers,
        chunks=chunk_changes(*snapshots) if snapshots else None,
        addresses={row["page_key"]: row["source_url"] for row in chain(*snapshots or ()) if row.get("source_url")},
    )


def comparison_json(comparison: RunComparison) -> dict[str, Any]:
    """The comparison as JSON values."""
    changes = comparison.changes
    return {
        "before": _run_facts(*comparison.before),
        "after": _run_facts(*comparison.after),
        CRITERION: comparison.no_regression.model_dump(),
        "criteria": [{**asdict(change), "delta": change.delta} for change in changes.criteria],
        "findings": [asdict(change) for change in changes.findings],
        "not_compared": list(changes.groups_uncompared),
        **{
            name: part
            for name, part in regression_section(comparison.answers, comparison.before[0]).items()
            if name in {"index_criteria", "metrics", "queries"}
        },
        "query_changes": query_changes(comparison.answers),
        "corpus": _corpus_facts(comparison),
    }


def query_changes(answers: Comparison) -> list[dict[str, Any]]:
    """Every query of both runs whose outcome or best score differs, losses first.

    ``set_aside`` says why an outcome is not compared: ``its threshold changed from 0.70 to 0.75``; else None.
    """
    pairs = [*answers.pairing.same, *answers.pairing.restated]
    aside = answers.pairing.set_aside
    rows = [
        {**_query_row(old, new), "set_aside": aside.get(new.query_id)}
        for old, new in pairs
        if _outcome(old) != _outcome(new)
    ]
    return sorted(rows, key=lambda row: (_gain(row), row["best_similarity_delta"] or 0.0, row["query_id"]))


def power_words(asked: int) -> str:
    """What ``asked`` questions of both sides can show: the smallest loss that is told from chance."""
    least = smallest_loss(asked)
    if least is None:
        return f"{plural(asked, 'question')} asked of both: too few to tell any loss from chance"
    return f"{asked:,} asked of both: {least} lost and none won is the smallest loss that is told from chance"


def _judged(answers: Comparison, name: str, old: ValidationReport, new: ValidationReport) -> MeasuredValue:
    for report in (old, new):
        if report.verdict == "error":
            return not_measured(CRITERION, "no_data", f"the run {report.run_id} ended in an error")
    [value] = measure_regression(answers, baseline=name, collection=new.collection_name).values
    return value


def _run_facts(name: str, report: ValidationReport) -> dict[str, Any]:
    known = ("run_id", "timestamp", "verdict", "collection_name", "profile", "environment")
    groups = groups_of_report(report)
    asked = [group for group in GROUPS if group in groups]
    return {"name": name, **{field: getattr(report, field) for field in known}, "groups": asked}


def _corpus_facts(comparison: RunComparison) -> dict[str, Any] | None:
    change = comparison.answers.turnover
    if change is None or comparison.chunks is None:
        return None
    return {
        **change.facts(),
        "pages_added": list(change.pages_added),
        "pages_removed": list(change.pages_removed),
        "pages_changed": list(change.pages_changed),
        "chunks": [asdict(chunk) for chunk in comparison.chunks],
    }


def _outcome(query: QueryReport) -> tuple[bool | None, float | None]:
    best = query.best_similarity
    return query.passed, None if best is None else round(best, 6)


def _query_row(old: QueryReport, new: QueryReport) -> dict[str, Any]:
    scores = old.best_similarity, new.best_similarity
    delta = None if scores[0] is None or scores[1] is None else scores[1] - scores[0]
    return {
        "query_id": new.query_id,
        "query_text": new.query.get("query_text"),
        "passed_before": old.passed,
        "passed_after": new.passed,
        "best_similarity_before": scores[0],
        "best_similarity_after": scores[1],
        "best_similarity_delta": delta,
        "fail_reason": new.fail_reason,
    }


def _gain(row: Mapping[str, Any]) -> int:
    """-1 for a lost query, 1 for a won one, else 0."""
    if row["passed_before"] is None or row["passed_after"] is None:
        return 0
    return int(row["passed_after"]) - int(row["passed_before"])
