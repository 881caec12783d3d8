"""Running every test query: embed, search, repeat, and search deeper until there are enough pages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.search.methods import Asked
from ragval_pipeline.sources.search.searchers import Searcher
from ragval_pipeline.sources.stores.qdrant.protocol import Equal, Found, Hit

#: Maximum points of a deeper search: beyond it a ranking of pages is useless.
MAX_DEPTH = 10_000


@dataclass(frozen=True)
class Question:
    """A query to the index.

    Attributes:
        query_id: Id of the test query.
        text: Its text.
        top_k: Hits requested.
        pages: Distinct pages that the ranking needs, 0 for none; the search goes deeper until it has them.
        equal: Payload values that hits must have; None: none beside the suite's.
    """

    query_id: str
    text: str
    top_k: int
    pages: int = 0
    equal: Equal | None = None


@dataclass(frozen=True)
class Answer:
    """The result of a query.

    Attributes:
        query_id: Id of the test query.
        hits: The ``top_k`` hits of the first search, in the order the server gave them.
        deeper: Further hits, best first, only for the ranking of pages.
        repeats: Hits of every further search for the same vector, without payload unless they are those of the first.
        embedding_ms: Milliseconds of embedding, this text's share of its batch; None without a vector.
        search_ms: Milliseconds of the first search, its share of the call, retries included.
        error: One line, if the search failed.
        asked_at: When that call began, UTC; None if it did not.
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
    """All answers, and the failure that ended the run of queries early, if any."""

    answers: list[Answer] = field(default_factory=list)
    failure: SystemFailure | None = None


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
    """Run every query once, again for determinism, and deeper if more pages are needed.

    Args:
        questions: The queries.
        searcher: Finds hits.
        fields: Payload fields that come with a hit.
        page_of: Canonical page of a payload, or None.
        repeats: Searches per question, the first included.
        repeater: Finds the hits of repeats; None: ``searcher`` again.
        page_fields: Payload fields that ``page_of`` reads, the only ones of deeper hits; None: ``fields``.
        on_progress: Called with queries done and in total; repeats count as parts.

    Returns:
        An answer per query, an error for one that cannot be searched for. If a system fails in between, the answers so
        far in query order, an error for the rest, and the failure.

    Raises:
        SystemFailure: The embedder fails: no query is answered.
        NotMeasurableError: ``vector.dimension``: embedder and collection do not fit.
    """
    if not questions:
        return Answers()
    texts = [question.text for question in questions]
    share = searcher.prepare(texts)
    if repeater is not None and repeats > 1:
        repeater.prepare(texts)
    asking = _Asking(questions, fields, fields if page_fields is None else page_fields, page_of, share, on_progress)
    asking.refuse(searcher)
    failure: SystemFailure | None = None
    try:
        asking.ask(searcher, rounds=repeats)
        for _ in range(repeats - 1):
            asking.repeat(repeater or searcher, rounds=repeats)
        asking.deepen(searcher)
    except SystemFailure as caught:
        failure = caught
    return Answers(asking.given(failure), failure)


class _Asking:
    """The state: all queries once, then again, then those that need more pages."""

    def __init__(
        self,
        questions: Sequence[Question],
        fields: Sequence[str],
        page_fields: Sequence[str],
        page_of: Callable[[Mapping[str, object]], str | None],
        embedding_ms: float | None,
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        self._questions = questions
        self._fields, self._page_fields, self._page_of = fields, page_fields, page_of
        self._embedding_ms, self._on_progress = embedding_ms, on_progress
        self._answers: dict[int, Answer] = {}
        self._open: list[int] = []
        self._done = 0
        self._known: dict[tuple[str, str], dict[str, Any]] = {}

    def refuse(self, searcher: Searcher) -> None:
        """Answer the queries that cannot be searched for; the others stay open."""
        for number, question in enumerate(self._questions):
            reason = searcher.refusal(question.text)
            if reason is None:
                self._open.append(number)
            else:
                now = datetime.now(UTC)
                refused = self._answer(number, error=reason, asked_at=now)
                self._answers[number] = replace(refused, embedding_ms=None)

    def ask(self, searcher: Searcher, *, rounds: int) -> None:
        """The first search of each open query."""
        for number, found in self._found(searcher, self._fields, rounds):
            hits = tuple(self._sharing(found.hits, "hits"))
            self._answers[number] = self._answer(
                number, hits=hits, search_ms=found.milliseconds, asked_at=found.asked_at
            )

    def repeat(self, searcher: Searcher, *, rounds: int) -> None:
        """One more search of each open query, without payload."""
        for number, found in self._found(searcher, (), rounds):
            answer = self._answers[number]
            same = _ranking(found.hits) == _ranking(answer.hits)
            again = answer.hits if same else tuple(self._sharing(found.hits, "again"))
            self._answers[number] = replace(answer, repeats=(*answer.repeats, again))

    def deepen(self, searcher: Searcher) -> None:
        """Search further until each ranking holds enough pages, the collection ends or Qdrant allows no more."""
        deepest = MAX_DEPTH
        limits = {number: self._questions[number].top_k for number in self._open}
        returned = {number: len(self._answers[number].hits) for number in self._open}
        while wanting := [
            number for number in self._open if self._wants_more(number, limits[number], returned[number], deepest)
        ]:
            searches = [
                Asked(question.text, min(deepest, max(2 * limits[number], 4 * question.pages)), question.equal)
                for number in wanting
                for question in [self._questions[number]]
            ]
            answers = searcher.search_all(searches, fields=self._page_fields)
            try:
                for number, one, found in zip(wanting, searches, answers, strict=True):
                    limits[number], returned[number] = one.limit, len(found.hits)
                    self._add_deeper(number, found.hits)
            except SystemFailure as failure:
                if failure.most_hits is None:
                    raise
                deepest = failure.most_hits

    def _add_deeper(self, number: int, hits: Sequence[Hit]) -> None:
        answer = self._answers[number]
        # An approximate search may order its head differently when asked for more: the first answer stands.
        seen = {hit.id for hit in (*answer.hits, *answer.deeper)}
        more = self._sharing([hit for hit in hits if hit.id not in seen], "deeper")
        self._answers[number] = replace(answer, deeper=(*answer.deeper, *more))

    def given(self, failure: SystemFailure | None) -> list[Answer]:
        """An answer to each query, or the failure."""
        return [
            self._answers.get(number) or self._answer(number, error=str(failure))
            for number in range(len(self._questions))
        ]

    def _answer(self, number: int, **known: Any) -> Answer:
        return Answer(self._questions[number].query_id, embedding_ms=self._embedding_ms, **known)

    def _found(self, searcher: Searcher, fields: Sequence[str], rounds: int) -> Iterator[tuple[int, Found]]:
        questions = (self._questions[number] for number in self._open)
        asked = [Asked(question.text, question.top_k, question.equal) for question in questions]
        refused, total = len(self._questions) - len(self._open), len(self._questions)
        for number, found in zip(self._open, searcher.search_all(asked, fields=fields), strict=True):
            yield number, found
            self._done += 1
            if self._on_progress and self._done % rounds == 0:
                self._on_progress(refused + self._done // rounds, total)

    def _sharing(self, hits: Sequence[Hit], kind: str) -> list[Hit]:
        """The hits with id and payload shared between hits of a point: few points answer many queries."""
        shared = []
        for hit in hits:
            known = self._known.setdefault((hit.id, kind), hit.payload)
            payload = known if known == hit.payload else hit.payload
            shared.append(replace(hit, id=sys.intern(hit.id), payload=payload))
        return shared

    def _wants_more(self, number: int, limit: int, returned: int, deepest: int) -> bool:
        question, answer = self._questions[number], self._answers[number]
        if not question.pages or not returned == limit < deepest:
            return False
        # A hit without a page still takes a rank.
        ranked = (*answer.hits, *answer.deeper)
        return len({self._page_of(hit.payload) or ("", hit.id) for hit in ranked}) < question.pages


def _ranking(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in hits]
