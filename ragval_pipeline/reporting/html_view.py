"""What the report's page shows, in the order in which it shows it, as plain values for the templates.

What lives here: choosing, grouping and positions. What does not: markup.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.model import Severity
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.charts import Axis, Histogram, Lane, Mark, Score, axis_over, histogram, lane
from ragval_pipeline.reporting.numbers import unit_of
from ragval_pipeline.reporting.outline import (
    SEVERITIES,
    CriteriaOutline,
    FindingNode,
    count_by_severity,
    finding_tree,
    first_steps,
    headline,
    outline_criteria,
)
from ragval_pipeline.suite.criteria import all_criteria, rank_of
from ragval_pipeline.validation.report import QueryReport, ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult


#: Characters of chunk text on one page.
_TEXT_BUDGET = 1_500_000


@dataclass(frozen=True)
class QueryRow:
    """A query, its anchor on the page, the score it must reach (null: none known) and what it expects."""

    query: QueryReport
    anchor: str
    threshold: float | None
    expects: list[tuple[str, str]]
    negative: bool
    critical: bool


@dataclass(frozen=True)
class ScorePicture:
    """Best scores of positive and negative queries on one axis, with the thresholds that they are held to."""

    axis: Axis
    lanes: list[Lane]
    thresholds: list[Mark]


@dataclass(frozen=True)
class PageView:
    """Everything that the templates need beside the report itself."""

    headline: str
    criteria: CriteriaOutline
    means: Mapping[str, str]
    bars: Mapping[str, tuple[float, float | None]]
    steps: list[FindingNode]
    groups: list[tuple[Severity, list[FindingNode]]]
    counts: Mapping[Severity, int]
    anchors: Mapping[int, str]
    queries: list[QueryRow]
    query_anchors: Mapping[str, str]
    snippet: int
    score_scale: float | None
    scores: ScorePicture | None
    tokens: Histogram | None
    coverage_reason: str


def page_view(bundle: ReportBundle, token_counts: Sequence[int] = ()) -> PageView:
    """The view of one run."""
    report = bundle.report
    tree = finding_tree(report.findings)
    rows = [_query_row(query, index, bundle) for index, query in enumerate(report.query_results)]
    return PageView(
        headline=headline(report),
        criteria=outline_criteria(report.criteria),
        means=_means(report),
        bars={result.name: bar for result in report.criteria if (bar := _bar(result))},
        steps=first_steps(report),
        groups=[(severity, nodes) for severity in SEVERITIES if (nodes := _of_severity(tree, severity))],
        counts=count_by_severity(report.findings),
        anchors={id(finding): f"finding-{index}" for index, finding in enumerate(report.findings)},
        queries=rows,
        query_anchors={row.query.query_id: row.anchor for row in rows},
        snippet=_snippet(report),
        score_scale=_score_scale(bundle),
        scores=_score_picture(rows),
        tokens=histogram(token_counts, "chunk") if token_counts else None,
        coverage_reason=_reason(report, "coverage"),
    )


def _of_severity(tree: Sequence[FindingNode], severity: Severity) -> list[FindingNode]:
    return [node for node in tree if node.finding.severity == severity]


def _means(report: ValidationReport) -> dict[str, str]:
    ranks = {rank for result in report.criteria if (rank := rank_of(result.name))}
    return {criterion.name: criterion.means for criterion in all_criteria(ranks)}


def _bar(result: CriterionResult) -> tuple[float, float | None] | None:
    """Length of the bar and place of the gate in percent; null for counts and for what was not measured."""
    unit = unit_of(result.name)
    if result.value is None or unit == "count":
        return None
    scale = 1.0 if unit != "milliseconds" else 1.25 * max(result.value, result.threshold or 0.0) or 1.0
    axis = Axis(0.0, scale, scale)
    return axis.at(result.value), None if result.threshold is None else axis.at(result.threshold)


def _query_row(query: QueryReport, index: int, bundle: ReportBundle) -> QueryRow:
    given = query.query
    threshold = given.get("min_similarity", bundle.setting("retrieval", "min_similarity"))
    return QueryRow(
        query=query,
        anchor=f"query-{index + 1}",
        threshold=threshold if isinstance(threshold, int | float) else None,
        expects=_expectations(given),
        negative=bool(given.get("negative")),
        critical=bool(given.get("critical")),
    )


def _expectations(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    names = {
        "expected_module": "module", "expected_chapter": "chapter", "relevant_urls": "page",
        "acceptable_urls": "or page", "expected_keywords": "keyword", "expected_results": "result",
    }  # fmt: skip
    found = []
    for field, label in names.items():
        value = given.get(field)
        values = value if isinstance(value, list | tuple) else [value]
        found += [(label, str(entry)) for entry in values if entry]
    return found


def _snippet(report: ValidationReport) -> int:
    """Characters of each hit's text: 300, and less where many hits would make the page slow."""
    hits = sum(len(query.top_results) for query in report.query_results)
    return min(300, max(80, _TEXT_BUDGET // max(hits, 1)))


def _score_scale(bundle: ReportBundle) -> float | None:
    """What a full bar of a score stands for; null when scores are distances and longer would not mean better."""
    scores = [hit.similarity_score for query in bundle.report.query_results for hit in query.top_results]
    facts = bundle.manifest.facts if bundle.manifest else None
    vector = facts.vector(bundle.setting("qdrant", "vector_name")) if facts else None
    if not scores or (vector is not None and not vector.higher_is_better):
        return None
    return max(1.0, *scores)


def _score_picture(rows: Sequence[QueryRow]) -> ScorePicture | None:
    asked = [row for row in rows if math.isfinite(_best(row))]
    if not asked:
        return None
    thresholds = sorted({row.threshold for row in asked if row.threshold is not None})
    # Many different thresholds are no line to look at.
    shown = thresholds if len(thresholds) <= 3 else []
    axis = axis_over([*(score.value for score in map(_score, asked)), *shown], most_ticks=8)
    lanes = [
        lane(name, [_score(row) for row in asked if row.negative is negative], axis)
        for name, negative in (("positive", False), ("negative", True))
        if any(row.negative is negative for row in asked)
    ]
    return ScorePicture(axis, lanes, [Mark(axis.at(value), f"{value:g}") for value in shown])


def _score(row: QueryRow) -> Score:
    verdict = "passed" if row.query.passed else "failed"
    return Score(_best(row), bool(row.query.passed), f"{row.query.query_id}: {_best(row):.3f}, {verdict}")


def _best(row: QueryRow) -> float:
    return math.nan if row.query.best_similarity is None else row.query.best_similarity


def _reason(report: ValidationReport, name: str) -> str:
    return next((result.reason for result in report.criteria if result.name == name), "")
