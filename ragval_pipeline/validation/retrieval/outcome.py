"""Criteria and findings over all judged queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.findings.model import Finding, Need, Subject
from ragval_pipeline.rules.aspects import OF_TEXTS, OF_VECTORS, Aspect
from ragval_pipeline.rules.details import read, written
from ragval_pipeline.rules.query.failed import RULE as QUERY_FAILED
from ragval_pipeline.rules.query.failed import Details
from ragval_pipeline.rules.query.negative_scored_high import RULE as NEGATIVE_SCORED_HIGH
from ragval_pipeline.sources.arrow import table_of
from ragval_pipeline.sources.search.answers import Answer
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import detector
from ragval_pipeline.validation.measurement import MeasuredValue, ReasonCode, mean, not_measured, ratio
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.retrieval.conditions import CONDITIONS, RetrievalSettings, found_keywords
from ragval_pipeline.validation.retrieval.hits import has_ground_truth, pages_stated
from ragval_pipeline.validation.retrieval.texts import normalise_name
from ragval_pipeline.validation.views.tables import raw_schemas

if TYPE_CHECKING:
    import pyarrow as pa

#: Aspects that decide the rank of a right chunk, and other aspects of conditions.
_RANKED = OF_TEXTS | OF_VECTORS | {Aspect.PRESENCE, Aspect.DISTINCTION, Aspect.RANK}
_PLACED = {Aspect.FIELD, Aspect.POSITION, Aspect.COPIES, Aspect.CURRENT, Aspect.TARGET, Aspect.PLACES}
_FOUND = OF_VECTORS | {Aspect.PRESENCE, Aspect.FIELD, Aspect.RANK, Aspect.TARGET}
_MISSED_BY: Mapping[str, frozenset[Aspect]] = {"score": _RANKED | {Aspect.REACH}, "nothing returned": _FOUND}
#: Canonical fields of a hit read by each condition; ``results`` reads those of the query's expectation.
_READS: Mapping[str, tuple[str, ...]] = {
    "module": ("module",), "chapter": ("chapter",), "url": ("source_url",), "keywords": ("text",),
}  # fmt: skip

#: Pseudo condition of a query that the embedder refuses.
NOT_ASKED = "not asked"


class Judged(NamedTuple):
    """The verdict on a query, without its hits. Fields as in ``QueryReport``."""

    query_id: str
    status: str
    passed: bool | None
    fail_reason: str | None
    failed_conditions: Sequence[str]
    best_similarity: float | None

    @classmethod
    def of(cls, report: QueryReport) -> Judged:
        """The verdict of a report."""
        return cls(*(getattr(report, name) for name in cls._fields))


@dataclass(frozen=True)
class Outcome:
    """All judged queries, with criteria and findings over them."""

    group: ClassVar[str] = "queries"
    views: ClassVar[frozenset[str]] = frozenset({"hits", "incomplete_hits", "run"})
    queries: Sequence[TestQuery]
    reports: Sequence[Judged]
    answers: Mapping[str, Answer]
    settings: RetrievalSettings

    def table(self, name: str) -> pa.Table:
        """The table of a name under the views."""
        if name == "_run":
            return table_of([{"distance": self.settings.distance}], raw_schemas()["_run"])
        if name == "_incomplete_hits":
            return self.incomplete_hits
        hits = [
            {"query_id": answer.query_id, "rank": hit.rank, "point_id": hit.id, "score": hit.score}
            for answer in self.answers.values()
            for hit in answer.hits
        ]
        return table_of(hits, raw_schemas()["_hits"])

    @cached_property
    def incomplete_hits(self) -> pa.Table:
        """``_incomplete_hits``."""
        read = self.settings.rules.read
        names = {path: name for name, path in read.fields.items()}
        hits = ((answer.query_id, hit) for answer in self.answers.values() for hit in answer.hits)
        rows = [
            {
                "query_id": query,
                "point_id": hit.id,
                "page_key": read.page(hit.payload),
                "path": path,
                "field": names.get(path),
                "place": place,
                "nth": nth,
            }
            for place, (query, hit) in enumerate(hits)
            for nth, path in enumerate(read.lacking(hit.payload))
        ]
        return table_of(rows, raw_schemas()["_incomplete_hits"])

    def values(self) -> list[MeasuredValue]:
        """Criteria over queries."""
        passed = {report.query_id: bool(report.passed) for report in self.reports}
        negative = [query for query in self.queries if query.negative]
        critical = [query for query in self.queries if query.critical]
        positive = [report for query, report in self.pairs() if not query.negative]
        best = [report.best_similarity for report in positive if report.best_similarity is not None]
        return [
            ratio("query_pass_rate", sum(passed.values()), len(passed), of="queries"),
            self._share("negative_pass_rate", negative, passed, of="negative queries"),
            self._share("critical_queries", critical, passed, of="critical queries"),
            self._relevance(best, len(positive)),
            mean("avg_similarity", best, of="positive queries with hits", without=self._without(positive)),
            mean("keyword_recall", self._keyword_shares(), of="queries with expected keywords"),
            self._accuracy(),
            self._completeness(),
        ]

    def _relevance(self, best: Sequence[float], positive: int) -> MeasuredValue:
        name, threshold = "relevance_rate", self.settings.relevance_similarity
        if threshold is None:
            told = "retrieval.relevance_similarity is not set, and these scores are no similarities"
            return not_measured(name, "not_applicable", told)
        relevant = sum(self.settings.rules.reaches(score, threshold) for score in best)
        return _applicable(ratio(name, relevant, positive, of="positive queries"), self.queries)

    def subject(self, query: TestQuery, report: Judged) -> Subject:
        """A failed query, with the parts by which it is judged."""
        details = Details(
            conditions=report.failed_conditions or [NOT_ASKED],
            reason=report.fail_reason,
            best_similarity=report.best_similarity,
            threshold=self.settings.rules.threshold(query),
            expected_pages=sorted(self._expected_pages(query)),
            expected_module=query.expected_module,
            fields=sorted(self._judged_fields(query, report.failed_conditions)),
            points=self._answering(query),
        )
        conditions = report.failed_conditions
        needs = [
            Need(aspects=_MISSED_BY.get(name, _RANKED | _PLACED), fields=tuple(self._read_fields(query, name)))
            for name in conditions
        ]
        pages = tuple(details.expected_pages)
        return Subject(
            name=query.id,
            details=written(details),
            pages=pages,
            points=tuple(details.points),
            module=normalise_name(query.expected_module) if query.expected_module and not pages else None,
            thresholds=(details.threshold,) if "score" in conditions else (),
            # One page of a module may be dark and another be found.
            without=frozenset() if pages else frozenset({Aspect.RANK}),
            needs=() if query.negative else tuple(needs),
        )

    def _answering(self, query: TestQuery) -> list[str]:
        """The hits that failed a query: for a negative one those that reach its limit."""
        rules = self.settings.rules
        limit = rules.threshold(query)
        return [hit.id for hit in self.answers[query.id].hits if not query.negative or rules.reaches(hit.score, limit)]

    def _expected_pages(self, query: TestQuery) -> set[str]:
        return pages_stated(query, self.settings.rules.read.page_key)

    def _judged_fields(self, query: TestQuery, conditions: Sequence[str]) -> set[str]:
        """Payload fields that the missed conditions read."""
        read = {name for condition in conditions for name in self._read_fields(query, condition)}
        return {self.settings.rules.read.fields[name] for name in read if name in self.settings.rules.read.fields}

    def _read_fields(self, query: TestQuery, condition: str) -> set[str]:
        """Canonical fields that a condition reads."""
        if condition == "results":
            return {name for entry in query.expected_results for name in entry if name != "id"}
        return set(_READS.get(condition, ()))

    def pairs(self) -> list[tuple[TestQuery, Judged]]:
        """Each query with its report."""
        return list(zip(self.queries, self.reports, strict=True))

    def _without(self, positive: Sequence[Judged]) -> ReasonCode:
        """The reason for a missing value: positive queries that found nothing, or none at all."""
        return "no_data" if positive or not self.queries else "not_applicable"

    def _share(self, name: str, queries: Sequence[TestQuery], passed: Mapping[str, bool], *, of: str) -> MeasuredValue:
        if not queries:
            return not_measured(name, "not_applicable", f"there are no {of}")
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
        """Queries with all expected results in the top_k / queries with expected results (``retrieval-validation``)."""
        held = []
        for query in self.queries:
            name = "results" if query.expected_results else "url" if has_ground_truth(query) else None
            if name is not None:
                held.append(CONDITIONS[name](query, self.answers[query.id].hits, self.settings.rules).holds)
        if not held:
            return not_measured("accuracy", "not_applicable", "no query names an expected result")
        return ratio("accuracy", sum(held), len(held), of="queries that name an expected result")

    def _completeness(self) -> MeasuredValue:
        hits = [hit for answer in self.answers.values() for hit in answer.hits]
        complete = sum(not self.settings.rules.read.lacking(hit.payload) for hit in hits)
        return ratio("retrieved_metadata_completeness", complete, len(hits), of="hits")


_WORDS = {
    "score": "a high enough score",
    "module": "the expected module",
    "chapter": "the expected chapter",
    "url": "the expected page",
    "keywords": "an expected keyword",
    "results": "an expected result",
    "nothing returned": "any hit at all",
}


@detector(QUERY_FAILED, NEGATIVE_SCORED_HIGH, needs=Outcome)
def _failed(outcome: Outcome) -> Iterator[Finding]:
    """Failed queries, and negatives that scored high."""
    failed: list[Subject] = []
    scored_high: list[Subject] = []
    for query, report in outcome.pairs():
        if not report.passed:
            scored = query.negative and report.passed is False
            (scored_high if scored else failed).append(outcome.subject(query, report))
    if failed:
        conditions = sorted({name for subject in failed for name in read(Details, subject.details).conditions})
        yield make_finding(
            QUERY_FAILED.code, failed, cause=f"Missed: {', '.join(_WORDS.get(name, name) for name in conditions)}."
        )
    if scored_high:
        yield make_finding(NEGATIVE_SCORED_HIGH.code, scored_high)


def _applicable(value: MeasuredValue, queries: Sequence[TestQuery]) -> MeasuredValue:
    """A suite with only negative queries has no relevance to measure."""
    if value.value is None and queries:
        return value.model_copy(update={"reason_code": "not_applicable"})
    return value
