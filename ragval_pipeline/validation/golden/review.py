"""The measurement of ``golden_set``: every review of the test queries in one place.

What lives here: gathering. What does not: any one review.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    """The test queries with what the suite asks of them.

    Args:
        queries: In file order.
        inventory: The site.
        module_match: How modules are compared.
        judge: Conditions that decide, or null.
        gates: The gate of each criterion.
        min_similarity: The suite's threshold.
        states_threshold: Whether suite or profile state it, rather than leaving the default.
        higher_is_better: False for distances.
    """

    queries: Sequence[TestQuery]
    inventory: SiteInventory
    module_match: ModuleMatch
    judge: Sequence[str] | None
    gates: Mapping[str, Gate]
    min_similarity: float
    states_threshold: bool = False
    higher_is_better: bool = True


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
        *_thresholds(golden, results, own),
    ]
    return Measurement(asset=ASSET, findings=tuple(findings))


def _thresholds(golden: GoldenSet, results: Mapping[str, Any], own: Mapping[str, Any]) -> list[Finding]:
    """Judge the thresholds that somebody chose: the suite's, and the one that most queries state."""
    reports = {entry["query_id"]: entry for entry in results.get("query_results", [])}
    if not reports:
        return []
    titles = own.get("self_retrieval", {}).get("title_scores", [])
    right = [reports[query.id]["best_similarity"] for query in golden.queries if _is_right(query, reports)]
    scores = Scores(
        right=[*titles, *right],
        negative=[
            score
            for query in golden.queries
            if query.negative and (score := reports.get(query.id, {}).get("best_similarity")) is not None
        ],
        higher_is_better=golden.higher_is_better,
    )
    own_or_suite = [query.min_similarity for query in golden.queries]
    used = {golden.min_similarity if value is None else value for value in own_or_suite}
    return [
        finding
        for threshold in _chosen(golden)
        for finding in unfit_threshold(threshold, _held_to(threshold, golden, scores), used)
    ]


def _held_to(threshold: float, golden: GoldenSet, scores: Scores) -> Scores:
    """The scores that a threshold decides on: the suite's on all, one that only negative queries state on theirs."""
    if threshold == golden.min_similarity:
        return scores
    stating = {query.negative for query in golden.queries if query.min_similarity == threshold}
    right, negative = scores.right if False in stating else (), scores.negative if True in stating else ()
    return replace(scores, right=right, negative=negative)


def _chosen(golden: GoldenSet) -> list[float]:
    stated = [query.min_similarity for query in golden.queries if query.min_similarity is not None]
    common = max(set(stated), key=lambda value: (stated.count(value), value), default=None)
    falls_back = any(
        query.min_similarity is None and (query.negative or "score" in deciding_conditions(query, golden.judge))
        for query in golden.queries
    )
    chosen = {golden.min_similarity} if golden.states_threshold or falls_back else set()
    if common is not None and 2 * stated.count(common) > len(golden.queries):
        chosen.add(common)
    return sorted(chosen)


def _is_right(query: TestQuery, reports: Mapping[str, Any]) -> bool:
    """Whether an answer is right by everything that the query states but its score."""
    report = reports.get(query.id)
    if query.negative or report is None or report["best_similarity"] is None:
        return False
    states_more = bool(query.grades or query.expected_module or query.expected_chapter or query.expected_results)
    return states_more and not [name for name in report["failed_conditions"] if name != "score"]
