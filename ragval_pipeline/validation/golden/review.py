"""The measurement of ``golden_set``: every review of the test queries in one place.

What lives here: gathering. What does not: any one review.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.golden.duplicates import duplicate_queries
from ragval_pipeline.validation.golden.gates import unreachable_gates
from ragval_pipeline.validation.golden.index_facts import IndexFacts
from ragval_pipeline.validation.golden.modules import unasked_modules
from ragval_pipeline.validation.golden.oracles import weak_oracles
from ragval_pipeline.validation.golden.targets import dead_targets
from ragval_pipeline.validation.golden.thresholds import Scores, unfit_threshold
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.report import MetricValue
from ragval_pipeline.validation.retrieval.judge import deciding_conditions
from ragval_pipeline.validation.retrieval.texts import ModuleMatch

ASSET = "golden_set"


@dataclass(frozen=True)
class GoldenSet:
    """The test queries with what the suite asks of them."""

    queries: Sequence[TestQuery]
    inventory: SiteInventory
    module_match: ModuleMatch
    judge: Sequence[str] | None
    gates: Mapping[str, Gate]
    min_similarity: float


def review_golden_set(
    golden: GoldenSet, facts: IndexFacts, *, results: Mapping[str, Any], own: Mapping[str, Any]
) -> Measurement:
    """Review the golden set.

    Args:
        golden: The test queries.
        facts: Pages, modules, chapters and texts of the index.
        results: Report sections of the asked queries; empty when they could not be asked.
        own: Report sections of self retrieval.
    """
    metrics = {
        name: MetricValue.model_validate(metric)
        for name, metric in results.get("retrieval_metrics", {}).get("page", {}).items()
    }
    findings = [
        *dead_targets(golden.queries, facts, golden.inventory, module_match=golden.module_match),
        *weak_oracles(
            golden.queries,
            facts,
            golden.inventory.folder().key,
            module_match=golden.module_match,
            judge=golden.judge,
        ),
        *duplicate_queries(golden.queries),
        *unreachable_gates(metrics, golden.gates),
        *unasked_modules(golden.queries, golden.inventory),
        *_threshold(golden, results, own),
    ]
    return Measurement(asset=ASSET, findings=tuple(findings))


def _threshold(golden: GoldenSet, results: Mapping[str, Any], own: Mapping[str, Any]) -> list[Finding]:
    """Judge the threshold that decides on most queries, where a score decides at all."""
    deciding = [
        golden.min_similarity if query.min_similarity is None else query.min_similarity
        for query in golden.queries
        if query.negative or "score" in deciding_conditions(query, golden.judge)
    ]
    reports = {entry["query_id"]: entry for entry in results.get("query_results", [])}
    if not deciding or not reports:
        return []
    threshold = max(set(deciding), key=lambda value: (deciding.count(value), value))
    titles = own.get("self_retrieval", {}).get("title_scores", [])
    scores = Scores(
        right=[
            *titles,
            *(reports[query.id]["best_similarity"] for query in golden.queries if _is_right(query, reports)),
        ],
        negative=[
            score
            for query in golden.queries
            if query.negative and (score := reports.get(query.id, {}).get("best_similarity")) is not None
        ],
    )
    return unfit_threshold(threshold, scores)


def _is_right(query: TestQuery, reports: Mapping[str, Any]) -> bool:
    """Whether an answer is right by everything that the query states but its score."""
    report = reports.get(query.id)
    if query.negative or report is None or report["best_similarity"] is None:
        return False
    states_more = bool(query.grades or query.expected_module or query.expected_chapter or query.expected_results)
    return states_more and not [name for name in report["failed_conditions"] if name != "score"]
