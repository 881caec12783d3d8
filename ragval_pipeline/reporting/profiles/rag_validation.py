"""``profile_report.json`` of ``rag-validation``: the entities of RAG Validation.

Precisions are 0..1, scores are raw cosine similarities, times UTC in ISO 8601.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.profiles.entities import (
    FILLED,
    NEEDED,
    POSITIVE,
    SHARE,
    URL,
    Rule,
    RuleViolation,
    SeedEntity,
    SuccessCriterion,
    broken_rules,
    success,
    verdict_of,
)
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.suite.profiles.table import CATEGORIES, MIN_CHARACTERS
from ragval_pipeline.suite.profiles.table import RAG_VALIDATION as PROFILE
from ragval_pipeline.suite.scores import reaches
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.query_report import PrecisionMetric as Precision
from ragval_pipeline.validation.query_report import QueryReport, TopResult
from ragval_pipeline.validation.retrieval.hits import NO_ADDRESS

PREVIEW_CHARACTERS = 150


class TestQuery(SeedEntity):
    """A test query to be evaluated against the RAG system."""

    __test__ = False  # not a test class, whatever pytest makes of the name

    query: str | None
    category: str | None
    expected_topics: list[str]


class RetrievalResult(SeedEntity):
    """A single chunk returned for a query."""

    rank: Annotated[int, POSITIVE] = Field(description="1-based")
    score: Annotated[float | None, NEEDED, SHARE]
    url: Annotated[str | None, NEEDED, URL]
    title: Annotated[str | None, NEEDED, FILLED]
    heading: Annotated[str | None, NEEDED, FILLED] = Field(
        description="Heading context; a stored list is joined with ' > '"
    )
    text: Annotated[str | None, NEEDED, FILLED]
    token_count: int | None
    preview: str | None = Field(description="The first 150 characters of the text")


LONG = Rule(f"must have at least {MIN_CHARACTERS} characters", lambda text: len(text.strip()) >= MIN_CHARACTERS)
KNOWN = Rule(f"must be one of: {'; '.join(CATEGORIES)}", CATEGORIES.__contains__)
URLS = Rule("must be valid URLs", lambda urls: all(map(is_http_url, urls)))


class QueryResults(SeedEntity):
    """One query with its top-k results."""

    query: Annotated[str | None, NEEDED, LONG]
    category: Annotated[str | None, NEEDED, KNOWN]
    expected_topics: list[str]
    results: list[RetrievalResult]
    top1_score: float | None
    relevant: bool | None = Field(description="top1_score reaches the relevance threshold")


class GroundTruthMapping(SeedEntity):
    """Pages that are relevant for a query."""

    query: str
    relevant_urls: Annotated[list[str], URLS]


class PrecisionMetric(SeedEntity):
    """Precision@k of one query, on pages."""

    query: str
    k: Annotated[int, POSITIVE]
    precision: Annotated[float, SHARE] = Field(description="relevant_count / k")
    retrieved_urls: list[str] = Field(description="The first k distinct pages")
    relevant_retrieved: list[str]
    relevant_count: int
    ceiling: float = Field(description="Best precision that the ground truth allows")
    short_because: str | None = Field(description="Why fewer than k pages came back; null when k did")


class ProfileReport(SeedEntity):
    """``profile_report.json``: the seed's ValidationReport, with the results of the seed's criteria and rules."""

    model_config = ConfigDict(frozen=True, title="profile_report.json of rag-validation")

    profile: Literal["rag-validation"] = "rag-validation"
    collection_name: str
    total_queries: int | None = Field(description="Null when the run asked no query")
    query_results: list[QueryResults]
    precision_metrics: list[PrecisionMetric] | None = Field(description="Null without ground truth")
    avg_top1_score: float | None
    queries_above_threshold: int | None
    avg_precision_at_3: float | None
    avg_precision_at_5: float | None
    pass_status: bool = Field(description="Relevance met, and precision@3 met or without ground truth")
    timestamp: str
    ground_truth: list[GroundTruthMapping]
    success_criteria: dict[Literal["relevance", "precision_at_3"], SuccessCriterion]
    rule_violations: list[RuleViolation]


def render(bundle: ReportBundle) -> ProfileReport:
    """The seed's report of a run."""
    report = bundle.report
    stated = bundle.setting("retrieval", "relevance_similarity")
    threshold = float(PROFILE.settings["retrieval"]["relevance_similarity"] if stated is None else stated)
    higher = bundle.higher_is_better
    results = [_query_results(query, threshold, higher=higher) for query in report.query_results]
    precisions = [_precision(metric, bundle.rankings.get(metric.query_id, ())) for metric in report.precision_metrics]
    truth = [
        GroundTruthMapping(query=str(query["query_text"]), relevant_urls=list(query["relevant_urls"]))
        for query in bundle.queries
        if query.get("relevant_urls")
    ]
    return ProfileReport(
        collection_name=report.collection_name,
        total_queries=report.total_queries,
        query_results=results,
        precision_metrics=precisions or None,
        avg_top1_score=report.avg_top1_score,
        queries_above_threshold=report.queries_above_threshold,
        avg_precision_at_3=report.avg_precision_at_3,
        avg_precision_at_5=report.avg_precision_at_5,
        # By verdict, not by truthiness: a precision of 0.0 is a missed gate, not an absent one.
        pass_status=verdict_of(report.criteria, ("relevance_rate", "precision_at_3")),
        timestamp=report.timestamp,
        ground_truth=truth,
        success_criteria={
            "relevance": success(report, "queries_above_threshold / positive queries", "relevance_rate"),
            "precision_at_3": success(report, "avg_precision_at_3", "precision_at_3"),
        },
        rule_violations=[
            *broken_rules(results, "query_results"),
            *broken_rules(precisions, "precision_metrics"),
            *(_short(metric, index) for index, metric in enumerate(precisions) if metric.short_because),
            *broken_rules(truth, "ground_truth"),
        ],
    )


def _query_results(query: QueryReport, threshold: float, *, higher: bool) -> QueryResults:
    given = query.query
    best = query.best_similarity
    return QueryResults(
        query=given.get("query_text"),
        category=given.get("category"),
        expected_topics=list(given.get("expected_topics") or ()),
        results=[_result(hit) for hit in query.top_results],
        top1_score=best,
        relevant=None if best is None else reaches(best, threshold, higher=higher),
    )


def _result(hit: TopResult) -> RetrievalResult:
    text = hit.chunk_text
    return RetrievalResult(
        rank=hit.rank,
        score=hit.similarity_score,
        url=hit.source_url,
        title=hit.title,
        heading=" > ".join(hit.heading_hierarchy) if hit.heading_hierarchy else None,
        text=text,
        token_count=hit.token_count,
        preview=None if text is None else text[:PREVIEW_CHARACTERS],
    )


def _precision(metric: Precision, ranking: Sequence[str]) -> PrecisionMetric:
    values = metric.model_dump(exclude={"query_id"})
    return PrecisionMetric(**values, short_because=_why_short(metric, ranking[: metric.k]))


def _why_short(metric: Precision, ranked: Sequence[str]) -> str | None:
    """Why fewer than k pages came back: too few are in the collection, or hits without a page took their ranks."""
    found = len(metric.retrieved_urls)
    if found >= metric.k:
        return None
    nameless = sum(page.startswith(NO_ADDRESS) for page in ranked)
    reasons = [f"{plural(nameless, 'hit')} without a page among the first {metric.k} ranks"] if nameless else []
    if found + nameless < metric.k:
        distinct = plural(found, "distinct page")
        reasons.append(f"the search returned no more than {distinct}, however many points were requested")
    return "; ".join(reasons)


def _short(metric: PrecisionMetric, index: int) -> RuleViolation:
    return RuleViolation(
        entity="PrecisionMetric",
        where=f"precision_metrics[{index}]",
        field="retrieved_urls",
        rule=f"must have length k = {metric.k}: {metric.short_because}",
        value=len(metric.retrieved_urls),
    )
