"""The measurement of ``golden_set``: every review of the test queries in one place.

What lives here: gathering. What does not: any one review.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.golden.duplicates import duplicate_queries
from ragval_pipeline.validation.golden.gates import unreachable_gates
from ragval_pipeline.validation.golden.index_facts import IndexFacts
from ragval_pipeline.validation.golden.judgements import unmatched_judgements
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
        top_k: Hits of a query that states no number of its own.
        min_similarity: The suite's threshold.
        higher_is_better: False for distances.
        unmatched_topics: Ids of the qrels that name no query, with the number of judgements on each.
    """

    queries: Sequence[TestQuery]
    inventory: SiteInventory
    module_match: ModuleMatch
    judge: Sequence[str] | None
    gates: Mapping[str, Gate]
    top_k: int
    min_similarity: float
    higher_is_better: bool = True
    unmatched_topics: Mapping[str, int] = field(default_factory=dict)


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
            top_k=golden.top_k,
        ),
        *unmatched_judgements(golden.queries, facts, golden.inventory.folder().key, golden.unmatched_topics),
        *duplicate_queries(golden.queries),
        *unreachable_gates(metrics, golden.gates),
        *unasked_modules(golden.queries, golden.inventory),
        *_thresholds(golden, results, own),
    ]
    return Measurement(asset=ASSET, findings=tuple(findings))


def _thresholds(golden: GoldenSet, results: Mapping[str, Any], own: Mapping[str, Any]) -> list[Finding]:
    """Judge the thresholds in use: the suite's where any query is held to it, and one that most queries state."""
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
        for threshold, negative in sorted(_in_use(golden).items())
        for finding in unfit_threshold(threshold, _decided(scores, negative), used)
    ]


def _decided(scores: Scores, negative: Set[bool]) -> Scores:
    """The scores that a threshold decides on when it holds for negative queries, for positive ones, or for both."""
    return replace(
        scores, right=scores.right if False in negative else (), negative=scores.negative if True in negative else ()
    )


def _in_use(golden: GoldenSet) -> dict[float, set[bool]]:
    """Thresholds that decide on the suite's behalf or on most queries, with whether those queries are negative.

    A query that states pages and no threshold of its own is held to none, unless ``judge`` says so.
    """
    held: dict[float, list[TestQuery]] = {}
    for query in golden.queries:
        if query.negative or "score" in deciding_conditions(query, golden.judge):
            threshold = golden.min_similarity if query.min_similarity is None else query.min_similarity
            held.setdefault(threshold, []).append(query)
    return {
        threshold: {query.negative for query in queries}
        for threshold, queries in held.items()
        if any(query.min_similarity is None for query in queries) or 2 * len(queries) > len(golden.queries)
    }


def _is_right(query: TestQuery, reports: Mapping[str, Any]) -> bool:
    """Whether an answer is right by everything that the query states but its score."""
    report = reports.get(query.id)
    if query.negative or report is None or report["best_similarity"] is None:
        return False
    states_more = bool(query.grades or query.expected_module or query.expected_chapter or query.expected_results)
    return states_more and not [name for name in report["failed_conditions"] if name != "score"]
