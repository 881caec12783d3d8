"""Retrieval metrics on chunks, beside those on pages: what a RAG assistant really reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.sources.stores.qdrant.ids import canonical_id
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.report import MetricValue
from ragval_pipeline.validation.retrieval import metrics
from ragval_pipeline.validation.retrieval.hits import HitReader
from ragval_pipeline.validation.retrieval.rankings import Qrels, Run, has_ground_truth
from ragval_pipeline.validation.retrieval.settings import RetrievalSettings

#: Stands for the relevant chunks that were not retrieved: no metric of the first kind depends on their number.
_UNSEEN = "\x00 not retrieved"
_KNOWN_TRUTH = ("recall_at_", "ndcg_at_")


def chunk_metrics(
    queries: Sequence[TestQuery], answers: Mapping[str, Answer], settings: RetrievalSettings
) -> dict[str, MetricValue]:
    """``hit``, ``precision``, ``judged``, ``recall`` and ``ndcg`` at each rank up to ``top_k``, and ``mrr``, on chunks.

    Args:
        queries: Every test query.
        answers: The answer to each, by query id; those with an error are left out.
        settings: What the suite asks.

    Returns:
        Means 0..1 over the queries with ground truth, with the number of queries; empty without any.
    """
    asked = [query for query in queries if not query.negative and _is_answered(answers.get(query.id))]
    ranks = [k for k in settings.ranks if k <= settings.top_k]
    run = {query.id: _ranking(answers[query.id], settings.top_k) for query in asked}
    named = {query.id: dict.fromkeys(ids, 1) for query in asked if (ids := expected_ids(query))}
    paged = _on_judged_pages(asked, answers, settings.rules.read)
    any_truth = _means(run, {**named, **paged}, named, ranks, settings.top_k)
    return {**any_truth, **_known(run, named, ranks, settings.top_k)}


def expected_ids(query: TestQuery) -> list[str]:
    """Ids of the chunks that a query expects; empty unless every expected result states one."""
    ids = [entry.get("id") for entry in query.expected_results]
    return [] if None in ids else [canonical_id(name) for name in ids]


def _is_answered(answer: Answer | None) -> bool:
    return answer is not None and answer.error is None


def _ranking(answer: Answer, depth: int) -> list[str]:
    return list(dict.fromkeys(hit.id for hit in (*answer.hits, *answer.deeper)))[:depth]


def _on_judged_pages(queries: Sequence[TestQuery], answers: Mapping[str, Answer], read: HitReader) -> Qrels:
    """Grades of the retrieved chunks by those of their pages, for queries with relevant pages."""
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
    values = metrics.per_query(run, qrels, ranks=ranks, depth=depth)
    kept = {name: entry for name, entry in values.items() if not name.startswith(_KNOWN_TRUTH) and name != "map"}
    own = metrics.ceilings(named, ranks=ranks, depth=depth)
    best = {
        # A relevant page may have any number of chunks.
        name: {query: 1.0 if _UNSEEN in qrels[query] else own[name][query] for query in qrels}
        for name in kept
        if name.startswith("precision_at_")
    }
    return metrics.means(kept, best)


def _known(run: Run, named: Qrels, ranks: Sequence[int], depth: int) -> dict[str, MetricValue]:
    values = metrics.per_query(run, named, ranks=ranks, depth=depth)
    kept = {name: entry for name, entry in values.items() if name.startswith(_KNOWN_TRUTH)}
    return metrics.means(kept, metrics.ceilings(named, ranks=ranks, depth=depth))
