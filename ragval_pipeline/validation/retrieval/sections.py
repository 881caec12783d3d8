"""The report's sections on queries: their results, rankings, precisions and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.packed import Packed
from ragval_pipeline.validation.report import PrecisionMetric, RetrievalMetrics
from ragval_pipeline.validation.retrieval import metrics
from ragval_pipeline.validation.retrieval.conditions import Rules
from ragval_pipeline.validation.retrieval.outcome import Judged
from ragval_pipeline.validation.retrieval.rankings import Qrels, Run, page_qrels, page_run, relevant_pages
from ragval_pipeline.validation.retrieval.settings import RetrievalSettings
from ragval_pipeline.validation.times import utc_text


def query_sections(
    queries: Sequence[TestQuery],
    reports: Sequence[Judged],
    answers: Mapping[str, Answer],
    settings: RetrievalSettings,
) -> dict[str, Any]:
    """All sections, as JSON values and packed entities.

    Args:
        queries: Every test query, in file order.
        reports: What was judged of each, in the same order.
        answers: The answer to each, by query id.
        settings: What the suite asks.

    Returns:
        ``query_results``, ``precision_metrics``, ``retrieval_metrics``, ``queries_above_threshold``, ``run`` and
        ``qrels`` (pages by canonical form) of the queries with ground truth that were answered, and ``asked_at`` (query
        id to time) of those that were asked.
    """
    answered = {report.query_id for report in reports if report.status != "error"}
    ranked = page_run(queries, answers, settings.rules.read, depth=settings.depth)
    run = {query: pages for query, pages in ranked.items() if query in answered}
    judged = {query: grades for query, grades in page_qrels(queries, settings.rules.read).items() if query in answered}
    spellings = _spellings(list(answers.values()), settings.rules)
    values = metrics.per_query(run, judged, ranks=settings.ranks, depth=settings.top_k)
    best = metrics.ceilings(judged, ranks=settings.ranks, depth=settings.depth)
    categories = {query.id: query.category for query in queries}
    return {
        "precision_metrics": Packed(PrecisionMetric, _precisions(queries, run, judged, settings.ranks, spellings)),
        "retrieval_metrics": RetrievalMetrics(
            page=metrics.means(values, best), by_category=metrics.by_category(values, best, categories)
        ).model_dump(),
        "queries_above_threshold": _above(queries, reports, settings),
        "run": run,
        "qrels": judged,
        "asked_at": {query: utc_text(answer.asked_at) for query, answer in answers.items() if answer.asked_at},
    }


def _above(queries: Sequence[TestQuery], reports: Sequence[Judged], settings: RetrievalSettings) -> int | None:
    """Positive queries whose best score reaches ``relevance_similarity``; null when none was answered."""
    if all(report.status == "error" for report in reports):
        return None
    return sum(
        report.best_similarity is not None
        and settings.rules.reaches(report.best_similarity, settings.relevance_similarity)
        for query, report in zip(queries, reports, strict=True)
        if not query.negative
    )


def _spellings(answers: Sequence[Answer], rules: Rules) -> dict[str, str]:
    """The index's own spelling of each page that any answer holds."""
    found: dict[str, str] = {}
    for answer in answers:
        for hit in (*answer.hits, *answer.deeper):
            page, url = rules.read.page(hit.payload), rules.read.text(hit.payload, "source_url")
            if page is not None and url is not None:
                found.setdefault(page, url)
    return found


def _precisions(
    queries: Sequence[TestQuery], run: Run, qrels: Qrels, ranks: Sequence[int], spellings: Mapping[str, str]
) -> Iterator[PrecisionMetric]:
    """Precision of every query at every rank; pages are shown as the index spells them, hits without one are not."""
    for query in queries:
        grades = qrels.get(query.id)
        if grades is None:
            continue
        relevant = relevant_pages(grades)
        for k in ranks:
            pages = run.get(query.id, [])[:k]
            retrieved = [page for page in pages if page in relevant]
            yield PrecisionMetric(
                query=query.query_text,
                query_id=query.id,
                k=k,
                precision=len(retrieved) / k,
                retrieved_urls=[spellings[page] for page in pages if page in spellings],
                relevant_retrieved=[spellings.get(page, page) for page in retrieved],
                relevant_count=len(retrieved),
                ceiling=min(len(relevant), k) / k,
            )
