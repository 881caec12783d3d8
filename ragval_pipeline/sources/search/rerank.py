"""``retrieval.rerank``: the first hits of a search, in the order of a model that reads question and text together."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.lazy import np
from ragval_pipeline.rules.embedder.unreachable import RULE as UNREACHABLE
from ragval_pipeline.sources.calls import Attempts
from ragval_pipeline.sources.embedders.base import malformed
from ragval_pipeline.sources.embedders.cohere import CohereApi
from ragval_pipeline.sources.embedders.opening import check_base_url
from ragval_pipeline.sources.embedders.remote import Answer, token_count, usable_key
from ragval_pipeline.sources.embedders.store import VectorStore, store_at
from ragval_pipeline.sources.own_code import call_guarded, load_attribute
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.stores.qdrant.protocol import Found

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.embedders.budget import Budget
    from ragval_pipeline.sources.search.methods import Asked
    from ragval_pipeline.sources.search.searchers import Searcher
    from ragval_pipeline.suite.model import Suite

KEY = "retrieval.rerank"


@dataclass
class RerankCost:
    """What reranking cost.

    Attributes:
        calls: Calls to the provider, retries and failed ones included.
        searches: Searches billed, as the provider reports them; None if it reports none.
        cache_hits: Questions whose scores were known.
    """

    calls: int = 0
    searches: float | None = None
    cache_hits: int = 0


class Reranker(Protocol):
    """Scores texts by a question."""

    cost: RerankCost

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """A finite score for each text, higher is better.

        Raises:
            SystemFailure: The model fails.
        """

    def close(self) -> None:
        """Close its connections."""


class CohereReranker(CohereApi):
    """Scores texts through Cohere's API, version 2, with the retries, timeouts and budget of its embedder.

    Args:
        store: Scores by question and texts; None: a new dict.
        settings: As ``RemoteClient``.
    """

    def __init__(self, *, store: MutableMapping[str, NDArray[np.float32]] | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.cost = RerankCost()
        self._store: MutableMapping[str, NDArray[np.float32]] = {} if store is None else store

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """A score from 0 to 1 for each text; the same question about the same texts is sent once.

        Raises:
            SystemFailure: The provider fails, or answers in another shape.
            BudgetReachedError: The run's budget allows no further call.
        """
        told = json.dumps(["rerank", self.model, question, list(texts)])
        key = hashlib.sha256(told.encode("ascii")).hexdigest()
        if key in self._store:
            self.cost.cache_hits += 1
            return [float(score) for score in self._store[key]]
        attempts = Attempts()
        try:
            answer = self._made(lambda: self._post_texts(question, list(texts)), (), attempts, [0.0])
            scores = _checked(answer.vectors, len(texts))
        except SystemFailure as failure:
            named = self._named(failure, attempts.tries)
            raise SystemFailure(
                named.problem,
                code=named.code,
                system="reranker",
                subject=named.subject,
                # The provider's remedies name the keys of ``embedding``, which has the same.
                remedy=named.remedy.replace("embedding.", f"{KEY}."),
                attempts=named.attempts,
                details=named.details,
            ) from None
        finally:
            self.cost.calls += attempts.tries
        self._store[key] = np.array(scores, dtype=np.float32)
        return scores

    def close(self) -> None:
        """Close the connections, and keep the scores for later runs."""
        super().close()
        if isinstance(self._store, VectorStore):
            self._store.save()

    def _post_texts(self, question: str, texts: list[str]) -> Answer:
        try:
            response = self._client.rerank(
                model=self.model, query=question, documents=texts, request_options={"max_retries": 0}
            )
        except (TypeError, RecursionError) as error:  # raised by the SDK for unexpected JSON
            raise malformed("the SDK cannot read the answer") from error
        billed = getattr(getattr(response, "meta", None), "billed_units", None)
        units = token_count(getattr(billed, "search_units", None))
        if units is not None:
            self.cost.searches = (self.cost.searches or 0.0) + units
        results = getattr(response, "results", None)
        if not isinstance(results, list):
            raise malformed("the answer has no results")
        scores = {getattr(each, "index", None): getattr(each, "relevance_score", None) for each in results}
        return Answer([scores.get(number) for number in range(len(texts))], None)


class OwnReranker:
    """Calls the user's function ``(question, texts) -> scores``, one for each text.

    Raises:
        SuiteError: There is no such function.
    """

    def __init__(self, spec: str, search_path: Path | None) -> None:
        self.cost = RerankCost()
        self._spec = spec
        self._function: Any = load_attribute(spec, key=KEY, search_path=search_path)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """The function's scores.

        Raises:
            SystemFailure: It raised, or its result is malformed.
        """

        def failure(problem: str) -> SystemFailure:
            return SystemFailure(
                f"{self._spec} raised {problem}",
                code=UNREACHABLE.code,
                system="reranker",
                subject=self._spec,
                remedy=f"Correct the function that {KEY} names.",
            )

        given = call_guarded(lambda: list(self._function(question, list(texts))), failure)
        return _checked(given, len(texts))

    def close(self) -> None:
        """Nothing to close."""


def _checked(scores: Sequence[Any], count: int) -> list[float]:
    try:
        found = [float(score) for score in scores]
    except (TypeError, ValueError) as error:
        raise malformed("a text has no score") from error
    if len(found) != count or not all(map(math.isfinite, found)):
        raise malformed(f"there are {len(found)} scores for {count} texts, or one is not finite")
    return found


@dataclass
class RerankedSearcher:
    """Another searcher's first hits, in a reranker's order.

    Attributes:
        inner: Finds the hits.
        reranker: Scores their texts.
        top_n: Hits that are scored; no others are returned.
        text: Payload field of their texts.
    """

    inner: Searcher
    reranker: Reranker
    top_n: int
    text: str

    def prepare(self, texts: Sequence[str]) -> float | None:
        """As the inner searcher."""
        return self.inner.prepare(texts)

    def refusal(self, text: str) -> str | None:
        """As the inner searcher."""
        return self.inner.refusal(text)

    def search_all(self, asked: Sequence[Asked], *, fields: Sequence[str]) -> Iterator[Found]:
        """The hits of each text: those without a text of their own come last, in the inner searcher's order."""
        candidates = [each._replace(limit=self.top_n) for each in asked]
        answers = self.inner.search_all(candidates, fields=list(dict.fromkeys([*fields, self.text])))
        for each, one in zip(asked, answers, strict=True):
            started = time.perf_counter()
            texts = [lookup(hit.payload, self.text)[1] for hit in one.hits]
            readable = [place for place, text in enumerate(texts) if isinstance(text, str) and text.strip()]
            scores = self.reranker.scores(each.text, [texts[place] for place in readable]) if readable else []
            by_place = dict(zip(readable, scores, strict=True))
            order = sorted(range(len(texts)), key=lambda place: (-by_place.get(place, -math.inf), place))
            worst = min(scores, default=0.0)
            hits = [
                replace(one.hits[place], rank=rank, score=by_place.get(place, worst))
                for rank, place in enumerate(order[: each.limit], 1)
            ]
            yield Found(hits, one.milliseconds + 1000 * (time.perf_counter() - started), one.asked_at)


def open_reranker(suite: Suite, *, budget: Budget | None = None, keep: bool = False) -> Reranker:
    """The reranker of a resolved suite; nothing is sent yet. Close it after use.

    ``keep``: whether to use scores of earlier runs and keep new ones, on ``report_uri``.

    Raises:
        SuiteError: As ``check_suite_reranker``.
    """
    from ragval_pipeline.sources.history import history_folder

    settings = suite.retrieval.rerank
    assert settings is not None
    if isinstance(settings, str):
        return OwnReranker(settings, suite.folder)
    base = history_folder(suite.report_uri, suite.suite) if keep else None
    reranker = CohereReranker(
        model=settings.model,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        base_url=settings.base_url,
        timeout_s=suite.qdrant.timeout_s,
        policy=suite.retry,
        store=store_at(base, provider="cohere", base_url=settings.base_url, kind="rerank") if base else None,
    )
    reranker.budget = budget
    return reranker


def check_suite_reranker(suite: Suite) -> None:
    """Check ``retrieval.rerank`` of a resolved suite before any network call.

    Raises:
        SuiteError: No key, no URL, or no such function.
    """
    settings = suite.retrieval.rerank
    if isinstance(settings, str):
        load_attribute(settings, key=KEY, search_path=suite.folder)
    elif settings is not None:
        check_base_url(settings.base_url)
        usable_key("cohere", settings.api_key.get_secret_value() if settings.api_key else None, key=f"{KEY}.api_key")
