"""``profile_report.json`` of ``retrieval-pipeline``: the entities of Data Retrieval & Pipeline Validation.

Times are milliseconds, scores raw cosine similarities. Results are those at or above the query's threshold: the search
itself has none, so that a miss keeps its score.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.profiles.entities import (
    NEEDED,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    TIME,
    TIME_TAKEN,
    Rule,
    RuleViolation,
    SeedEntity,
    SuccessCriterion,
    broken_rules,
    is_filled,
    stored_chunks,
    success,
    time_taken,
    unasked_because,
)
from ragval_pipeline.suite.profiles.table import MAX_TOP_K
from ragval_pipeline.suite.profiles.table import PIPELINE_MAX_CHARACTERS as MAX_CHARACTERS
from ragval_pipeline.suite.profiles.table import RETRIEVAL_PIPELINE as PROFILE
from ragval_pipeline.suite.scores import reaches
from ragval_pipeline.text.printing import plural
from ragval_pipeline.text.times import as_time
from ragval_pipeline.validation.query_report import QueryReport, TopResult
from ragval_pipeline.validation.retrieval.texts import fold_text, holds_word

State = Literal["VALIDATING", "EMBEDDING", "SEARCHING", "FORMATTING", "COMPLETE", "EmbeddingError", "SearchError"]


class SearchQuery(SeedEntity):
    """The input query."""

    text: Annotated[
        str,
        Rule("must not be empty after stripping", is_filled),
        Rule(f"must not exceed {MAX_CHARACTERS} characters", lambda text: len(text) <= MAX_CHARACTERS),
    ]
    top_k: Annotated[int, Rule(f"must be 1 to {MAX_TOP_K}", lambda top_k: 1 <= top_k <= MAX_TOP_K)]
    score_threshold: Annotated[float, SHARE]


class SearchResult(SeedEntity):
    """A single result of the similarity search."""

    chunk_id: str
    content: Annotated[str | None, NEEDED]
    source_url: Annotated[str | None, NEEDED]
    source_title: Annotated[str | None, NEEDED]
    chunk_index: Annotated[int | None, NEEDED, NOT_NEGATIVE]
    token_count: Annotated[int | None, NEEDED, POSITIVE]
    similarity_score: Annotated[float, SHARE]
    embedded_at: Annotated[str | None, NEEDED, TIME]


class RetrievalConfig(SeedEntity):
    """Configuration of the retrieval; keys are never shown, only whether they are set."""

    qdrant_url: str | None
    qdrant_api_key: str = Field(description="set, or not shown: reports never contain keys")
    collection_name: str
    cohere_api_key: str = Field(description="set, or not shown: reports never contain keys")
    embedding_model: str | None
    vector_size: Annotated[int | None, Rule(f"is expected to be {PROFILE.vector_size}", PROFILE.vector_size.__eq__)]
    default_top_k: int
    default_threshold: float
    max_retries: int
    retry_delay: float


class RetrievalResponse(SeedEntity):
    """The outcome of one search."""

    query: str
    results: list[SearchResult]
    total_found: int
    search_time_ms: float | None = Field(description="The query's share of a search for many queries")
    status: Literal["success", "no_matches", "error"]
    message: str
    states: list[State]


class ValidationResult(SeedEntity):
    """Result of the test harness for one query."""

    query: str
    expected_keywords: list[str]
    passed: bool = Field(description="Also false when the search failed; the response then says so")
    results_count: int
    top_result_score: float | None
    keywords_found: list[str]
    execution_time_ms: float | None = Field(description=TIME_TAKEN)


class ProfileReport(SeedEntity):
    """``profile_report.json``: the seed's entities of one run."""

    model_config = ConfigDict(frozen=True, title="profile_report.json of retrieval-pipeline")

    profile: Literal["retrieval-pipeline"] = "retrieval-pipeline"
    timestamp: str
    passed: bool
    config: RetrievalConfig
    queries: list[SearchQuery]
    responses: list[RetrievalResponse]
    validation_results: list[ValidationResult]
    asked_not_available: list[str] = Field(description="Fields of the seed's plan that the payload lacks")
    success_criteria: dict[Literal["suite", "latency_p95_ms"], SuccessCriterion]
    rule_violations: list[RuleViolation]


def render(bundle: ReportBundle) -> ProfileReport:
    """The seed's entities of a run."""
    report = bundle.report
    config = _config(bundle)
    queries = [_query(query.query, bundle) for query in report.query_results]
    stored = stored_chunks(bundle)
    higher = bundle.higher_is_better
    responses = [
        _response(query, asked, stored, higher=higher)
        for query, asked in zip(report.query_results, queries, strict=True)
    ]
    results = [_result(query, answer) for query, answer in zip(report.query_results, responses, strict=True)]
    reason, asked_ids = unasked_because(report), {query.query_id for query in report.query_results}
    for given in bundle.queries if reason else ():
        if str(given["id"]) not in asked_ids:
            queries.append(_query(given, bundle))
            responses.append(_no_response(queries[-1], str(reason)))
            results.append(_no_result(given))
    return ProfileReport(
        timestamp=report.timestamp,
        passed=report.pass_status,
        config=config,
        queries=queries,
        responses=responses,
        validation_results=results,
        asked_not_available=["page number", "section id"],
        success_criteria={
            "suite": success(report, "validation_results.passed", "query_pass_rate"),
            "latency_p95_ms": success(report, "execution_time_ms", "latency_p95_ms"),
        },
        rule_violations=[
            *broken_rules(config, "config"),
            *broken_rules(queries, "queries"),
            *broken_rules(responses, "responses"),
        ],
    )


def _config(bundle: ReportBundle) -> RetrievalConfig:
    vector = bundle.searched_vector
    return RetrievalConfig(
        qdrant_url=bundle.setting("qdrant", "url"),
        qdrant_api_key="not shown",
        collection_name=bundle.report.collection_name,
        cohere_api_key="not shown",
        embedding_model=bundle.report.environment.get("embedding_model"),
        vector_size=vector.size if vector else None,
        default_top_k=int(bundle.setting("retrieval", "top_k") or PROFILE.settings["retrieval"]["top_k"]),
        default_threshold=_default_threshold(bundle),
        max_retries=int(bundle.setting("retry", "max") or 0),
        retry_delay=float(bundle.setting("retry", "delay_s") or 0.0),
    )


def _default_threshold(bundle: ReportBundle) -> float:
    value = bundle.setting("retrieval", "min_similarity")
    return float(PROFILE.settings["retrieval"]["min_similarity"] if value is None else value)


def _query(given: Mapping[str, Any], bundle: ReportBundle) -> SearchQuery:
    threshold = given.get("min_similarity")
    top_k = given.get("top_k") or bundle.setting("retrieval", "top_k") or PROFILE.settings["retrieval"]["top_k"]
    return SearchQuery(
        text=given["query_text"],
        top_k=int(top_k),
        score_threshold=_default_threshold(bundle) if threshold is None else float(threshold),
    )


def _response(
    query: QueryReport, asked: SearchQuery, stored: Mapping[str, Mapping[str, Any]], *, higher: bool
) -> RetrievalResponse:
    kept = [hit for hit in query.top_results if reaches(hit.similarity_score, asked.score_threshold, higher=higher)]
    results = [_search_result(hit, stored.get(hit.chunk_id, {}).get("embedded_at")) for hit in kept]
    status: Literal["success", "no_matches", "error"] = "success" if results else "no_matches"
    if query.status == "error":
        status = "error"
    return RetrievalResponse(
        query=asked.text,
        results=results,
        total_found=len(results),
        search_time_ms=query.search_time_ms,
        status=status,
        message=_message(query, asked, len(results), higher=higher),
        states=_states(query),
    )


def _no_response(asked: SearchQuery, reason: str) -> RetrievalResponse:
    # Queries are embedded only once the collection has been read: the search failed before the embedding.
    return RetrievalResponse(
        query=asked.text,
        results=[],
        total_found=0,
        search_time_ms=None,
        status="error",
        message=reason,
        states=["VALIDATING", "SearchError"],
    )


def _no_result(given: Mapping[str, Any]) -> ValidationResult:
    return ValidationResult(
        query=given["query_text"],
        expected_keywords=list(given.get("expected_keywords") or ()),
        passed=False,
        results_count=0,
        top_result_score=None,
        keywords_found=[],
        execution_time_ms=None,
    )


def _search_result(hit: TopResult, embedded_at: str | None) -> SearchResult:
    return SearchResult(
        chunk_id=hit.chunk_id,
        content=hit.chunk_text,
        source_url=hit.source_url,
        source_title=hit.title,
        chunk_index=hit.chunk_index,
        token_count=hit.token_count,
        similarity_score=hit.similarity_score,
        embedded_at=as_time(embedded_at),
    )


def _message(query: QueryReport, asked: SearchQuery, found: int, *, higher: bool) -> str:
    reaching, missing = ("above", "below") if higher else ("below", "above")
    if query.status == "error":
        return query.fail_reason or "the search failed"
    if found:
        return f"Found {plural(found, 'result')} at or {reaching} {asked.score_threshold:g}"
    if query.best_similarity is None:
        return "No matches: the collection returned nothing"
    return f"No matches: the best result scores {query.best_similarity:.4f}, {missing} {asked.score_threshold:g}"


def _states(query: QueryReport) -> list[State]:
    """The states that the query passed through; they end at a failure."""
    if query.status != "error":
        return ["VALIDATING", "EMBEDDING", "SEARCHING", "FORMATTING", "COMPLETE"]
    if query.embedding_ms is None:
        return ["VALIDATING", "EMBEDDING", "EmbeddingError"]
    return ["VALIDATING", "EMBEDDING", "SEARCHING", "SearchError"]


def _result(query: QueryReport, response: RetrievalResponse) -> ValidationResult:
    keywords = list(query.query.get("expected_keywords") or ())
    texts = [fold_text(hit.content or "") for hit in response.results]
    return ValidationResult(
        query=response.query,
        expected_keywords=keywords,
        passed=bool(query.passed),
        results_count=response.total_found,
        top_result_score=query.best_similarity,
        keywords_found=[word for word in keywords if any(holds_word(text, word) for text in texts)],
        execution_time_ms=time_taken(query),
    )
