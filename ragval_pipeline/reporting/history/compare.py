"""Two kept runs held against each other: everything that ``ragval compare`` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragval_pipeline.reporting.history.changes import changes_between
from ragval_pipeline.reporting.history.earlier import answers_of, kept_subjects, read_report
from ragval_pipeline.reporting.history.model import RunChanges
from ragval_pipeline.reporting.outline import groups_of_report
from ragval_pipeline.sources.history.files import corpus_rows
from ragval_pipeline.sources.history.kept_runs import KeptRun
from ragval_pipeline.suite.criteria import GROUPS
from ragval_pipeline.validation.measurement import MeasuredValue, not_measured
from ragval_pipeline.validation.regression.compare import Comparison, compare_answers
from ragval_pipeline.validation.regression.corpus import COLUMNS, ChunkChange, chunk_changes
from ragval_pipeline.validation.regression.index_criteria import measured_values
from ragval_pipeline.validation.regression.measure import CRITERION, measure_regression
from ragval_pipeline.validation.regression.measure import section as regression_section
from ragval_pipeline.validation.regression.turnover import turnover
from ragval_pipeline.validation.report import QueryReport, ValidationReport


@dataclass(frozen=True)
class RunComparison:
    """Two runs of one suite.

    Args:
        before: The earlier run's report, under the name of its folder.
        after: The later one's.
        no_regression: The criterion between the two, as a run against this baseline would have it.
        changes: Criteria and findings that differ.
        answers: Metrics with their tests, queries won and lost, how the corpus changed.
        chunks: Chunks that differ; null when a run kept no snapshot.
    """

    before: tuple[str, ValidationReport]
    after: tuple[str, ValidationReport]
    no_regression: MeasuredValue
    changes: RunChanges
    answers: Comparison
    chunks: Sequence[ChunkChange] | None

    @property
    def exit_code(self) -> int:
        """1 for a regression, 4 when it cannot be told, else 0."""
        return {0.0: 1, 1.0: 0}.get(self.no_regression.value, 4) if self.no_regression.value is not None else 4


def compare_runs(before: KeptRun, after: KeptRun, *, tolerated_drop: float) -> RunComparison:
    """Compare two kept runs.

    Args:
        before: The earlier one.
        after: The later one.
        tolerated_drop: As ``history.tolerated_drop``.

    Raises:
        HistoryNotReadError: A file of either run cannot be read.
    """
    old, new = read_report(before), read_report(after)
    rows = corpus_rows(before, COLUMNS), corpus_rows(after, COLUMNS)
    snapshots = None if rows[0] is None or rows[1] is None else (list(rows[0]), list(rows[1]))
    answers = compare_answers(
        answers_of(before, old),
        answers_of(after, new),
        tolerated_drop=tolerated_drop,
        turnover=turnover(*snapshots) if snapshots else None,
        criteria=(measured_values(old.criteria), measured_values(new.criteria)),
    )
    return RunComparison(
        (before.name, old),
        (after.name, new),
        no_regression=_judged(answers, before.name, old, new),
        changes=changes_between(before.name, old, new, (kept_subjects(before, old), kept_subjects(after, new))),
        answers=answers,
        chunks=chunk_changes(*snapshots) if snapshots else None,
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
    """Every query that both runs asked and whose outcome or best score differs, losses first.

    ``set_aside`` says why an outcome is not compared: ``its threshold changed from 0.70 to 0.75``; else null.
    """
    pairs = [*answers.pairing.same, *answers.pairing.restated]
    aside = answers.pairing.set_aside
    rows = [
        {**_query_row(old, new), "set_aside": aside.get(new.query_id)}
        for old, new in pairs
        if _outcome(old) != _outcome(new)
    ]
    return sorted(rows, key=lambda row: (_gain(row), row["best_similarity_delta"] or 0.0, row["query_id"]))


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
    """-1 for a query that is lost, 1 for one that is won, else 0."""
    if row["passed_before"] is None or row["passed_after"] is None:
        return 0
    return int(row["passed_after"]) - int(row["passed_before"])
