"""What the report's page shows, in the order in which it shows it, as plain values for the templates.

What lives here: choosing, grouping and positions. What does not: markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragval_pipeline.findings.model import Severity
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.charts import Axis, Histogram, histogram
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
    reason_of,
)
from ragval_pipeline.reporting.query_rows import (
    QueryRow,
    ScorePicture,
    query_row,
    score_picture,
    score_scale,
    snippet,
)
from ragval_pipeline.suite.criteria import all_criteria, rank_of
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

#: Characters that fit beside a value without a second line.
_ROOM_BESIDE = 30


@dataclass(frozen=True)
class PageView:
    """Everything that the templates need beside the report itself."""

    headline: str
    criteria: CriteriaOutline
    means: Mapping[str, str]
    tones: Mapping[str, str]
    bars: Mapping[str, tuple[float, float | None]]
    beside: Mapping[str, str]
    below: Mapping[str, str]
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
    rows = [query_row(query, index, bundle) for index, query in enumerate(report.query_results)]
    return PageView(
        headline=headline(report),
        criteria=outline_criteria(report.criteria),
        means=_means(report),
        tones={result.name: _tone(result) for result in report.criteria},
        bars={result.name: bar for result in report.criteria if (bar := _bar(result))},
        beside={result.name: _beside(result) for result in report.criteria},
        below={result.name: _below(result) for result in report.criteria},
        steps=first_steps(report),
        groups=[(severity, nodes) for severity in SEVERITIES if (nodes := _of_severity(tree, severity))],
        counts=count_by_severity(report.findings),
        anchors={id(finding): f"finding-{index}" for index, finding in enumerate(report.findings)},
        queries=rows,
        query_anchors={row.query.query_id: row.anchor for row in rows},
        snippet=snippet(report),
        score_scale=score_scale(bundle),
        scores=score_picture(rows),
        tokens=histogram(token_counts, "chunk") if token_counts else None,
        coverage_reason=_reason(report, "coverage"),
    )


def _of_severity(tree: Sequence[FindingNode], severity: Severity) -> list[FindingNode]:
    return [node for node in tree if node.finding.severity == severity]


def _means(report: ValidationReport) -> dict[str, str]:
    ranks = {rank for result in report.criteria if (rank := rank_of(result.name))}
    return {criterion.name: criterion.means for criterion in all_criteria(ranks)}


def _tone(result: CriterionResult) -> str:
    """The look of a criterion: a missed gate that is not required warns, a value without a gate is neither."""
    if result.verdict == "not_measured":
        return "none"
    if result.verdict == "not_met":
        return "bad" if result.required else "warning"
    return "plain" if result.threshold is None else "good"


def _counts(result: CriterionResult) -> str:
    if result.numerator is None or not result.denominator:
        return ""
    return f"{result.numerator:g} of {result.denominator:g}"


def _beside(result: CriterionResult) -> str:
    """What stands beside the value: the counts that it comes from, in the words of its reason if there is room."""
    counts, reason = _counts(result), reason_of(result)
    if not counts or not reason.startswith(counts):
        return ""
    return reason if len(reason) <= _ROOM_BESIDE else counts


def _below(result: CriterionResult) -> str:
    """What stands below the name: the reason, unless it stands beside the value or a gate is met."""
    reason = reason_of(result)
    return "" if _tone(result) == "good" or _beside(result) == reason else reason


def _bar(result: CriterionResult) -> tuple[float, float | None] | None:
    """Length of the bar and place of the gate in percent; null for counts and for what was not measured."""
    unit = unit_of(result.name)
    if result.value is None or unit == "count":
        return None
    scale = 1.0 if unit != "milliseconds" else 1.25 * max(result.value, result.threshold or 0.0) or 1.0
    axis = Axis(0.0, scale, scale)
    return axis.at(result.value), None if result.threshold is None else axis.at(result.threshold)


def _reason(report: ValidationReport, name: str) -> str:
    return next((reason_of(result) for result in report.criteria if result.name == name), "")
