"""The measurement of ``query_validation_results``, with the report's sections on queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.suite.criteria import rank_of
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.text.numbers import TOLERANCE
from ragval_pipeline.text.printing import plural
from ragval_pipeline.text.times import utc_text
from ragval_pipeline.validation.belonging import ByPartition, Partitions
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, failed_measurement, not_measured
from ragval_pipeline.validation.packed import Packed
from ragval_pipeline.validation.query_report import PrecisionMetric, QueryReport
from ragval_pipeline.validation.report import RetrievalMetrics
from ragval_pipeline.validation.retrieval import metrics
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, Rules
from ragval_pipeline.validation.retrieval.hits import Qrels, Run, page_qrels, page_run, relevant_pages
from ragval_pipeline.validation.retrieval.judge import judge_query
from ragval_pipeline.validation.retrieval.metrics import chunk_metrics
from ragval_pipeline.validation.retrieval.outcome import Judged, Outcome
from ragval_pipeline.validation.retrieval.repeats import determinism
from ragval_pipeline.validation.views.tables import kept_columns


def query_sections(
    queries: Sequence[TestQuery],
    reports: Sequence[Judged],
    answers: Mapping[str, Answer],
    settings: RetrievalSettings,
) -> dict[str, Any]:
    """All sections, as JSON values and packed entities.

    Returns:
        ``query_results``, ``precision_metrics``, ``retrieval_metrics``, ``queries_above_threshold``, ``run`` and
        ``qrels`` (pages by canonical form) of the answered queries with ground truth, and ``asked_at`` (query id to
        time) of those that were run.
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
    """Positive queries whose best score reaches ``relevance_similarity``; None without it, or if none was answered."""
    threshold = settings.relevance_similarity
    if threshold is None or all(report.status == "error" for report in reports):
        return None
    return sum(
        report.best_similarity is not None and settings.rules.reaches(report.best_similarity, threshold)
        for query, report in zip(queries, reports, strict=True)
        if not query.negative
    )


def _spellings(answers: Sequence[Answer], rules: Rules) -> dict[str, str]:
    """The stored address of each page in any result."""
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
    """Precision of every query at every rank; pages are shown with their stored address, hits without one are not."""
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


ASSET = "query_validation_results"


def measure_retrieval(
    queries: Sequence[TestQuery],
    answers: Sequence[Answer],
    settings: RetrievalSettings,
    *,
    failure: SystemFailure | None = None,
    notes: Mapping[str, str] | None = None,
    partitions: Partitions | None = None,
) -> Measurement:
    """The measurement of ``query_validation_results``.

    Args:
        queries: Every test query, in file order. Unjudged ones are in ``query_results`` but do not count; drafts count
            only for what needs no expectation: complete, ordered and repeatable hits.
        answers: One result each; empty if no query could be run.
        settings: Retrieval settings of the suite.
        failure: The failure of a system during the queries, if any: then results are kept, but no criteria.
        notes: By query id, what its results tell beside why it passed or failed: how much of it the embedder read, or
            what its filter leaves out.
        partitions: Those of the collection, if it has any.
    """
    given = {answer.query_id: answer for answer in answers}
    unasked = str(failure) if failure else "the query was not asked"
    by_id = {query.id: given.get(query.id) or Answer(query.id, error=unasked) for query in queries}
    judged: list[Judged] = []

    def reports() -> Iterator[QueryReport]:
        for query in queries:
            answer = by_id[query.id]
            report = judge_query(query, answer, settings.rules, judge=settings.judge, top_k=settings.top_k)
            report = _with_note(report, (notes or {}).get(query.id))
            judged.append(Judged.of(report))
            yield report

    shown = Packed(QueryReport, reports())
    drafts = [verdict for query, verdict in zip(queries, judged, strict=True) if query.status == "draft"]
    judged = [verdict for query, verdict in zip(queries, judged, strict=True) if query.counted]
    by_id = {query.id: by_id[query.id] for query in queries if not query.unjudged}
    queries = [query for query in queries if query.counted]
    sections = {**query_sections(queries, judged, by_id, settings), "query_results": shown}
    on_chunks = chunk_metrics(queries, by_id, settings)
    sections["retrieval_metrics"]["chunk"] = {name: value.model_dump() for name, value in on_chunks.items()}
    if failure is not None:
        failed = failed_measurement(ASSET, failure)
        return failed.model_copy(update={"sections": sections})
    outcome = Outcome(queries, judged, by_id, settings)
    repeated = determinism(by_id.values())
    values = [*outcome.values(), *_page_values(sections["retrieval_metrics"]["page"], settings)]
    if drafts and not queries:
        values = [_all_drafts(value, drafts) for value in values]
        # A single repeat is a setting, independent of the queries.
        repeated = repeated if repeated.reason_code == "not_applicable" else _all_drafts(repeated, drafts)
    values.append(repeated)
    return Measurement(
        asset=ASSET,
        values=tuple(values),
        by_partition=_by_partition(outcome, sections, partitions) if partitions else {},
        findings=tuple(find_all(outcome)),
        sections={**sections, **kept_columns(incomplete_hits=outcome.incomplete_hits)},
    )


def _by_partition(outcome: Outcome, sections: Mapping[str, Any], partitions: Partitions) -> ByPartition:
    """The criteria over the queries of each partition."""
    settings, pairs = (
        outcome.settings,
        partitions.grouped(outcome.pairs(), lambda pair: partitions.of_query(pair[0].id)),
    )
    by_partition: ByPartition = {}
    for value, asked in partitions.grouped(outcome.answers, partitions.of_query).items():
        queries, judged = [query for query, _ in pairs[value]], [verdict for _, verdict in pairs[value]]
        own = Outcome(queries, judged, {query: outcome.answers[query] for query in asked}, settings)
        run, qrels = (
            {query: ranking for query, ranking in sections[name].items() if query in own.answers}
            for name in ("run", "qrels")
        )
        page = metrics.means(
            metrics.per_query(run, qrels, ranks=settings.ranks, depth=settings.top_k),
            metrics.ceilings(qrels, ranks=settings.ranks, depth=settings.depth),
        )
        pages = _page_values({name: metric.model_dump() for name, metric in page.items()}, settings)
        by_partition[value] = (*own.values(), *pages, determinism(own.answers.values()))
    return by_partition


def _with_note(report: QueryReport, note: str | None) -> QueryReport:
    """A query's result with a note where it says why the query passed or failed."""
    told = "pass_reason" if report.passed else "fail_reason"
    reason = getattr(report, told)
    return report if note is None else report.model_copy(update={told: f"{reason}; {note}" if reason else note})


def _all_drafts(value: MeasuredValue, drafts: Sequence[Judged]) -> MeasuredValue:
    """Criteria without queries do not apply as long as all queries are drafts."""
    if value.reason_code not in ("no_data", "not_applicable"):
        return value
    fit = sum(not verdict.failed_conditions and verdict.status != "error" for verdict in drafts)
    told = f"all {plural(len(drafts), 'query')} are drafts, which do not count yet; {fit} would pass"
    return not_measured(value.name, "not_applicable", told)


def _page_values(page: Mapping[str, Any], settings: RetrievalSettings) -> list[MeasuredValue]:
    depths = {"mrr": settings.top_k, "map": settings.depth}
    # These are pages, but queries are judged by their top_k chunks, several of which may be of one page.
    names = [name for name in metrics.metric_names(settings.ranks, depth=settings.top_k) if "judged" not in name]
    values = []
    for name in names:
        metric = page.get(name)
        if metric is None:
            values.append(not_measured(name, "not_applicable", "no query has ground truth"))
        else:
            # The exact number of hits, which a product of floats need not be.
            total = round(metric["value"] * metric["n"], 9)
            limited = metric["ceiling"] < 1.0 - TOLERANCE
            limit = f", at most {metric['ceiling']:.3f}: {metrics.why_limited(name)}" if limited else ""
            looked = plural(depths.get(name) or rank_of(name) or settings.depth, "page")
            reason = f"mean over {plural(metric['n'], 'query')}, within the first {looked}{limit}"
            values.append(
                MeasuredValue(name=name, value=metric["value"], numerator=total, denominator=metric["n"], reason=reason)
            )
    return values
