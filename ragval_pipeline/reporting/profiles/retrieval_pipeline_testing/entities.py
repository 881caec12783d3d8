"""The entities of Retrieval Pipeline Testing, with all their fields, names and units."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from ragval_pipeline.reporting.profiles.entities import RuleViolation, SeedEntity, SuccessCriterion


class TestQuery(SeedEntity):
    """A single validation query with expected results."""

    __test__ = False  # not a test class, whatever pytest makes of the name

    query_text: str | None = Field(description="The query; must not be empty")
    expected_module: str | None = Field(description='Module expected in the top results, like "Module N Name"')
    expected_chapter: str | None = Field(description="Optional chapter id")
    min_similarity: float | None = Field(description="Score to reach, 0..1")
    description: str | None = Field(description="Optional, for people")


class QueryResult(SeedEntity):
    """A single chunk that came back."""

    chunk_id: str = Field(description="Point id as text")
    chunk_text: str | None
    similarity_score: float | None = Field(description="Raw score; cosine similarity may lie below 0")
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
    """Coverage of the site; null fields when it was not measured."""

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
    """Statistics of chunks and scores; null fields when they were not measured."""

    total_chunks: int | None
    chunks_with_complete_metadata: int | None
    metadata_completeness_rate: float | None = Field(description="(complete / total) * 100")
    token_distribution: Statistics
    avg_similarity_score: float | None = Field(description="Mean best score over all queries")
    similarity_distribution: Statistics
    timestamp: str | None


class ValidationReport(SeedEntity):
    """The seed's complete summary."""

    total_queries: int | None = Field(description="Null, as the next two, when the run asked no query")
    passed_queries: int | None
    failed_queries: int | None = Field(description="Queries that could not be asked included, as in the seed")
    pass_rate: float | None = Field(description="(passed / total) * 100; null when no query was run")
    query_results: list[QueryValidationResult]
    coverage_report: CoverageReport
    quality_metrics: QualityMetrics
    duration_seconds: float
    timestamp: str


class ProfileReport(ValidationReport):
    """``profile_report.json``: the seed's ValidationReport, and how it stands to the seed's criteria and rules."""

    model_config = ConfigDict(frozen=True, title="profile_report.json of retrieval-pipeline-testing")

    profile: Literal["retrieval-pipeline-testing"] = "retrieval-pipeline-testing"
    success_criteria: dict[Literal["SC-002", "SC-003", "SC-005"], SuccessCriterion]
    rule_violations: list[RuleViolation]
