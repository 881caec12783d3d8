"""``profile_report.json`` of ``rag-retrieval-testing``: the entities of RAG Retrieval Testing.

``retrieval_time`` is seconds, scores are raw cosine similarities, times UTC in ISO 8601.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from ragval_pipeline.reporting.bundle import ReportBundle
from ragval_pipeline.reporting.profiles.entities import (
    FILLED,
    NEEDED,
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
    unpacked,
)
from ragval_pipeline.suite.profiles.table import TESTING_MAX_CHARACTERS as MAX_CHARACTERS
from ragval_pipeline.text.times import as_time
from ragval_pipeline.validation.query_report import QueryReport, TopResult


class Query(SeedEntity):
    """A text to be matched against stored content."""

    text: Annotated[
        str,
        FILLED,
        Rule(f"must have at most {MAX_CHARACTERS} characters", lambda text: len(text) <= MAX_CHARACTERS),
    ]
    embedding: Vector = Field(description="Query vector; null when nothing was searched, or with your own search")
    created_at: str


class Metadata(SeedEntity):
    """What makes a chunk traceable."""

    url: Annotated[str | None, NEEDED, URL]
    chunk_id: Annotated[str | None, NEEDED, FILLED] = Field(description="The id in the payload, not the point id")
    source_title: str | None
    created_at: Annotated[str | None, TIME]


class TextChunk(SeedEntity):
    """A stored segment of a document."""

    id: str = Field(description="Point id")
    content: Annotated[str | None, NEEDED, FILLED]
    original_url: str | None
    vector: Vector = Field(description="As stored; null when your own search returned the chunk")
    metadata: dict[str, Any]


class VectorEmbedding(SeedEntity):
    """The embedding of a returned chunk, as far as stored in the index."""

    chunk: str
    vector: Vector = Field(description="As stored; null when your own search returned the chunk")
    model: str | None
    dimension: int | None
    text_hash: str | None
    text_hash_matches: HashMatches


class RetrievalResult(SeedEntity):
    """One query with its matches."""

    query: Query
    matches: list[TextChunk]
    scores: list[float]
    metadata_list: list[Metadata]
    retrieval_time: float | None = Field(description=f"Seconds. {TIME_TAKEN}")
    total_chunks_searched: int | None = Field(description="Number of points in the collection, not of matches")


class ProfileReport(SeedEntity):
    """``profile_report.json``: the seed's entities of one run."""

    model_config = ConfigDict(frozen=True, title="profile_report.json of rag-retrieval-testing")

    profile: Literal["rag-retrieval-testing"] = "rag-retrieval-testing"
    timestamp: str
    passed: bool
    retrieval_results: list[RetrievalResult]
    embeddings: list[VectorEmbedding]
    success_criteria: dict[
        Literal["integrity", "metadata_completeness", "performance", "top_k_accuracy"], SuccessCriterion
    ]
    rule_violations: list[RuleViolation]


def render(bundle: ReportBundle) -> ProfileReport:
    """The seed's entities of a run."""
    report = bundle.report
    stored = stored_chunks(bundle)
    searched = bundle.manifest.points if bundle.manifest else None
    asked_at = bundle.asked_at
    vectors, given = unpacked(bundle.chunk_vectors), unpacked(bundle.query_vectors)
    results = [
        _result(
            query,
            stored,
            vectors,
            given.get(query.query_id),
            searched=searched,
            timestamp=asked_at.get(query.query_id, report.timestamp),
        )
        for query in report.query_results
    ]
    embeddings = embedding_records(VectorEmbedding, bundle, stored, vectors)
    return ProfileReport(
        timestamp=report.timestamp,
        passed=report.pass_status,
        retrieval_results=results,
        embeddings=embeddings,
        success_criteria={
            "integrity": success(report, "chunk text found on its page, percent", "content_integrity", percent=True),
            "metadata_completeness": success(
                report, "url and chunk_id of all results, percent", "retrieved_metadata_completeness", percent=True
            ),
            "performance": success(report, "retrieval_time p95, seconds", "latency_p95_ms", scale=0.001),
            "top_k_accuracy": success(report, "relevant pages in the top 5, percent", "recall_at_5", percent=True),
        },
        rule_violations=[
            *_violations(results, higher=bundle.higher_is_better),
            *_shared_chunk_ids(results),
            *embedding_violations(bundle, VectorEmbedding, embeddings),
        ],
    )


def _result(
    query: QueryReport,
    stored: Mapping[str, Mapping[str, Any]],
    vectors: Vectors,
    embedding: Any,
    *,
    searched: int | None,
    timestamp: str,
) -> RetrievalResult:
    taken = time_taken(query)
    metadata = [_metadata(hit, stored.get(hit.chunk_id, {})) for hit in query.top_results]
    return RetrievalResult(
        query=Query(
            text=query.query["query_text"],
            embedding=embedding,
            created_at=str(query.query.get("created_at") or timestamp),
        ),
        matches=[
            _chunk(hit, entry, vectors.get(hit.chunk_id))
            for hit, entry in zip(query.top_results, metadata, strict=True)
        ],
        scores=[hit.similarity_score for hit in query.top_results],
        metadata_list=metadata,
        retrieval_time=None if taken is None else taken / 1000,
        total_chunks_searched=searched,
    )


def _chunk(hit: TopResult, metadata: Metadata, vector: Any) -> TextChunk:
    return TextChunk(
        id=hit.chunk_id,
        content=hit.chunk_text,
        original_url=hit.source_url,
        vector=vector,
        metadata=metadata.model_dump(),
    )


def _metadata(hit: TopResult, stored: Mapping[str, Any]) -> Metadata:
    return Metadata(
        url=hit.source_url,
        chunk_id=stored.get("chunk_id"),
        source_title=hit.title,
        created_at=as_time(stored.get("embedded_at")),
    )


def _violations(results: list[RetrievalResult], *, higher: bool) -> Iterator[RuleViolation]:
    yield from broken_rules(results, "retrieval_results")
    for index, result in enumerate(results):
        if not are_best_first(result.scores, higher=higher):
            yield RuleViolation(
                entity="RetrievalResult",
                where=f"retrieval_results[{index}]",
                field="scores",
                rule="must be in descending order",
                value=result.scores,
            )


def _shared_chunk_ids(results: list[RetrievalResult]) -> Iterator[RuleViolation]:
    """Chunk ids shared by different points: each occurrence after the first point's."""
    owners: dict[str, str] = {}
    for index, result in enumerate(results):
        for rank, (chunk, metadata) in enumerate(zip(result.matches, result.metadata_list, strict=True)):
            name = metadata.chunk_id
            if name is not None and owners.setdefault(name, chunk.id) != chunk.id:
                where = f"retrieval_results[{index}].metadata_list[{rank}]"
                rule = f"must be unique; point {owners[name]} has it too"
                yield RuleViolation(entity="Metadata", where=where, field="chunk_id", rule=rule, value=name)
