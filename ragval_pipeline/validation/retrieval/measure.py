"""From judged queries to the criteria, findings and report sections of ``query_validation_results``.

What lives here: counting over queries. What does not: judging one (``judge``), the formulas (``metrics``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Subject
from ragval_pipeline.sources.answers import Answer, Question
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.measurement import (
    MeasuredValue,
    Measurement,
    ReasonCode,
    failed_measurement,
    mean,
    not_measured,
    ratio,
)
from ragval_pipeline.validation.report import PrecisionMetric, QueryReport, RetrievalMetrics
from ragval_pipeline.validation.retrieval import metrics
from ragval_pipeline.validation.retrieval.conditions import CONDITIONS, Rules, found_keywords
from ragval_pipeline.validation.retrieval.crowding import crowded_answers
from ragval_pipeline.validation.retrieval.judge import judge_query
from ragval_pipeline.validation.retrieval.rankings import Qrels, Run, has_ground_truth, page_qrels, page_run
from ragval_pipeline.validation.retrieval.repeats import measure_determinism

ASSET = "query_validation_results"


@dataclass(frozen=True)
class RetrievalSettings:
    """What the suite asks of retrieval.

    Args:
        rules: How hits are read and matched.
        judge: Conditions that decide, or null.
        ranks: The k of the page metrics.
        top_k: Hits per query, unless the query states its own.
        relevance_similarity: Score from which a hit counts as relevant.
    """

    rules: Rules
    judge: tuple[str, ...] | None
    ranks: tuple[int, ...]
    top_k: int
    relevance_similarity: float

    @property
    def depth(self) -> int:
        """Pages that a ranking must hold: the deepest of all ranks and top_k."""
        return max((*self.ranks, self.top_k))


def questions_of(queries: Sequence[TestQuery], settings: RetrievalSettings) -> list[Question]:
    """What to ask: pages are wanted only where there is ground truth to rank."""
    return [
        Question(
            query.id,
            query.query_text,
            query.top_k or settings.top_k,
            pages=settings.depth if has_ground_truth(query) else 0,
        )
        for query in queries
    ]


def measure_retrieval(
    queries: Sequence[TestQuery],
    answers: Sequence[Answer],
    settings: RetrievalSettings,
    *,
    failure: SystemFailure | None = None,
) -> Measurement:
    """The measurement of ``query_validation_results``.

    Args:
        queries: Every test query, in file order.
        answers: One answer each; empty when nothing could be asked.
        settings: What the suite asks.
        failure: The system that failed while asking, if one did: then the results are kept and no criterion is.
    """
    given = {answer.query_id: answer for answer in answers}
    by_id = {query.id: given.get(query.id) or _unasked(query, failure) for query in queries}
    reports = [judge_query(query, by_id[query.id], settings.rules, judge=settings.judge) for query in queries]
    run = page_run(queries, by_id, settings.rules.read, depth=settings.depth)
    qrels = page_qrels(queries, settings.rules.read)
    sections = _sections(queries, reports, run, qrels, settings, _spellings(answers, settings.rules))
    if failure is not None:
        failed = failed_measurement(ASSET, failure)
        return failed.model_copy(update={"sections": sections})
    outcome = Outcome(queries, reports, by_id, settings)
    determinism, unstable = measure_determinism(answers)
    values = [*outcome.values(), determinism, *_page_values(sections, settings)]
    findings = [*outcome.findings(), *unstable, *crowded_answers(queries, by_id, settings.rules.read)]
    return Measurement(asset=ASSET, values=tuple(values), findings=tuple(findings), sections=sections)


def _unasked(query: TestQuery, failure: SystemFailure | None) -> Answer:
    return Answer(query.id, error=str(failure) if failure else "the query was not asked")


def _sections(
    queries: Sequence[TestQuery],
    reports: Sequence[QueryReport],
    run: Run,
    qrels: Qrels,
    settings: RetrievalSettings,
    spellings: Mapping[str, str],
) -> dict[str, Any]:
    answered = {report.query_id for report in reports if report.status != "error"}
    run = {query: pages for query, pages in run.items() if query in answered}
    judged = {query: grades for query, grades in qrels.items() if query in answered}
    values = metrics.per_query(run, judged, ranks=settings.ranks, depth=settings.top_k)
    best = metrics.ceilings(judged, ranks=settings.ranks, depth=settings.depth)
    categories = {query.id: query.category for query in queries}
    return {
        "query_results": [report.model_dump(mode="json") for report in reports],
        "precision_metrics": [
            metric.model_dump() for metric in _precisions(queries, run, judged, settings.ranks, spellings)
        ],
        "retrieval_metrics": RetrievalMetrics(
            page=metrics.means(values, best), by_category=metrics.by_category(values, best, categories)
        ).model_dump(),
        "queries_above_threshold": _above(queries, reports, settings),
        "run": run,
        "qrels": judged,
    }


def _above(queries: Sequence[TestQuery], reports: Sequence[QueryReport], settings: RetrievalSettings) -> int | None:
    """Positive queries whose best score reaches ``relevance_similarity`` (seed 002); null when none was answered."""
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
) -> list[PrecisionMetric]:
    """Precision of every query at every rank; pages are shown as the index spells them."""
    found = []
    for query in queries:
        grades = qrels.get(query.id)
        if grades is None:
            continue
        relevant = [page for page, grade in grades.items() if grade > 0]
        for k in ranks:
            pages = run.get(query.id, [])[:k]
            retrieved = [page for page in pages if page in relevant]
            found.append(
                PrecisionMetric(
                    query=query.query_text,
                    query_id=query.id,
                    k=k,
                    precision=len(retrieved) / k,
                    retrieved_urls=[spellings.get(page, page) for page in pages],
                    relevant_retrieved=[spellings.get(page, page) for page in retrieved],
                    relevant_count=len(retrieved),
                    ceiling=min(len(relevant), k) / k,
                )
            )
    return found


def _page_values(sections: Mapping[str, Any], settings: RetrievalSettings) -> list[MeasuredValue]:
    page = sections["retrieval_metrics"]["page"]
    names = [name for name in metrics.metric_names(settings.ranks, depth=settings.top_k) if "judged" not in name]
    values = []
    for name in names:
        metric = page.get(name)
        if metric is None:
            values.append(not_measured(name, "not_applicable", "no query has ground truth"))
        else:
            total = metric["value"] * metric["n"]
            reason = f"mean over {metric['n']} queries, at most {metric['ceiling']:.3f}"
            values.append(
                MeasuredValue(name=name, value=metric["value"], numerator=total, denominator=metric["n"], reason=reason)
            )
    return values


@dataclass(frozen=True)
class Outcome:
    """All judged queries, and what is counted over them."""

    queries: Sequence[TestQuery]
    reports: Sequence[QueryReport]
    answers: Mapping[str, Answer]
    settings: RetrievalSettings

    def values(self) -> list[MeasuredValue]:
        """Criteria that are counted over queries."""
        rules = self.settings.rules
        passed = {report.query_id: bool(report.passed) for report in self.reports}
        negative = [query for query in self.queries if query.negative]
        critical = [query for query in self.queries if query.critical]
        positive = [report for query, report in self._pairs() if not query.negative]
        best = [report.best_similarity for report in positive if report.best_similarity is not None]
        relevant = sum(rules.reaches(score, self.settings.relevance_similarity) for score in best)
        return [
            ratio("query_pass_rate", sum(passed.values()), len(passed), of="queries"),
            self._share("negative_pass_rate", negative, passed, of="negative queries"),
            self._share("critical_queries", critical, passed, of="critical queries"),
            _applicable(ratio("relevance_rate", relevant, len(positive), of="positive queries"), self.queries),
            mean("avg_similarity", best, of="positive queries with hits", without=self._without(positive)),
            mean("keyword_recall", self._keyword_shares(), of="queries with expected keywords"),
            self._accuracy(),
            self._completeness(),
        ]

    def findings(self) -> list[Finding]:
        """Failed queries, negatives that scored high, and hits that lack required fields."""
        failed: list[Subject] = []
        scored_high: list[Subject] = []
        for query, report in self._pairs():
            if report.passed is False:
                details = {
                    "conditions": report.failed_conditions,
                    "reason": report.fail_reason,
                    "best_similarity": report.best_similarity,
                    "expected_pages": sorted(self._expected_pages(query)),
                    "expected_module": query.expected_module,
                }
                (scored_high if query.negative else failed).append(Subject(name=query.id, details=details))
        findings = []
        if failed:
            conditions = sorted({name for subject in failed for name in subject.details["conditions"]})
            findings.append(make_finding("query.failed", failed, cause=f"Conditions missed: {', '.join(conditions)}."))
        if scored_high:
            findings.append(make_finding("query.negative_scored_high", scored_high))
        incomplete = self._incomplete_hits()
        return [*findings, *([make_finding("retrieval.incomplete_metadata", incomplete)] if incomplete else [])]

    def _expected_pages(self, query: TestQuery) -> set[str]:
        key = self.settings.rules.read.page_key
        stated = [str(entry["source_url"]) for entry in query.expected_results if "source_url" in entry]
        return {key(url) for url in [*stated, *(url for url, grade in query.grades.items() if grade > 0)]}

    def _pairs(self) -> list[tuple[TestQuery, QueryReport]]:
        return list(zip(self.queries, self.reports, strict=True))

    def _without(self, positive: Sequence[QueryReport]) -> ReasonCode:
        """Positive queries that find nothing leave a gap; a suite without any has nothing to measure."""
        return "no_data" if positive or not self.queries else "not_applicable"

    def _share(self, name: str, queries: Sequence[TestQuery], passed: Mapping[str, bool], *, of: str) -> MeasuredValue:
        if not queries:
            return not_measured(name, "not_applicable", f"the suite has no {of}")
        return ratio(name, sum(passed[query.id] for query in queries), len(queries), of=of)

    def _keyword_shares(self) -> list[float]:
        shares = []
        for query in self.queries:
            if query.expected_keywords and not query.negative:
                hits = self.answers[query.id].hits
                found = found_keywords(query.expected_keywords, hits, self.settings.rules)
                shares.append(len(found) / len(query.expected_keywords))
        return shares

    def _accuracy(self) -> MeasuredValue:
        """Queries with an expected result in the top_k / queries that name one (seed 001, SC-001)."""
        held = []
        for query in self.queries:
            name = "results" if query.expected_results else "url" if has_ground_truth(query) else None
            if name is not None:
                held.append(self._any_expected(query, name))
        if not held:
            return not_measured("accuracy", "not_applicable", "no query names an expected result")
        return ratio("accuracy", sum(held), len(held), of="queries that name an expected result")

    def _any_expected(self, query: TestQuery, name: str) -> bool:
        rules, hits = self.settings.rules, self.answers[query.id].hits
        if name == "url":
            return CONDITIONS["url"](query, hits, rules).holds
        check: Callable[..., Any] = CONDITIONS["results"]
        single = [query.model_copy(update={"expected_results": (entry,)}) for entry in query.expected_results]
        return any(check(entry, hits, rules).holds for entry in single)

    def _completeness(self) -> MeasuredValue:
        hits = [hit for answer in self.answers.values() for hit in answer.hits]
        complete = sum(self.settings.rules.read.is_complete(hit.payload) for hit in hits)
        return ratio("retrieved_metadata_completeness", complete, len(hits), of="hits")

    def _incomplete_hits(self) -> list[Subject]:
        subjects: dict[str, Subject] = {}
        read = self.settings.rules.read
        for answer in self.answers.values():
            for hit in answer.hits:
                lacking = read.lacking(hit.payload)
                if lacking and hit.id not in subjects:
                    details = {"lacking": lacking, "query": answer.query_id}
                    subjects[hit.id] = Subject(name=hit.id, page=read.page(hit.payload), details=details)
        return list(subjects.values())


def _applicable(value: MeasuredValue, queries: Sequence[TestQuery]) -> MeasuredValue:
    """A suite of negative queries alone has no relevance to measure."""
    if value.value is None and queries:
        return value.model_copy(update={"reason_code": "not_applicable"})
    return value
