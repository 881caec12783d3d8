"""What the report says about scores: their distribution, and why low ones need not be bad ones.

What lives here: choosing scores, thresholds and sentences. What does not: drawing (``plots/scores``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.query_rows import QueryRow, as_expected, page_key
from ragval_pipeline.suite.printing import plural

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragval_pipeline.reporting.plots.scores import ScoreLane

#: Many different thresholds are no lines to look at.
_MOST_THRESHOLDS = 3


def thresholds_of(rows: Sequence[QueryRow]) -> list[float]:
    """The thresholds that queries with a score are held to, in order; empty when they are too many to draw."""
    thresholds = sorted({row.threshold for row in rows if row.threshold is not None and _best(row) is not None})
    return thresholds if len(thresholds) <= _MOST_THRESHOLDS else []


def score_lanes(rows: Sequence[QueryRow]) -> list[ScoreLane]:
    """The best scores of positive and of negative queries, for those kinds that have any."""
    from ragval_pipeline.reporting.plots.scores import ScoreLane

    lanes = []
    for name, negative in (("positive queries", False), ("negative queries", True)):
        kind = [row for row in rows if row.negative is negative and row.query.counted and _best(row) is not None]
        if kind:
            passed = [row.query.best_similarity or 0.0 for row in kind if row.query.passed]
            failed = [row.query.best_similarity or 0.0 for row in kind if not row.query.passed]
            lanes.append(ScoreLane(name, passed, failed))
    return lanes


def score_picture(rows: Sequence[QueryRow]) -> Markup | None:
    """The plot of the best scores; null when no query got one."""
    from ragval_pipeline.reporting.plots.scores import score_plot

    lanes, thresholds = score_lanes(rows), thresholds_of(rows)
    if not lanes:
        return None
    said = [f"{plural(len(lane.values), lane.name.removesuffix('ies') + 'y')} {_range(lane.values)}" for lane in lanes]
    limits = f"; threshold {', '.join(f'{value:g}' for value in thresholds)}" if thresholds else ""
    return score_plot(lanes, thresholds, title=f"Best scores: {'; '.join(said)}{limits}")


def score_note(bundle: ReportBundle) -> str | None:
    """Why scores below the threshold say nothing against this index; null when they are not what it fails by."""
    report = bundle.report
    unfit = next((finding for finding in report.findings if finding.code == "query.threshold_unfit"), None)
    if unfit is not None:
        return _unfit_note(unfit)
    key = page_key(bundle)
    scores = [
        query.best_similarity
        for query in report.query_results
        if query.failed_conditions == ["score"]
        and query.best_similarity is not None
        and not query.query.get("negative")
        and any(as_expected(hit, query, bundle, key) for hit in query.top_results)
    ]
    if not scores:
        return None
    return (
        f"{plural(len(scores), 'query')} found what is expected and missed only the score threshold: best scores "
        f"{_range(scores)}. {_ADVICE}"
    )


_ADVICE = (
    "Scores are no grades: each embedding model has its own range, and a threshold fits one model only. "
    "ragval calibrate proposes one from this index's own scores."
)


def _unfit_note(finding: ReportedFinding) -> str:
    measured = finding.details.get("subjects", {}).get(finding.subjects[0], {}) if finding.subjects else {}
    right, negative = measured.get("right"), measured.get("negative")
    said = []
    if right:
        said.append(
            f"would turn down {measured.get('rejected', 0.0):.0%} of the right answers, which score "
            f"{right['min']:.2f} to {right['max']:.2f} on this index"
        )
    if negative:
        said.append(f"would let in {measured.get('admitted', 0.0):.0%} of the answers to negative queries")
    if not said:
        return f"{finding.message} {_ADVICE}"
    return f"The threshold {finding.subjects[0]} {' and '.join(said)}. {_ADVICE}"


def _best(row: QueryRow) -> float | None:
    best = row.query.best_similarity
    return best if best is not None and math.isfinite(best) else None


def _range(scores: Sequence[float]) -> str:
    low, high = f"{min(scores):.2f}", f"{max(scores):.2f}"
    return low if low == high else f"{low} to {high}"
