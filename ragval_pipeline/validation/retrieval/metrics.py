"""Retrieval metrics as trec_eval defines them, on pages and on chunks, with fixed rankings."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.report import MetricValue
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings
from ragval_pipeline.validation.retrieval.hits import HitReader, Qrels, Run, has_ground_truth, relevant_pages


def metric_names(ranks: Iterable[int], *, depth: int) -> dict[str, str]:
    """Our names to ir-measures' names; ``mrr`` uses the first ``depth`` pages, ``map`` the whole ranking."""
    names: dict[str, str] = {}
    for k in sorted(set(ranks)):
        names |= {
            f"hit_at_{k}": f"Success@{k}",
            f"precision_at_{k}": f"P@{k}",
            f"recall_at_{k}": f"R@{k}",
            f"ndcg_at_{k}": f"nDCG@{k}",
            f"judged_at_{k}": f"Judged@{k}",
        }
    return {**names, "mrr": f"RR@{depth}", "map": "AP"}


#: Values by metric name, then query id.
PerQuery = dict[str, dict[str, float]]


def per_query(run: Run, qrels: Qrels, *, ranks: Iterable[int], depth: int) -> PerQuery:
    """Every metric of every query.

    The values are those of trec_eval (https://github.com/usnistgov/trec_eval) with a relevance level of 1: a grade is
    its own gain, and grades below 1 gain nothing. ``judged_at_k`` is that of ir-measures, the share of the first k
    documents retrieved that have a grade.

    Args:
        run: Documents by query id, best first, each once; a query without any scores 0.
        qrels: Grades by query id and document, without queries that have no relevant document.
        ranks: The k of the ranked metrics.
        depth: Ranks for ``mrr``; ``map`` uses the whole ranking.

    Returns:
        Values 0..1 by metric name and query id; every query of ``qrels`` has a value.
    """
    cutoffs = sorted(set(ranks))
    values: PerQuery = {}
    same: dict[float, float] = {}  # share the few distinct values
    for query, grades in qrels.items():
        for name, value in _of_query(run.get(query, ()), grades, cutoffs, depth):
            values.setdefault(name, {})[query] = same.setdefault(value, value)
    return values


def _of_query(
    ranking: Sequence[str], grades: Mapping[str, int], cutoffs: Sequence[int], depth: int
) -> Iterator[tuple[str, float]]:
    """The metrics of one ranking."""
    gains = [max(grades.get(doc, 0), 0) for doc in ranking]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    relevant_so_far = [*accumulate(gain > 0 for gain in gains)]
    for k in cutoffs:
        hits = relevant_so_far[min(k, len(relevant_so_far)) - 1] if relevant_so_far else 0
        first = ranking[:k]
        yield f"hit_at_{k}", float(hits > 0)
        yield f"precision_at_{k}", hits / k
        yield f"recall_at_{k}", hits / len(ideal) if ideal else 0.0
        yield f"ndcg_at_{k}", _dcg(gains[:k]) / _dcg(ideal[:k]) if ideal else 0.0
        yield f"judged_at_{k}", sum(doc in grades for doc in first) / len(first) if first else 0.0
    yield "mrr", next((1 / rank for rank, gain in enumerate(gains[:depth], 1) if gain > 0), 0.0)
    precisions = [relevant_so_far[place] / (place + 1) for place, gain in enumerate(gains) if gain > 0]
    yield "map", sum(precisions) / len(ideal) if ideal else 0.0


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ceilings(qrels: Qrels, *, ranks: Iterable[int], depth: int) -> PerQuery:
    """The best value that the ground truth allows, by metric name and query id.

    P@k cannot exceed min(R, k) / k and R@k cannot exceed min(R, k) / R for R relevant pages; nor can AP on rankings of
    ``depth`` pages exceed min(R, depth) / R. All others can reach 1.
    """
    sizes = {query: len(relevant_pages(grades)) for query, grades in qrels.items()}
    best: PerQuery = {"map": {query: min(size, depth) / size for query, size in sizes.items()}}
    for k in sorted(set(ranks)):
        best[f"precision_at_{k}"] = {query: min(size, k) / k for query, size in sizes.items()}
        best[f"recall_at_{k}"] = {query: min(size, k) / size for query, size in sizes.items()}
    return best


def why_limited(name: str) -> str:
    """Why the ground truth does not allow a value of 1 for a metric."""
    return f"{'fewer' if name.startswith('precision') else 'more'} relevant pages than ranks"


def means(values: PerQuery, best: PerQuery, *, queries: Sequence[str] | None = None) -> dict[str, MetricValue]:
    """Means over ``queries`` (None: all), with the number of queries and the mean ceiling (1 if there is none)."""
    result = {}
    for name, by_query in values.items():
        chosen = list(by_query) if queries is None else [query for query in queries if query in by_query]
        if chosen:
            limit = statistics.fmean(best[name][query] for query in chosen) if name in best else 1.0
            mean = statistics.fmean(by_query[query] for query in chosen)
            result[name] = MetricValue(value=mean, n=len(chosen), ceiling=limit)
    return result


def by_category(
    values: PerQuery, best: PerQuery, categories: Mapping[str, str | None]
) -> dict[str, dict[str, MetricValue]]:
    """Means per category of the queries; queries without a category are left out."""
    groups: dict[str, list[str]] = {}
    for query, category in categories.items():
        if category is not None:
            groups.setdefault(category, []).append(query)
    return {
        category: means(values, best, queries=queries)
        for category, queries in groups.items()
        if any(query in by_query for by_query in values.values() for query in queries)
    }


#: Placeholder for relevant chunks that were not retrieved: metrics of the first kind do not depend on their number.
_UNSEEN = "\x00 not retrieved"
_KNOWN_TRUTH = ("recall_at_", "ndcg_at_")


def chunk_metrics(
    queries: Sequence[TestQuery], answers: Mapping[str, Answer], settings: RetrievalSettings
) -> dict[str, MetricValue]:
    """``hit``, ``precision``, ``judged``, ``recall`` and ``ndcg`` at each rank up to ``top_k``, and ``mrr``, on chunks.

    Results with an error are left out.

    Returns:
        Means 0..1 over the queries with ground truth, with the number of queries; empty without any.
    """
    asked = [
        query for query in queries if not query.negative and query.id in answers and answers[query.id].error is None
    ]
    ranks = [k for k in settings.ranks if k <= settings.top_k]
    run = {query.id: _ranking(answers[query.id], settings.top_k) for query in asked}
    named = {query.id: dict.fromkeys(ids, 1) for query in asked if (ids := expected_ids(query))}
    paged = _on_judged_pages(asked, answers, settings.rules.read)
    any_truth = _means(run, {**named, **paged}, named, ranks, settings.top_k)
    return {**any_truth, **_known(run, named, ranks, settings.top_k)}


def expected_ids(query: TestQuery) -> list[str]:
    """Ids of the chunks that a query expects; empty unless every expected result has one."""
    ids = [entry.get("id") for entry in query.expected_results]
    return [] if None in ids else [canonical_id(name) for name in ids]


def _ranking(answer: Answer, depth: int) -> list[str]:
    return list(dict.fromkeys(hit.id for hit in (*answer.hits, *answer.deeper)))[:depth]


def _on_judged_pages(queries: Sequence[TestQuery], answers: Mapping[str, Answer], read: HitReader) -> Qrels:
    """Grades of the retrieved chunks from those of their pages, for queries with relevant pages."""
    qrels: Qrels = {}
    for query in queries:
        if has_ground_truth(query):
            pages = {read.page_key(url): grade for url, grade in sorted(query.grades.items(), key=lambda item: item[1])}
            answer = answers[query.id]
            found = {hit.id: read.page(hit.payload) for hit in (*answer.hits, *answer.deeper)}
            grades = {chunk: pages[page] for chunk, page in found.items() if page is not None and page in pages}
            qrels[query.id] = {**grades, _UNSEEN: 1}
    return qrels


def _means(run: Run, qrels: Qrels, named: Qrels, ranks: Sequence[int], depth: int) -> dict[str, MetricValue]:
    values = per_query(run, qrels, ranks=ranks, depth=depth)
    kept = {name: entry for name, entry in values.items() if not name.startswith(_KNOWN_TRUTH) and name != "map"}
    own = ceilings(named, ranks=ranks, depth=depth)
    best = {
        # A relevant page may have any number of chunks.
        name: {query: 1.0 if _UNSEEN in qrels[query] else own[name][query] for query in qrels}
        for name in kept
        if name.startswith("precision_at_")
    }
    return means(kept, best)


def _known(run: Run, named: Qrels, ranks: Sequence[int], depth: int) -> dict[str, MetricValue]:
    values = per_query(run, named, ranks=ranks, depth=depth)
    kept = {name: entry for name, entry in values.items() if name.startswith(_KNOWN_TRUTH)}
    return means(kept, ceilings(named, ranks=ranks, depth=depth))
