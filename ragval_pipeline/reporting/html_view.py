"""What the report's page shows, in the order in which it shows it, as plain values for the templates.

What lives here: choosing and grouping. What does not: markup, and what one section alone needs (its own module).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.findings.model import Severity
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.change_view import ChangeView, change_view
from ragval_pipeline.reporting.finding_groups import FindingGroup, finding_groups
from ragval_pipeline.reporting.latency_view import LatencyView, latency_view
from ragval_pipeline.reporting.numbers import unit_of
from ragval_pipeline.reporting.outline import (
    CriteriaOutline,
    FindingNode,
    count_by_severity,
    finding_tree,
    first_steps,
    headline,
    outline_criteria,
    reason_of,
    verdict_words,
)
from ragval_pipeline.reporting.query_rows import QueryRow, query_rows, score_scale
from ragval_pipeline.reporting.score_view import score_note, score_picture, thresholds_of
from ragval_pipeline.reporting.text_diffs import TextDiff, text_diffs
from ragval_pipeline.reporting.token_view import model_limit, token_picture, token_sentence
from ragval_pipeline.reporting.trend_view import TrendView, trend_view
from ragval_pipeline.suite.criteria import all_criteria, rank_of
from ragval_pipeline.suite.printing import show_count
from ragval_pipeline.validation.report import ValidationReport
from ragval_pipeline.validation.verdict import CriterionResult

if TYPE_CHECKING:
    from markupsafe import Markup

#: Characters that fit beside a value without a second line.
_ROOM_BESIDE = 30


@dataclass(frozen=True)
class PageView:
    """Everything that the templates need beside the report itself; plots are null when there is nothing to draw."""

    verdict: str
    headline: str
    score_note: str | None
    changes: ChangeView | None
    criteria: CriteriaOutline
    means: Mapping[str, str]
    tones: Mapping[str, str]
    bars: Mapping[str, tuple[float, float | None]]
    beside: Mapping[str, str]
    sizes: Mapping[str, str]
    below: Mapping[str, str]
    steps: list[FindingNode]
    groups: list[FindingGroup]
    counts: Mapping[Severity, int]
    anchors: Mapping[int, str]
    queries: list[QueryRow]
    query_anchors: Mapping[str, str]
    categories: list[str]
    score_scale: float | None
    thresholds: list[float]
    scores: Markup | None
    tokens: Markup | None
    token_sentence: str
    latency: LatencyView | None
    diffs: list[TextDiff]
    trends: TrendView | None
    coverage_reason: str


def page_view(bundle: ReportBundle, token_counts: Sequence[int] = ()) -> PageView:
    """The view of one run."""
    report = bundle.report
    rows = query_rows(bundle)
    limit = model_limit(bundle)
    tones = {result.name: _tone(result) for result in report.criteria}
    return PageView(
        verdict=verdict_words(report),
        headline=headline(report),
        score_note=score_note(bundle),
        changes=change_view(bundle.history.changes) if bundle.history else None,
        criteria=outline_criteria(report.criteria),
        means=_means(report),
        tones=tones,
        bars={result.name: bar for result in report.criteria if (bar := _bar(result))},
        beside={result.name: _beside(result) for result in report.criteria},
        sizes={result.name: _size(result) for result in report.criteria},
        below={result.name: _below(result) for result in report.criteria},
        steps=first_steps(report),
        groups=finding_groups(finding_tree(report.findings)),
        counts=count_by_severity(report.findings),
        anchors={id(finding): f"finding-{index}" for index, finding in enumerate(report.findings)},
        queries=rows,
        query_anchors={row.query.query_id: row.anchor for row in rows},
        categories=sorted({str(category) for row in rows if (category := row.query.query.get("category"))}),
        score_scale=score_scale(bundle),
        thresholds=thresholds_of(rows),
        scores=score_picture(rows),
        tokens=token_picture(token_counts, limit),
        token_sentence=token_sentence(token_counts, limit),
        latency=latency_view(report),
        diffs=text_diffs(bundle),
        trends=trend_view(bundle.history, tones),
        coverage_reason=_reason(report, "coverage"),
    )


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
    # Written as reasons write them, so that both can be told to be the same.
    return f"{show_count(result.numerator)} of {show_count(result.denominator)}"


def _size(result: CriterionResult) -> str:
    """What a value was measured on: the counts of a share, the number of values of a mean."""
    counts = _counts(result)
    if not counts or reason_of(result).startswith(counts):
        return counts
    return f"mean of {show_count(result.denominator or 0)}"


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
    return _percent(result.value / scale), None if result.threshold is None else _percent(result.threshold / scale)


def _percent(share: float) -> float:
    return round(100 * min(max(share, 0.0), 1.0), 3)


def _reason(report: ValidationReport, name: str) -> str:
    return next((reason_of(result) for result in report.criteria if result.name == name), "")
