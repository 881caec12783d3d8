"""Asking the index every test query: embed, search, repeat, and look deeper until enough pages are seen.

What lives here: the calls and their times. What does not: judging the answers (``validation/retrieval``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.qdrant.facts import VectorFacts
from ragval_pipeline.sources.qdrant.reader import Hit, Reader
from ragval_pipeline.sources.searchers import IndexSearcher, RefusedTextError, Searcher

if TYPE_CHECKING:
    from ragval_pipeline.sources.embedders.base import Embedder

#: A deeper search fetches at most this many points: beyond it a ranking of pages is of no use.
MAX_DEPTH = 10_000


@dataclass(frozen=True)
class Question:
    """What is asked of the index.

    Args:
        query_id: Id of the test query.
        text: Its text.
        top_k: Hits asked for.
        pages: Distinct pages that the ranking must hold, 0 for none; the search is deepened until it does.
    """

    query_id: str
    text: str
    top_k: int
    pages: int = 0


@dataclass(frozen=True)
class Answer:
    """What the index answered.

    Args:
        query_id: Id of the test query.
        hits: The ``top_k`` hits of the first search, in the order the server gave them.
        deeper: Further hits, best first, fetched only to fill the ranking of pages.
        repeats: Hits of every further search for the same vector.
        embedding_ms: Milliseconds of embedding, this text's share of its batch.
        search_ms: Milliseconds of the first search, retries and waiting included.
        error: One line, when the search failed.
        asked_at: When the search began, UTC; None when it never did.
    """

    query_id: str
    hits: tuple[Hit, ...] = ()
    deeper: tuple[Hit, ...] = ()
    repeats: tuple[tuple[Hit, ...], ...] = ()
    embedding_ms: float | None = None
    search_ms: float | None = None
    error: str | None = None
    asked_at: datetime | None = None


@dataclass
class Answers:
    """All answers, and the failure that ended the asking early, if one did."""

    answers: list[Answer] = field(default_factory=list)
    failure: SystemFailure | None = None


def ask_all(
    questions: Sequence[Question],
    *,
    embedder: Embedder,
    reader: Reader,
    fields: Sequence[str],
    page_of: Callable[[Mapping[str, object]], str | None],
    vector: VectorFacts,
    input_type: Literal["search_query", "search_document"] = "search_query",
    exact: bool = False,
    repeats: int = 1,
    page_fields: Sequence[str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Answers:
    """``ask_with`` an embedder and a collection.

    Args:
        questions: What to ask.
        embedder: Embeds all texts in one go.
        reader: The collection.
        fields: Payload fields that come with a hit.
        page_of: Canonical page of a payload, or null.
        vector: Size and distance of the vectors searched.
        input_type: How queries are embedded.
        exact: Search exactly.
        repeats: Searches per question, the first included.
        page_fields: As in ``ask_with``.
        on_progress: As in ``ask_with``.

    Raises:
        SystemFailure: The embedder fails: then nothing is answered.
        NotMeasurableError: ``vector.dimension``: embedder and collection do not fit.
    """
    return ask_with(
        questions,
        searcher=IndexSearcher(embedder, reader, vector, input_type, exact),
        fields=fields,
        page_of=page_of,
        repeats=repeats,
        page_fields=page_fields,
        on_progress=on_progress,
    )


def ask_with(
    questions: Sequence[Question],
    *,
    searcher: Searcher,
    fields: Sequence[str],
    page_of: Callable[[Mapping[str, object]], str | None],
    repeats: int = 1,
    repeater: Searcher | None = None,
    page_fields: Sequence[str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Answers:
    """Ask every question once, repeat it for determinism, and deepen it where pages are wanted.

    Args:
        questions: What to ask.
        searcher: Finds hits.
        fields: Payload fields that come with a hit.
        page_of: Canonical page of a payload, or null.
        repeats: Searches per question, the first included.
        repeater: Finds the hits of repeats; null: ``searcher`` again.
        page_fields: Payload fields that ``page_of`` reads: all that comes with deeper hits; null: ``fields``.
        on_progress: Called with questions answered and questions to ask.

    Returns:
        An answer per question, an error for one that nothing can be searched with. When a system fails in between,
        the answers so far, an error for the rest, and the failure.

    Raises:
        SystemFailure: The embedder fails: then nothing is answered.
        NotMeasurableError: ``vector.dimension``: embedder and collection do not fit.
    """
    if not questions:
        return Answers()
    texts = [question.text for question in questions]
    share = searcher.prepare(texts)
    if repeater is not None and repeats > 1:
        repeater.prepare(texts)
    search = _Search(
        searcher, repeater or searcher, fields, fields if page_fields is None else page_fields, page_of, repeats
    )
    result = Answers()
    for number, question in enumerate(questions):
        answer, asked_at = None, None
        if result.failure is None:
            asked_at = datetime.now(UTC)
            try:
                answer = search.ask(question, share)
            except RefusedTextError as refused:
                answer = Answer(question.query_id, embedding_ms=share, error=str(refused))
            except SystemFailure as failure:
                result.failure = failure
        answer = answer or Answer(question.query_id, embedding_ms=share, error=str(result.failure))
        result.answers.append(replace(answer, asked_at=asked_at))
        if on_progress:
            on_progress(number + 1, len(questions))
    return result


@dataclass(frozen=True)
class _Search:
    """One way of searching, used for every question."""

    searcher: Searcher
    repeater: Searcher
    fields: Sequence[str]
    page_fields: Sequence[str]
    page_of: Callable[[Mapping[str, object]], str | None]
    repeats: int
    known: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def ask(self, question: Question, embedding_ms: float | None) -> Answer:
        started = time.perf_counter()
        found = self.searcher.search(question.text, limit=question.top_k, fields=self.fields)
        search_ms = 1000 * (time.perf_counter() - started)
        hits = self._sharing(found, "hits")
        again = tuple(
            tuple(self._sharing(self.repeater.search(question.text, limit=question.top_k, fields=()), "again"))
            for _ in range(self.repeats - 1)
        )
        deeper = self._deepen(question, hits)
        return Answer(question.query_id, tuple(hits), deeper, again, embedding_ms, search_ms)

    def _sharing(self, hits: Sequence[Hit], kind: str) -> list[Hit]:
        """The hits with the id and payload that all hits of their point share: few points answer many queries."""
        shared = []
        for hit in hits:
            known = self.known.setdefault((hit.id, kind), hit.payload)
            payload = known if known == hit.payload else hit.payload
            shared.append(replace(hit, id=sys.intern(hit.id), payload=payload))
        return shared

    def _deepen(self, question: Question, hits: list[Hit]) -> tuple[Hit, ...]:
        """Search further until the ranking holds enough pages or the collection ends."""
        seen = {hit.id for hit in hits}
        ranked, limit, found = list(hits), question.top_k, len(hits)
        while question.pages and found == limit < MAX_DEPTH and self._pages(ranked) < question.pages:
            limit = min(MAX_DEPTH, max(2 * limit, 4 * question.pages))
            more = self.searcher.search(question.text, limit=limit, fields=self.page_fields)
            found = len(more)
            # An approximate search may order its head differently when asked for more: the first answer stands.
            ranked.extend(self._sharing([hit for hit in more if hit.id not in seen], "deeper"))
            seen.update(hit.id for hit in more)
        return tuple(ranked[len(hits) :])

    def _pages(self, hits: Sequence[Hit]) -> int:
        # A hit without a page takes a rank of the ranking all the same.
        return len({self.page_of(hit.payload) or ("", hit.id) for hit in hits})
