"""What goes into a search and what comes out of it: ``retrieval-pipeline``'s entities, and its rules for a query."""

from __future__ import annotations

from types import UnionType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ragval_pipeline.suite.profiles.retrieval_pipeline import MAX_CHARACTERS, MAX_TOP_K
from ragval_pipeline.text.characters import is_blank

State = Literal["VALIDATING", "EMBEDDING", "SEARCHING", "FORMATTING", "COMPLETE", "EmbeddingError", "SearchError"]


class ValidationError(ValueError):
    """The query is wrong by itself; raised before any call."""


class SearchQuery(BaseModel):
    """What is searched for: text of 1 to 8000 characters, number of hits, threshold 0 to 1."""

    model_config = ConfigDict(frozen=True)

    text: str
    top_k: int
    score_threshold: float


class SearchResult(BaseModel):
    """One hit (profile ``retrieval-pipeline``). Fields that the payload does not hold are null."""

    model_config = ConfigDict(frozen=True)

    chunk_id: str
    content: str | None
    source_url: str | None
    source_title: str | None
    chunk_index: int | None
    token_count: int | None
    similarity_score: float = Field(description="Raw score of the collection's distance")
    embedded_at: str | None


class RetrievalResponse(BaseModel):
    """The outcome of one search (profile ``retrieval-pipeline``).

    Args:
        query: As asked.
        results: Hits that reach the threshold, best first.
        total_found: Number of results.
        search_time_ms: Milliseconds of connecting, embedding and searching, retries and waiting included.
        status: ``success``, ``no_matches`` when no hit reaches the threshold, ``error`` when a system failed.
        message: One line for people, without secrets.
        states: The states passed through, the last one first to fail or ``COMPLETE``.
        retries: Calls repeated on the way.
    """

    model_config = ConfigDict(frozen=True)

    query: str
    results: list[SearchResult]
    total_found: int
    search_time_ms: float
    status: Literal["success", "no_matches", "error"]
    message: str
    states: list[State]
    retries: int = 0


def validate_query(text: str, top_k: int | None, score_threshold: float | None) -> None:
    """Hold what a caller gave against the profile's rules; what is null comes from the suite, which has its own.

    Raises:
        ValidationError: Too long a text, or one of nothing but blanks and invisible characters; or top_k or threshold
            out of range.
    """
    if not isinstance(text, str) or is_blank(text):
        raise ValidationError("the query text must not be empty")
    if len(text) > MAX_CHARACTERS:
        raise ValidationError(f"the query text has {len(text)} characters; at most {MAX_CHARACTERS} are allowed")
    if top_k is not None and not (_is_number(top_k, int) and 1 <= top_k <= MAX_TOP_K):
        raise ValidationError(f"top_k must be a whole number from 1 to {MAX_TOP_K}, not {top_k}")
    if score_threshold is not None and not (_is_number(score_threshold, int | float) and 0 <= score_threshold <= 1):
        raise ValidationError(f"score_threshold must be from 0.0 to 1.0, not {score_threshold}")


def _is_number(value: object, kind: type | UnionType) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
