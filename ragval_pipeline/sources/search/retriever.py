"""``Retriever``: a single search as in your assistant, with the entities of ``retrieval-pipeline``."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import TracebackType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.sources.embedders.base import Embedder
from ragval_pipeline.sources.embedders.opening import check_suite_embedder, open_suite_embedder
from ragval_pipeline.sources.embedders.reembedding import ZeroVectorError, with_coding
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.search.methods import Asked, Method, method_of
from ragval_pipeline.sources.search.production import ProductionSearcher, check_suite_search, production_searcher
from ragval_pipeline.sources.snapshot.embedded import embedded_of, fields_read, template_of
from ragval_pipeline.sources.stores.opening import opened_reader
from ragval_pipeline.sources.stores.qdrant.coding import LEARNT_FROM, Coding
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts
from ragval_pipeline.sources.stores.qdrant.protocol import Hit, Reader
from ragval_pipeline.suite.load import as_suite, resolve_suite
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.profiles.table import MAX_TOP_K
from ragval_pipeline.suite.profiles.table import PIPELINE_MAX_CHARACTERS as MAX_CHARACTERS
from ragval_pipeline.suite.scores import are_of_vectors, reaches
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.text.printing import plural
from ragval_pipeline.text.times import as_time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

State = Literal["VALIDATING", "EMBEDDING", "SEARCHING", "FORMATTING", "COMPLETE", "EmbeddingError", "SearchError"]


class ValidationError(ValueError):
    """The query is invalid; raised before any call."""


class SearchQuery(BaseModel):
    """A query: text of 1 to 8000 characters, number of hits, threshold 0 to 1."""

    model_config = ConfigDict(frozen=True)

    text: str
    top_k: int
    score_threshold: float


class SearchResult(BaseModel):
    """One hit (profile ``retrieval-pipeline``). Fields missing from the payload are None."""

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

    Attributes:
        query: The text that was searched for.
        results: Hits at or above the threshold, best first.
        total_found: Number of results.
        search_time_ms: Milliseconds of connecting, embedding and searching, retries and waiting included.
        status: ``success``, ``no_matches`` if no hit reaches the threshold, ``error`` if a system failed.
        message: One readable line, without secrets.
        states: The states passed through; the last is the failed one or ``COMPLETE``.
        retries: Number of retried calls.
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
    """Check a caller's input against the profile's rules; None values come from the suite, which has its own rules.

    Raises:
        ValidationError: A text that is too long, or only whitespace and invisible characters; top_k or threshold out of
            range.
    """
    if not isinstance(text, str) or is_blank(text):
        raise ValidationError("the query text must not be empty")
    if len(text) > MAX_CHARACTERS:
        raise ValidationError(f"the query text has {len(text)} characters; at most {MAX_CHARACTERS} are allowed")
    if top_k is not None and not (_is_number(top_k, int) and 1 <= top_k <= MAX_TOP_K):
        raise ValidationError(f"top_k must be a whole number from 1 to {MAX_TOP_K}, not {top_k!r}")
    if score_threshold is not None and not (_is_number(score_threshold, int | float) and 0 <= score_threshold <= 1):
        raise ValidationError(f"score_threshold must be from 0.0 to 1.0, not {score_threshold!r}")


def _is_number(value: object, kind: type | UnionType) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


class Retriever:
    """Searches the collection of a suite with the suite's embedder, or through the search that the suite names.

    Used in a ``with``, it keeps its connections open; otherwise each search opens and closes its own.

    Args:
        suite: Path of the suite file, or the suite as ``load_suite`` reads it; placeholders are read now.

    Raises:
        SuiteError: The suite, the environment or the embedder's settings are wrong.
    """

    def __init__(self, suite: Suite | str | Path) -> None:
        self._suite = resolve_suite(as_suite(suite))
        if self._suite.retrieval.retriever is None:
            check_suite_embedder(self._suite)
        else:
            check_suite_search(self._suite)
        self._session: Session | None = None

    def __enter__(self) -> Self:
        self._session = Session(self._suite)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def search(self, text: str, top_k: int | None = None, score_threshold: float | None = None) -> RetrievalResponse:
        """Search for one text.

        Args:
            text: 1 to 8000 characters, not blank.
            top_k: 1 to 50; None: the suite's ``retrieval.top_k``.
            score_threshold: 0 to 1; None: the suite's ``retrieval.min_similarity``.

        Returns:
            The response; a system that fails gives status ``error``, never an empty success.

        Raises:
            ValidationError: The input is wrong; nothing was called.
        """
        return self._answer(text, top_k, score_threshold)

    def nearest(self, text: str, top_k: int | None = None) -> RetrievalResponse:
        """Search for one text and keep every hit, whatever its score; otherwise like ``search``.

        The message says how many hits reach the suite's ``retrieval.min_similarity``.
        """
        return self._answer(text, top_k, None, whatever=True)

    def _answer(
        self, text: str, top_k: int | None, threshold: float | None, *, whatever: bool = False
    ) -> RetrievalResponse:
        validate_query(text, top_k, threshold)
        settings = self._suite.retrieval
        query = SearchQuery(
            text=text,
            # The suite's own may be above 50, which is the profile's limit for a caller and for its suites.
            top_k=settings.top_k if top_k is None else top_k,
            score_threshold=settings.min_similarity if threshold is None else threshold,
        )
        if self._session is not None:
            return self._search(query, self._session, whatever=whatever)
        with closing(Session(self._suite)) as session:
            return self._search(query, session, whatever=whatever)

    def _search(self, query: SearchQuery, session: Session, *, whatever: bool) -> RetrievalResponse:
        started = time.perf_counter()
        found = _Found(["VALIDATING"])
        try:
            if self._suite.retrieval.retriever is None:
                self._search_collection(query, session, found)
            else:
                found.states.append("SEARCHING")
                found.hits = session.production.search(query.text, limit=query.top_k)
            elapsed_ms = _ms(started)
            reaching = [hit for hit in found.hits if session.reaches(hit.score, query.score_threshold)]
            side = "below" if found.hits and not session.higher_is_better else "above"
        except (SystemFailure, NotMeasurableError) as failure:
            states: list[State] = [
                *found.states,
                "EmbeddingError" if found.states[-1] == "EMBEDDING" else "SearchError",
            ]
            return _failed(query, states, failure, _ms(started))
        results = [self._format(hit) for hit in (found.hits if whatever else reaching)]
        return RetrievalResponse(
            query=query.text,
            results=results,
            total_found=len(results),
            search_time_ms=elapsed_ms,
            status="success" if results else "no_matches",
            message=(
                f"{plural(len(results), 'hit')}; {len(reaching)} of them at or {side} retrieval.min_similarity "
                f"({query.score_threshold:g})"
                if whatever and results
                else _message(len(results), found.hits, query)
            ),
            states=[*found.states, "FORMATTING", "COMPLETE"],
            retries=found.retries,
        )

    def _search_collection(self, query: SearchQuery, session: Session, found: _Found) -> None:
        vector = None
        if Method(self._suite.retrieval.mode).embeds:
            found.states.append("EMBEDDING")
            batch = session.embedder.embed([query.text], input_type=self._suite.embedding.query_input_type)
            found.retries = max(batch.tries - batch.calls, 0)
            vector = batch.vectors[0]
            if not vector.any():
                raise ZeroVectorError(session.embedder)
        found.states.append("SEARCHING")
        if vector is not None:
            vector = session.as_stored(vector)
        method = session.method
        before = session.reader.attempts.tries
        fields = list(dict.fromkeys(self._suite.payload.fields.values()))
        found.hits = method.search(session.reader, Asked(query.text, query.top_k), vector, fields=fields)
        found.retries += max(session.reader.attempts.tries - before - 1, 0)

    def _format(self, hit: Hit) -> SearchResult:
        def value(name: str, kind: type | UnionType) -> Any:
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
            embedded_at=as_time(value("embedded_at", str | int | float)),
        )


@dataclass
class _Found:
    """The state of one search."""

    states: list[State]
    hits: list[Hit] = field(default_factory=list)
    retries: int = 0


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


def _message(found: int, hits: list[Hit], query: SearchQuery) -> str:
    if found:
        asked = plural(len(hits), "hit")
        return f"Found {plural(found, 'result')}: {found} of {asked} reach {query.score_threshold:g}"
    if hits:
        return f"No hit reaches {query.score_threshold:g}: the best scores {hits[0].score:.4f}"
    return "The collection returned nothing"


def _ms(started: float) -> float:
    return 1000 * (time.perf_counter() - started)


class Session:
    """The connections for a resolved suite's searches; one that cannot be opened raises ``SystemFailure``."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._stack = ExitStack()

    def close(self) -> None:
        """Close what was opened."""
        self._stack.close()

    @cached_property
    def embedder(self) -> Embedder:
        """The suite's embedder."""
        embedder = open_suite_embedder(self._suite)
        self._stack.callback(embedder.close)
        return embedder

    @cached_property
    def reader(self) -> Reader:
        """The suite's collection."""
        return self._stack.enter_context(opened_reader(self._suite.qdrant, policy=self._suite.retry))

    @cached_property
    def method(self) -> Method:
        """How the suite searches.

        Raises:
            SuiteError: The collection cannot be searched so.
        """
        mode = self._suite.retrieval.mode
        # A search by dense vectors needs no facts about the collection.
        facts = CollectionFacts(name="", points_count=0) if mode == "dense" else self.reader.facts()
        return method_of(self._suite, mode, facts, self.reader)

    @cached_property
    def production(self) -> ProductionSearcher:
        """The user's own search, if the suite names one."""
        return production_searcher(self._suite)

    @cached_property
    def higher_is_better(self) -> bool:
        """Whether larger scores are better, as with cosine but not with distances."""
        if not are_of_vectors(self._suite.retrieval.mode, self._suite.retrieval.retriever):
            return True
        return self._vector is None or self._vector.higher_is_better

    def as_stored(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """An embedded question in the numbers of the collection.

        Raises:
            SystemFailure: Qdrant or the embedder fails.
            NotMeasurableError: The embedder has another dimension than the collection.
        """
        return vector if self._coding is None else self._coding.coded(vector[None])[0]

    @cached_property
    def _coding(self) -> Coding | None:
        """Learnt from the first points of the collection that have a text."""
        if self._vector is None or not self._vector.coded:
            return None
        payload, template = self._suite.payload, template_of(self._suite.payload)
        path = payload.fields.get("text")
        fields = list(dict.fromkeys([*payload.fields.values(), *fields_read(payload.flavour, template)]))
        texts: dict[str, str] = {}
        for page in self.reader.pages(fields):
            told = {point.id: embedded_of(point.payload, path, payload.flavour, template) for point in page}
            texts |= {name: text for name, text in told.items() if not is_blank(text)}
            if len(texts) >= LEARNT_FROM:
                break
        return with_coding(self._vector, self.reader, dict(islice(texts.items(), LEARNT_FROM)), self.embedder).coding

    @cached_property
    def _vector(self) -> VectorFacts | None:
        return self.reader.facts().vector(self._suite.qdrant.vector_name)

    def reaches(self, score: float, threshold: float) -> bool:
        """Whether a score is at least as good as the threshold; smaller is better for distances.

        Infinity and NaN, which a custom search may return, never reach it.
        """
        return math.isfinite(score) and reaches(score, threshold, higher=self.higher_is_better)
