"""``profile_report.json`` of ``retrieval-validation``: the entities of Retrieval Validation & End-to-End.

Times are milliseconds, scores raw cosine similarities in -1..1, statuses PASS, FAIL, ERROR and PENDING.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.profiles.entities import (
    FILLED,
    NEEDED,
    NOT_NEGATIVE,
    POSITIVE,
    TIME,
    TIME_TAKEN,
    URL,
    HashMatches,
    Rule,
    RuleViolation,
    SeedEntity,
    SuccessCriterion,
    Vector,
    Vectors,
    are_best_first,
    broken_rules,
    embedding_records,
    embedding_violations,
    stored_chunks,
    success,
    time_taken,
    unasked_because,
    unpacked,
)
from ragval_pipeline.text.times import as_time
from ragval_pipeline.validation.query_report import QueryReport, TopResult
from ragval_pipeline.validation.thresholds import ROUNDING

Status = Literal["PASS", "FAIL", "ERROR", "PENDING"]
#: Payload fields that the seed wants indexed for filtering.
INDEXED_FIELDS = ("module", "chapter", "source_url")


class Query(SeedEntity):
    """A query text."""

    id: str
    text: Annotated[str, FILLED]
    embedding: Vector = Field(description="Query vector; null when nothing was searched, or with your own search")
    timestamp: str | None = Field(description="When it was asked; null when it was not")
    metadata: dict[str, Any] | None


class Embedding(SeedEntity):
    """The embedding of a returned chunk, as far as stored in the index."""

    chunk: str
    vector: Vector = Field(description="As stored; null when your own search returned the chunk")
    dimension: int | None
    model: str | None
    text_hash: str | None
    text_hash_matches: HashMatches


class Metadata(SeedEntity):
    """Where a chunk comes from."""

    source_url: Annotated[str | None, NEEDED, URL]
    module: Annotated[str | None, NEEDED, FILLED]
    chapter: Annotated[str | None, NEEDED, FILLED]
    chunk_index: Annotated[int | None, NEEDED, NOT_NEGATIVE]
    original_length: Annotated[int | None, POSITIVE]
    processed_at: Annotated[str | None, TIME]


class RetrievedChunk(SeedEntity):
    """A returned chunk."""

    id: str
    text: Annotated[str | None, NEEDED, FILLED]
    embedding: Vector = Field(description="As stored; null when your own search returned the chunk")
    score: Annotated[float, Rule("must be between -1 and 1", lambda score: abs(score) <= 1.0 + ROUNDING)]
    metadata: Metadata


class ValidationTest(SeedEntity):
    """One test: expected and actual results, and whether they agree."""

    id: str
    name: str
    description: str
    query_text: str
    expected_results: Annotated[list[dict[str, Any]], Rule("must hold at least one expected chunk", bool)]
    actual_results: list[RetrievedChunk] | None
    status: Status
    timestamp: str | None
    execution_time_ms: Annotated[float | None, NOT_NEGATIVE] = Field(description=TIME_TAKEN)


class Indexing(SeedEntity):
    """The collection's structure against the seed's indexing strategy."""

    collection_name: str
    vector_size: int | None
    distance: str | None
    index_type: Literal["HNSW", "none (local mode)"] | None
    hnsw: dict[str, Any]
    payload_indexes: dict[str, str]
    missing_payload_indexes: list[str] | None = Field(description="Null when the engine has no payload indexes")
    advice: str


class ProfileReport(SeedEntity):
    """``profile_report.json``: the seed's entities of one run."""

    model_config = ConfigDict(frozen=True, title="profile_report.json of retrieval-validation")

    profile: Literal["retrieval-validation"] = "retrieval-validation"
    timestamp: str
    passed: bool
    queries: list[Query]
    validation_tests: list[ValidationTest]
    embeddings: list[Embedding]
    indexing: Indexing
    success_criteria: dict[
        Literal["metadata_completeness", "accuracy", "determinism", "false_positives", "latency_p95_ms"],
        SuccessCriterion,
    ]
    rule_violations: list[RuleViolation]


def render(bundle: ReportBundle) -> ProfileReport:
    """The seed's entities of a run."""
    report = bundle.report
    stored = stored_chunks(bundle)
    by_id = {query.query_id: query for query in report.query_results}
    times = bundle.asked_at
    vectors, searched = unpacked(bundle.chunk_vectors), unpacked(bundle.query_vectors)
    unasked: Status = "PENDING" if unasked_because(report) is None else "ERROR"
    tests = [_test(query, by_id.get(str(query["id"])), unasked, stored, vectors, times) for query in bundle.queries]
    queries = [_query(query, searched, times) for query in bundle.queries]
    embeddings = embedding_records(Embedding, bundle, stored, vectors)
    return ProfileReport(
        timestamp=report.timestamp,
        passed=report.pass_status,
        queries=queries,
        validation_tests=tests,
        embeddings=embeddings,
        indexing=_indexing(bundle),
        success_criteria={
            "metadata_completeness": success(
                report,
                "complete retrieved metadata, percent",
                "retrieved_metadata_completeness",
                percent=True,
            ),
            "accuracy": success(report, "tests with all expected chunks, percent", "accuracy", percent=True),
            "determinism": success(report, "queries with identical results, percent", "determinism", percent=True),
            "false_positives": success(report, "unrelated rejected, percent", "negative_pass_rate", percent=True),
            "latency_p95_ms": success(report, "execution_time_ms p95", "latency_p95_ms"),
        },
        rule_violations=[
            *_violations(queries, tests, bundle),
            *embedding_violations(bundle, Embedding, embeddings),
        ],
    )


def _query(given: Mapping[str, Any], vectors: Vectors, times: Mapping[str, str]) -> Query:
    return Query(
        id=str(given["id"]),
        text=given["query_text"],
        embedding=vectors.get(str(given["id"])),
        timestamp=times.get(str(given["id"])),
        metadata=given.get("metadata"),
    )


def _test(
    given: Mapping[str, Any],
    result: QueryReport | None,
    unasked: Status,
    stored: Mapping[str, Mapping[str, Any]],
    vectors: Vectors,
    times: Mapping[str, str],
) -> ValidationTest:
    return ValidationTest(
        id=str(given["id"]),
        name=str(given.get("name") or given["id"]),
        description=str(given.get("description") or given["query_text"]),
        query_text=given["query_text"],
        expected_results=list(given.get("expected_results") or ()),
        actual_results=None if result is None else [_chunk(hit, stored, vectors) for hit in result.top_results],
        status=unasked if result is None else _status(result),
        timestamp=times.get(str(given["id"])),
        execution_time_ms=None if result is None else time_taken(result),
    )


def _status(result: QueryReport) -> Status:
    if result.passed is None:
        return "ERROR"
    return "PASS" if result.passed else "FAIL"


def _chunk(hit: TopResult, stored: Mapping[str, Mapping[str, Any]], vectors: Vectors) -> RetrievedChunk:
    row = stored.get(hit.chunk_id, {})
    return RetrievedChunk(
        id=hit.chunk_id,
        text=hit.chunk_text,
        embedding=vectors.get(hit.chunk_id),
        score=hit.similarity_score,
        metadata=Metadata(
            source_url=hit.source_url,
            module=hit.module_name,
            chapter=hit.chapter_id,
            chunk_index=hit.chunk_index,
            original_length=row.get("original_length"),
            processed_at=as_time(row.get("embedded_at")),
        ),
    )


def _indexing(bundle: ReportBundle) -> Indexing:
    vector = bundle.searched_vector
    facts = bundle.manifest.facts if bundle.manifest else None
    indexes = dict(facts.payload_indexes) if facts else {}
    fields = [str(bundle.setting("payload", "fields", name) or name) for name in INDEXED_FIELDS]
    local = facts.local if facts else None
    missing = None if local is not False else [name for name in fields if name not in indexes]
    return Indexing(
        collection_name=bundle.report.collection_name,
        vector_size=vector.size if vector else None,
        distance=vector.distance if vector else None,
        index_type=None if local is None else "none (local mode)" if local else "HNSW",
        hnsw=dict(facts.hnsw) if facts else {},
        payload_indexes=indexes,
        missing_payload_indexes=missing,
        advice=(
            f"Index {', '.join(fields)} for filtering. Qdrant combines single-field indexes in one query; it has no "
            "composite indexes, so a filter over several fields needs an index on each of them."
        ),
    )


def _violations(queries: list[Query], tests: list[ValidationTest], bundle: ReportBundle) -> Iterator[RuleViolation]:
    yield from broken_rules(queries, "queries")
    # Queries that must find nothing expect no results.
    negative = {str(query["id"]) for query in bundle.queries if query.get("negative")}
    unasked = {f"validation_tests[{index}]" for index, test in enumerate(tests) if test.id in negative}
    for found in broken_rules(tests, "validation_tests"):
        if found.field != "expected_results" or found.where not in unasked:
            yield found
    for index, test in enumerate(tests):
        scores = [chunk.score for chunk in test.actual_results or ()]
        if not are_best_first(scores, higher=bundle.higher_is_better):
            yield RuleViolation(
                entity="ValidationTest",
                where=f"validation_tests[{index}]",
                field="actual_results",
                rule="must be ranked by score, highest first",
                value=scores,
            )
