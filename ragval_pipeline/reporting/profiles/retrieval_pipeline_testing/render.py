"""``retrieval-pipeline-testing``'s report from a run."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import asdict
from typing import Any, TypeVar

from ragval_pipeline.reporting.files.bundle import ReportBundle
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
from ragval_pipeline.reporting.profiles.retrieval_pipeline_testing.entities import (
    CoverageReport,
    ProfileReport,
    QualityMetrics,
    QueryResult,
    QueryValidationResult,
    Statistics,
    TestQuery,
)
from ragval_pipeline.sources.site.urls import is_http_url
from ragval_pipeline.suite.profiles.retrieval_pipeline_testing import MODULE_PATTERN, PROFILE
from ragval_pipeline.validation.report import Distribution, QueryReport, ValidationReport

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
    """The seed knows no third outcome: what could not be asked has failed."""
    return None if failed is None else failed + (unasked or 0)


def _min_similarity(query: QueryReport, bundle: ReportBundle) -> float | None:
    """The score that the query was held to: its own, else the suite's, else the profile's."""
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


def _quality(report: ValidationReport) -> QualityMetrics:
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


def _success_criteria(report: ValidationReport) -> dict[Any, SuccessCriterion]:
    values = {
        "SC-002": report.pass_rate,
        "SC-003": report.coverage_report.coverage_percentage,
        "SC-005": report.quality_metrics.metadata_completeness_rate,
    }
    return {
        # The value as the report's own field states it, so that the two never differ in the last digit.
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
        negative: Positions of queries that must find nothing: no module can be expected of them.
    """
    found: list[RuleViolation] = []
    for index, result in enumerate(results):
        where = f"query_results[{index}]"
        required = [name for name in _QUERY_REQUIRED if name != "expected_module" or index not in negative]
        found += broken_rules(result.query, f"{where}.query", required=required, rules=_QUERY_RULES)
        for rank, hit in enumerate(result.top_results):
            found += broken_rules(hit, f"{where}.top_results[{rank}]", required=_RESULT_REQUIRED, rules=_RESULT_RULES)
    return found
