"""``profile_report.json`` of ``retrieval-pipeline-testing``: its entities with all fields, names and units."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import asdict
from typing import Any, Literal, TypeVar

from pydantic import ConfigDict, Field

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.profiles.entities import (
    Rule,
    RuleViolation,
    SeedEntity,
    SuccessCriterion,
    broken_rules,
    is_filled,
    is_share,
    success,
)
from ragval_pipeline.sources.http.addresses import is_http_url
from ragval_pipeline.suite.profiles.table import MODULE_PATTERN
from ragval_pipeline.suite.profiles.table import RETRIEVAL_PIPELINE_TESTING as PROFILE
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.report import Distribution
from ragval_pipeline.validation.report import ValidationReport as RunReport


class TestQuery(SeedEntity):
    """A single validation query with expected results."""

    __test__ = False  # not a test class, whatever pytest makes of the name

    query_text: str | None = Field(description="The query; must not be empty")
    expected_module: str | None = Field(description='Module expected in the top results, such as "Module N Name"')
    expected_chapter: str | None = Field(description="Optional chapter id")
    min_similarity: float | None = Field(description="Score to reach, 0..1")
    description: str | None = Field(description="Optional, for people")


class QueryResult(SeedEntity):
    """A single returned chunk."""

    chunk_id: str = Field(description="Point id as text")
    chunk_text: str | None
    similarity_score: float | None = Field(description="Raw score; cosine similarity may be below 0")
    source_url: str | None
    chapter_id: str | None
    module_name: str | None
    heading_hierarchy: list[str] | None
    token_count: int | None
    chunk_index: int | None


class QueryValidationResult(SeedEntity):
    """Result of one query: passed = best_similarity >= min_similarity and module_match."""

    query: TestQuery
    top_results: list[QueryResult]
    passed: bool
    pass_reason: str | None
    fail_reason: str | None
    best_similarity: float | None = Field(description="Null when nothing came back")
    module_match: bool | None = Field(description="Null when the query expects no module")


class CoverageReport(SeedEntity):
    """Coverage of the site; null fields if not measured."""

    total_sitemap_urls: int | None
    indexed_urls: list[str] | None
    missing_urls: list[str] | None
    extra_urls: list[str] | None
    coverage_percentage: float | None = Field(description="(indexed / total) * 100")
    timestamp: str | None


class Statistics(SeedEntity):
    """Smallest, largest, mean and median."""

    min: float | None
    max: float | None
    avg: float | None
    median: float | None


class QualityMetrics(SeedEntity):
    """Statistics of chunks and scores; null fields if not measured."""

    total_chunks: int | None
    chunks_with_complete_metadata: int | None
    metadata_completeness_rate: float | None = Field(description="(complete / total) * 100")
    token_distribution: Statistics
    avg_similarity_score: float | None = Field(description="Mean best score over all queries")
    similarity_distribution: Statistics
    timestamp: str | None


class ValidationReport(SeedEntity):
    """The seed's complete summary."""

    total_queries: int | None = Field(description="Null, like the next two, when the run asked no query")
    passed_queries: int | None
    failed_queries: int | None = Field(description="Includes queries that could not be asked, as in the seed")
    pass_rate: float | None = Field(description="(passed / total) * 100; null when no query was run")
    query_results: list[QueryValidationResult]
    coverage_report: CoverageReport
    quality_metrics: QualityMetrics
    duration_seconds: float
    timestamp: str


class ProfileReport(ValidationReport):
    """``profile_report.json``: the seed's ValidationReport, with the results of the seed's criteria and rules."""

    model_config = ConfigDict(frozen=True, title="profile_report.json of retrieval-pipeline-testing")

    profile: Literal["retrieval-pipeline-testing"] = "retrieval-pipeline-testing"
    success_criteria: dict[Literal["SC-002", "SC-003", "SC-005"], SuccessCriterion]
    rule_violations: list[RuleViolation]


Entity = TypeVar("Entity", bound=SeedEntity)

#: The seed's success criteria: the field that each is about, and the criterion of ragval that judges it.
_SUCCESS = {
    "SC-002": ("pass_rate", "query_pass_rate"),
    "SC-003": ("coverage_report.coverage_percentage", "coverage"),
    "SC-005": ("quality_metrics.metadata_completeness_rate", "metadata_completeness"),
}


def render(bundle: ReportBundle) -> ProfileReport:
    """The seed's report of a run."""
    report = bundle.report
    results = [_query_result(query, _min_similarity(query, bundle)) for query in report.query_results]
    negative = {index for index, query in enumerate(report.query_results) if query.query.get("negative")}
    return ProfileReport(
        total_queries=report.total_queries,
        passed_queries=report.passed_queries,
        failed_queries=_failed(report.failed_queries, report.error_queries),
        pass_rate=report.pass_rate,
        query_results=results,
        coverage_report=_same(CoverageReport, report.coverage_report.model_dump()),
        quality_metrics=_quality(report),
        duration_seconds=report.duration_seconds,
        timestamp=report.timestamp,
        success_criteria=_success_criteria(report),
        rule_violations=rule_violations(results, negative=negative),
    )


def _failed(failed: int | None, unasked: int | None) -> int | None:
    """The seed has no third outcome: queries that could not be run have failed."""
    return None if failed is None else failed + (unasked or 0)


def _min_similarity(query: QueryReport, bundle: ReportBundle) -> float | None:
    """The score threshold of the query: its own, else the suite's, else the profile's."""
    own = query.query.get("min_similarity")
    suite = bundle.setting("retrieval", "min_similarity")
    value = next(
        (value for value in (own, suite) if value is not None), PROFILE.settings["retrieval"]["min_similarity"]
    )
    return None if value is None else float(value)


def _query_result(query: QueryReport, min_similarity: float | None) -> QueryValidationResult:
    given = query.query
    return QueryValidationResult(
        query=TestQuery(
            query_text=given.get("query_text"),
            expected_module=given.get("expected_module"),
            expected_chapter=given.get("expected_chapter"),
            min_similarity=min_similarity,
            description=given.get("description"),
        ),
        top_results=[_same(QueryResult, asdict(hit)) for hit in query.top_results],
        passed=bool(query.passed),
        pass_reason=query.pass_reason,
        fail_reason=query.fail_reason,
        best_similarity=query.best_similarity,
        module_match=query.module_match,
    )


def _quality(report: RunReport) -> QualityMetrics:
    quality = report.quality_metrics
    return QualityMetrics(
        total_chunks=quality.total_chunks,
        chunks_with_complete_metadata=quality.chunks_with_complete_metadata,
        metadata_completeness_rate=quality.metadata_completeness_rate,
        token_distribution=_statistics(quality.token_distribution),
        avg_similarity_score=quality.avg_similarity_score,
        similarity_distribution=_statistics(quality.similarity_distribution),
        timestamp=quality.timestamp,
    )


def _statistics(distribution: Distribution) -> Statistics:
    return _same(Statistics, distribution.model_dump())


def _success_criteria(report: RunReport) -> dict[Any, SuccessCriterion]:
    values = {
        "SC-002": report.pass_rate,
        "SC-003": report.coverage_report.coverage_percentage,
        "SC-005": report.quality_metrics.metadata_completeness_rate,
    }
    return {
        # The value of the report's own field, so that the two never differ in the last digit.
        name: success(report, field, criterion, percent=True).model_copy(update={"value": values[name]})
        for name, (field, criterion) in _SUCCESS.items()
    }


def _same(model: type[Entity], values: dict[str, Any]) -> Entity:
    return model.model_validate({name: values.get(name) for name in model.model_fields})


def _is_module(text: str) -> bool:
    return MODULE_PATTERN.fullmatch(text) is not None


_QUERY_RULES = (
    Rule("query_text", "must not be empty", is_filled),
    Rule("min_similarity", "must be between 0.0 and 1.0", is_share),
    Rule("expected_module", 'should match the format "Module N Name"', _is_module),
)
_RESULT_RULES = (
    Rule("similarity_score", "must be between 0.0 and 1.0", is_share),
    Rule("source_url", "must be a valid URL", is_http_url),
    Rule("token_count", "must be a positive integer", lambda count: count > 0),
)
_QUERY_REQUIRED = ("query_text", "expected_module", "min_similarity")
_RESULT_REQUIRED = tuple(QueryResult.model_fields)


def rule_violations(results: Iterable[QueryValidationResult], *, negative: Container[int] = ()) -> list[RuleViolation]:
    """Every value of the queries and their hits that breaks a rule of the seed, in the order of the report.

    Args:
        results: The queries with their hits.
        negative: Positions of queries that must find nothing: they need no module.
    """
    found: list[RuleViolation] = []
    for index, result in enumerate(results):
        where = f"query_results[{index}]"
        required = [name for name in _QUERY_REQUIRED if name != "expected_module" or index not in negative]
        found += broken_rules(result.query, f"{where}.query", required=required, rules=_QUERY_RULES)
        for rank, hit in enumerate(result.top_results):
            found += broken_rules(hit, f"{where}.top_results[{rank}]", required=_RESULT_REQUIRED, rules=_RESULT_RULES)
    return found
