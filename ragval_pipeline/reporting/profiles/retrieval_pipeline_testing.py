"""``profile_report.json`` of ``retrieval-pipeline-testing``: its entities with all fields, names and units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

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
)
from ragval_pipeline.suite.profiles.table import MODULE_PATTERN
from ragval_pipeline.suite.profiles.table import RETRIEVAL_PIPELINE_TESTING as PROFILE
from ragval_pipeline.validation.query_report import QueryReport
from ragval_pipeline.validation.report import ValidationReport as RunReport

MODULE = Rule('should match the format "Module N Name"', lambda text: MODULE_PATTERN.fullmatch(text) is not None)


class TestQuery(SeedEntity):
    """A single validation query with expected results."""

    __test__ = False  # not a test class, whatever pytest makes of the name

    query_text: Annotated[str | None, NEEDED, FILLED] = Field(description="The query; must not be empty")
    expected_module: Annotated[str | None, NEEDED, MODULE] = Field(
        description='Module expected in the top results, such as "Module N Name"'
    )
    expected_chapter: str | None = Field(description="Optional chapter id")
    min_similarity: Annotated[float | None, NEEDED, SHARE] = Field(description="Score to reach, 0..1")
    description: str | None = Field(description="Optional, for people")


class QueryResult(SeedEntity):
    """A single returned chunk."""

    chunk_id: str = Field(description="Point id as text")
    chunk_text: Annotated[str | None, NEEDED]
    similarity_score: Annotated[float | None, NEEDED, SHARE] = Field(
        description="Raw score; cosine similarity may be below 0"
    )
    source_url: Annotated[str | None, NEEDED, URL]
    chapter_id: Annotated[str | None, NEEDED]
    module_name: Annotated[str | None, NEEDED]
    heading_hierarchy: Annotated[list[str] | None, NEEDED]
    token_count: Annotated[int | None, NEEDED, POSITIVE]
    chunk_index: Annotated[int | None, NEEDED]


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
    return ProfileReport(
        total_queries=report.total_queries,
        passed_queries=report.passed_queries,
        failed_queries=_failed(report.failed_queries, report.error_queries),
        pass_rate=report.pass_rate,
        query_results=results,
        coverage_report=CoverageReport.model_validate(report.coverage_report.model_dump()),
        quality_metrics=QualityMetrics.model_validate(report.quality_metrics.model_dump()),
        duration_seconds=report.duration_seconds,
        timestamp=report.timestamp,
        success_criteria=_success_criteria(report),
        rule_violations=list(_violations(results, report.query_results)),
    )


def _violations(results: list[QueryValidationResult], queries: Sequence[QueryReport]) -> Iterator[RuleViolation]:
    # Queries that must find nothing need no module.
    negative = {f"query_results[{index}].query" for index, query in enumerate(queries) if query.query.get("negative")}
    for found in broken_rules(results, "query_results"):
        if (found.field, found.value) != ("expected_module", None) or found.where not in negative:
            yield found


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
    given = {name: query.query.get(name) for name in TestQuery.model_fields}
    return QueryValidationResult(
        query=TestQuery.model_validate({**given, "min_similarity": min_similarity}),
        top_results=[QueryResult.model_validate(asdict(hit)) for hit in query.top_results],
        passed=bool(query.passed),
        pass_reason=query.pass_reason,
        fail_reason=query.fail_reason,
        best_similarity=query.best_similarity,
        module_match=query.module_match,
    )


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
