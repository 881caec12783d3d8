"""The queries as the report's page shows them: a row each, and their best scores as a picture.

What lives here: rows, expectations, the scale of score bars. What does not: the rest of the page (``html_view``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.charts import Axis, Lane, Mark, Score, axis_over, lane
from ragval_pipeline.validation.report import QueryReport, ValidationReport

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


def query_row(query: QueryReport, index: int, bundle: ReportBundle) -> QueryRow:
    """The row of the query at ``index``, held to its own threshold or else the suite's."""
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


def snippet(report: ValidationReport) -> int:
    """Characters of each hit's text: 300, and less where many hits would make the page slow."""
    hits = sum(len(query.top_results) for query in report.query_results)
    return min(300, max(80, _TEXT_BUDGET // max(hits, 1)))


def score_scale(bundle: ReportBundle) -> float | None:
    """What a full bar of a score stands for; null when scores are distances and longer would not mean better."""
    scores = [hit.similarity_score for query in bundle.report.query_results for hit in query.top_results]
    facts = bundle.manifest.facts if bundle.manifest else None
    vector = facts.vector(bundle.setting("qdrant", "vector_name")) if facts else None
    if not scores or (vector is not None and not vector.higher_is_better):
        return None
    return max(1.0, *scores)


def score_picture(rows: Sequence[QueryRow]) -> ScorePicture | None:
    """The best scores of all queries that got hits; null when none did."""
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
