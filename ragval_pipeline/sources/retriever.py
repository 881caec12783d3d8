"""``Retriever``: one search as your assistant would make it, with seed 003's entities and states.

What lives here: validating, embedding, searching and formatting one query. What does not: judging answers
(``validation/retrieval``) and asking a whole golden set (``answers``).
"""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.sources.embedders import check_configuration, open_embedder
from ragval_pipeline.sources.embedders.base import Embedder
from ragval_pipeline.sources.production_search import ProductionSearcher, load_search, production_searcher
from ragval_pipeline.sources.qdrant.connect import open_client, place_of
from ragval_pipeline.sources.qdrant.reader import CollectionReader, Hit
from ragval_pipeline.sources.retry import RetryPolicy
from ragval_pipeline.sources.snapshot.values import lookup
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite

MAX_CHARACTERS = 8000
MAX_TOP_K = 50

State = Literal["VALIDATING", "EMBEDDING", "SEARCHING", "FORMATTING", "COMPLETE", "EmbeddingError", "SearchError"]


class ValidationError(ValueError):
    """The query is wrong by itself; raised before any call."""


class SearchQuery(BaseModel):
    """What is searched for (seed 003): text of 1 to 8000 characters, top_k 1 to 50, threshold 0 to 1."""

    model_config = ConfigDict(frozen=True)

    text: str
    top_k: int
    score_threshold: float


class SearchResult(BaseModel):
    """One hit (seed 003). Fields that the payload does not hold are null."""

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
    """The outcome of one search (seed 003).

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


class Retriever:
    """Searches the collection of a suite with the suite's embedder, or through the search that the suite names.

    Used in a ``with``, it keeps its connections open; otherwise each search opens and closes its own.

    Args:
        suite: As ``load_suite`` reads it; placeholders are read now.

    Raises:
        SuiteError: The suite, the environment or the embedder's settings are wrong.
    """

    def __init__(self, suite: Suite) -> None:
        self._suite = resolve_suite(suite)
        _check_settings(self._suite)
        self._session: _Session | None = None

    def __enter__(self) -> Self:
        self._session = _Session(self._suite)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def search(self, text: str, top_k: int | None = None, score_threshold: float | None = None) -> RetrievalResponse:
        """Search for one text.

        Args:
            text: 1 to 8000 characters, not blank.
            top_k: 1 to 50; null: the suite's ``retrieval.top_k``.
            score_threshold: 0 to 1; null: the suite's ``retrieval.min_similarity``.

        Returns:
            The response; a system that fails gives status ``error``, never an empty success.

        Raises:
            ValidationError: The input is wrong; nothing was called.
        """
        settings = self._suite.retrieval
        query = validate_query(
            text,
            settings.top_k if top_k is None else top_k,
            settings.min_similarity if score_threshold is None else score_threshold,
        )
        if self._session is not None:
            return self._search(query, self._session)
        with closing(_Session(self._suite)) as session:
            return self._search(query, session)

    def _search(self, query: SearchQuery, session: _Session) -> RetrievalResponse:
        started = time.perf_counter()
        found = _Found(["VALIDATING"])
        try:
            if self._suite.retrieval.retriever is None:
                self._search_collection(query, session, found)
            else:
                found.states.append("SEARCHING")
                found.hits = session.production.search(query.text, limit=query.top_k, fields=())
            elapsed_ms = _ms(started)
            kept = [hit for hit in found.hits if session.reaches(hit.score, query.score_threshold)]
        except (SystemFailure, NotMeasurableError) as failure:
            states: list[State] = [*found.states, _failed_in(found.states[-1])]
            return _failed(query, states, failure, _ms(started))
        results = [self._format(hit) for hit in kept]
        return RetrievalResponse(
            query=query.text,
            results=results,
            total_found=len(results),
            search_time_ms=elapsed_ms,
            status="success" if results else "no_matches",
            message=_message(results, found.hits, query),
            states=[*found.states, "FORMATTING", "COMPLETE"],
            retries=found.retries,
        )

    def _search_collection(self, query: SearchQuery, session: _Session, found: _Found) -> None:
        found.states.append("EMBEDDING")
        batch = session.embedder.embed([query.text], input_type=self._suite.embedding.query_input_type)
        found.retries = max(batch.tries - batch.calls, 0)
        found.states.append("SEARCHING")
        before = session.reader.attempts.tries
        fields = list(dict.fromkeys(self._suite.payload.fields.values()))
        vector = batch.vectors[0].tolist()
        found.hits = session.reader.search(vector, limit=query.top_k, fields=fields, exact=self._suite.retrieval.exact)
        found.retries += max(session.reader.attempts.tries - before - 1, 0)

    def _format(self, hit: Hit) -> SearchResult:
        def value(name: str, kind: type) -> Any:
            path = self._suite.payload.fields.get(name)
            found = None if path is None else lookup(hit.payload, path)[1]
            return found if isinstance(found, kind) and not isinstance(found, bool) else None

        return SearchResult(
            chunk_id=hit.id,
            content=value("text", str),
            source_url=value("source_url", str),
            source_title=value("title", str),
            chunk_index=value("chunk_index", int),
            token_count=value("token_count", int),
            similarity_score=hit.score,
            embedded_at=value("embedded_at", str),
        )


@dataclass
class _Found:
    """What one search has come to so far."""

    states: list[State]
    hits: list[Hit] = field(default_factory=list)
    retries: int = 0


class _Session:
    """The connections of one or many searches, each opened when it is first needed."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._stack = ExitStack()
        self._policy = RetryPolicy(max=suite.retry.max, delay_s=suite.retry.delay_s, deadline_s=suite.retry.deadline_s)

    def close(self) -> None:
        """Close what was opened."""
        self._stack.close()

    @cached_property
    def embedder(self) -> Embedder:
        settings = self._suite.embedding
        embedder = open_embedder(
            provider=settings.provider,
            model=settings.model,
            base_url=settings.base_url,
            api_key=settings.api_key.get_secret_value() if settings.api_key else None,
            dimension=settings.dimension,
            timeout_s=self._suite.qdrant.timeout_s,
            policy=self._policy,
            search_path=self._suite.folder,
        )
        self._stack.callback(embedder.close)
        return embedder

    @cached_property
    def reader(self) -> CollectionReader:
        settings = self._suite.qdrant
        return CollectionReader(
            self._stack.enter_context(open_client(settings)),
            collection=settings.collection,
            place=place_of(settings),
            vector_name=settings.vector_name,
            equal=settings.filter,
            policy=self._policy,
        )

    @cached_property
    def production(self) -> ProductionSearcher:
        return production_searcher(self._suite)

    @cached_property
    def _higher_is_better(self) -> bool:
        if self._suite.retrieval.retriever is not None:
            return True
        vector = self.reader.facts().vector(self._suite.qdrant.vector_name)
        return vector is None or vector.higher_is_better

    def reaches(self, score: float, threshold: float) -> bool:
        """Whether a score is at least as good as the threshold; of distances the smaller is the better."""
        return score >= threshold - 1e-6 if self._higher_is_better else score <= threshold + 1e-6


def _check_settings(suite: Suite) -> None:
    if suite.retrieval.retriever is not None:
        load_search(suite.retrieval.retriever, search_path=suite.folder)
        return
    settings = suite.embedding
    check_configuration(
        provider=settings.provider,
        model=settings.model,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        dimension=settings.dimension,
        search_path=suite.folder,
    )


def _failed_in(state: State) -> State:
    return "EmbeddingError" if state == "EMBEDDING" else "SearchError"


def validate_query(text: str, top_k: int, score_threshold: float) -> SearchQuery:
    """The query, when it is one.

    Raises:
        ValidationError: Blank or too long a text, or top_k or threshold out of range.
    """
    if not isinstance(text, str) or not text.strip():
        raise ValidationError("the query text must not be empty")
    if len(text) > MAX_CHARACTERS:
        raise ValidationError(f"the query text has {len(text)} characters; at most {MAX_CHARACTERS} are allowed")
    if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= MAX_TOP_K:
        raise ValidationError(f"top_k must be a whole number from 1 to {MAX_TOP_K}, not {top_k}")
    if (
        isinstance(score_threshold, bool)
        or not isinstance(score_threshold, int | float)
        or not 0 <= score_threshold <= 1
    ):
        raise ValidationError(f"score_threshold must be from 0.0 to 1.0, not {score_threshold}")
    return SearchQuery(text=text, top_k=top_k, score_threshold=float(score_threshold))


def _failed(
    query: SearchQuery, states: list[State], failure: SystemFailure | NotMeasurableError, elapsed_ms: float
) -> RetrievalResponse:
    return RetrievalResponse(
        query=query.text,
        results=[],
        total_found=0,
        search_time_ms=elapsed_ms,
        status="error",
        message=str(failure),
        states=states,
        retries=getattr(failure, "attempts", 1) - 1,
    )


def _message(results: list[SearchResult], hits: list[Hit], query: SearchQuery) -> str:
    if results:
        return f"Found {len(results)} of {len(hits)} hits that reach {query.score_threshold:g}"
    if hits:
        return f"No hit reaches {query.score_threshold:g}: the best scores {hits[0].score:.4f}"
    return "The collection returned nothing"


def _ms(started: float) -> float:
    return 1000 * (time.perf_counter() - started)
