"""Embedders behind an API: batched calls with the one retry policy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragval_pipeline.errors import BudgetReachedError, SuiteError, SystemFailure
from ragval_pipeline.sources.calls import Attempts, Verdict, call_with_retries
from ragval_pipeline.sources.embedders.base import BatchingEmbedder, EmbeddingBatch, InputType, check_batch
from ragval_pipeline.sources.embedders.budget import Budget
from ragval_pipeline.sources.embedders.failures import Endpoint, Fault, details_of, failure_of, verdict_of
from ragval_pipeline.sources.embedders.models import (
    Maker,
    known_dimension,
    known_limit,
    takes_output_dimension,
)
from ragval_pipeline.suite.providers import PROVIDERS
from ragval_pipeline.suite.sections import RetrySettings

#: Dummy key that SDKs require for a server without keys.
NO_KEY = "none"


@dataclass(frozen=True)
class Answer:
    """The result of a call.

    ``vectors`` are sequences of numbers, one per text, and not checked yet. ``billed_tokens`` is None if not reported.
    """

    vectors: Any
    billed_tokens: float | None


class RemoteClient:
    """Calls an API. A provider defines its attributes, ``_make_client`` and ``_expected``.

    Args:
        model: Name of the model; unknown names are passed on.
        api_key: Must not be blank, unless servers at the ``base_url`` may be ``keyless``.
        base_url: None: the environment variable ``address_variable``, else the provider's own.
        timeout_s: Seconds that one try may take to connect, and to send or receive the next bytes.
        policy: Retries.
        sleep: For tests.

    Attributes:
        provider: As the suite names it.
        title: Display name.
        host: The provider's own.
        address_variable: The SDK's environment variable for another address; None: it has none.
        keyless: Whether servers at a ``base_url`` may need no key.

    Raises:
        SuiteError: The key is blank or cannot be sent.
    """

    #: The run's budget; None: unlimited.
    budget: Budget | None = None
    provider: Maker
    title: str
    host: str
    address_variable: str | None = None
    keyless: bool = False

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None,
        base_url: str | None = None,
        timeout_s: float = 30.0,
        policy: RetrySettings | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        where = base_url or (os.environ.get(self.address_variable) if self.address_variable else None) or None
        optional = self.keyless and where is not None and not (api_key or "").strip()
        key = NO_KEY if optional else usable_key(self.provider, api_key)
        self.model = model
        self._endpoint = Endpoint(where, model, key, self.provider, self.title, self.host)
        self._timeout_s = timeout_s
        self._policy = policy or RetrySettings()
        self._sleep = sleep

    def close(self) -> None:
        """Close the SDK's connections; the next call opens new ones."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            self._close_client(client)

    @cached_property
    def _client(self) -> Any:
        return self._make_client()

    def _make_client(self) -> Any:
        raise NotImplementedError

    def _close_client(self, client: Any) -> None:
        client.close()

    def _expected(self) -> tuple[type[Exception], ...]:
        """The SDK's exceptions for failures of the provider."""
        raise NotImplementedError

    def _fault(self, error: BaseException) -> Fault | None:
        """An SDK's exception in the common form; None if it is not the SDK's."""
        return fault_of(error) if isinstance(error, self._expected()) else None

    def _made(self, call: Callable[[], Answer], texts: Sequence[str], attempts: Attempts, spent: list[float]) -> Answer:
        """The answer of a call, with retries and within the budget.

        Args:
            call: Makes the call.
            texts: Those that the provider bills by their tokens.
            attempts: Counts the tries.
            spent: The seconds of all tries are added to its only entry.
        """

        def timed() -> Answer:
            entry = self.budget.begin(texts, self.model) if self.budget else None
            started, billed = time.perf_counter(), None
            try:
                answer = call()
                billed = answer.billed_tokens
                return answer
            except Exception as error:
                fault = self._fault(error)
                billed = 0 if fault is not None and fault.status is not None else None  # refused: nothing is billed
                raise
            finally:
                spent[0] += time.perf_counter() - started
                if self.budget and entry:
                    self.budget.end(entry, billed)

        return self._with_retries(timed, attempts)

    def _named(self, failure: SystemFailure, tries: int) -> SystemFailure:
        """The failure with the provider and its host."""
        name = self._endpoint.name
        return SystemFailure(
            failure.problem if name in failure.problem else f"{name}: {failure.problem}",
            code=failure.code,
            system=failure.system,
            subject=failure.subject,
            remedy=failure.remedy,
            attempts=tries,
            details={**details_of(self._endpoint, 200), **failure.details},
            cause=failure.cause,
        )

    def _with_retries(self, call: Callable[[], Answer], attempts: Attempts) -> Answer:
        def classify(error: BaseException) -> Verdict:
            return verdict_of(error, self._fault(error))

        try:
            return call_with_retries(call, policy=self._policy, classify=classify, attempts=attempts, sleep=self._sleep)
        except self._expected() as error:
            failure = failure_of(error, self._fault(error) or Fault(), self._endpoint, attempts=attempts.tries)
        # Raised here, outside the handler, so that the SDK's exception is not its context: a printed traceback would
        # show response headers, and an HTTP library's message for a bad header would show the key.
        raise failure


class RemoteEmbedder(RemoteClient, BatchingEmbedder):
    """Embeds through an API. A provider defines what ``RemoteClient`` needs, and ``_post``.

    APIs refuse blank texts: leave them out.

    Args:
        model: Name of the model; unknown names are passed on.
        api_key: Must not be blank, unless servers at the ``base_url`` may be ``keyless``.
        base_url: None: the environment variable ``address_variable``, else the provider's own.
        dimension: Length to request if the model allows it, and to check the result against.
        timeout_s: Seconds that one try may take to connect, and to send or receive the next bytes.
        policy: Retries.
        cut_queries: Let the API truncate queries that exceed the model's limit, if it can.
        sleep: For tests.

    Attributes:
        can_cut: Whether the API can truncate texts that are too long.

    Raises:
        SuiteError: The key is blank or cannot be sent.
    """

    free = False
    can_cut: bool = False

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None,
        base_url: str | None = None,
        dimension: int | None = None,
        timeout_s: float = 30.0,
        policy: RetrySettings | None = None,
        cut_queries: bool = False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(
            model=model, api_key=api_key, base_url=base_url, timeout_s=timeout_s, policy=policy, sleep=sleep
        )
        self.dimension = dimension or known_dimension(model)
        self.max_input_tokens = known_limit(model)
        self._asked_dimension = dimension if takes_output_dimension(model) else None
        self._cut_queries = cut_queries and self.can_cut

    @property
    def query_limit(self) -> int | None:
        """Tokens above which the API refuses a query; None: none, or unknown."""
        return None if self._cut_queries else self.max_input_tokens

    def _cuts(self, input_type: InputType) -> bool:
        """Whether the API shall truncate texts that are too long.

        Documents are truncated at their end, as during ingestion: re-embedding must give the same vector. A query that
        the model would read only in part is an error, unless production is known to truncate it: its score would judge
        another question than the one written.
        """
        return self._cut_queries or input_type == "search_document"

    def _post(self, texts: list[str], input_type: InputType) -> Answer:
        """Make one call."""
        raise NotImplementedError

    def _embed_slice(self, texts: list[str], input_type: InputType) -> EmbeddingBatch:
        attempts, spent = Attempts(), [0.0]
        try:
            answer = self._made(lambda: self._post(texts, input_type), texts, attempts, spent)
            vectors = check_batch(answer.vectors, len(texts), self.dimension)
        except BudgetReachedError as stop:
            stop.tries = attempts.tries - 1  # the last was not made
            raise
        except SystemFailure as failure:
            # The code that finds a response with status 200 to be without embeddings does not know the call.
            raise self._named(failure, attempts.tries) from None
        self.dimension = vectors.shape[1]
        return EmbeddingBatch(
            vectors=vectors,
            calls=1,
            inputs=len(texts),
            billed_tokens=answer.billed_tokens,
            tries=attempts.tries,
            waited_s=attempts.waited_s,
            elapsed_s=spent[0],
        )


def usable_key(provider: str, api_key: str | None, *, key: str = "embedding.api_key") -> str:
    """The key of a provider, which the suite names under ``key``, stripped.

    Raises:
        SuiteError: It is empty, or has characters that are not allowed in HTTP headers.
    """
    text = (api_key or "").strip()
    if not text:
        raise SuiteError(
            f"provider {provider} needs a key, but none is set",
            key=key,
            # The provider may be the default of a suite that does not say what embedded its index.
            remedy=f"Set the environment variable {PROVIDERS[provider].variable}, or embedding.provider to what "
            "embedded the index.",
        )
    if not text.isascii() or not text.isprintable() or " " in text:
        raise SuiteError(
            "the key contains spaces, line breaks or non-ASCII characters",
            key=key,
            remedy="Copy it again, on one line.",
        )
    return text


def fault_of(error: BaseException) -> Fault:
    """An SDK's exception in the common form."""
    status, words, headers = (getattr(error, name, None) for name in ("status_code", "body", "headers"))
    return Fault(status=status, words=words, headers=headers)


def token_count(told: Any) -> float | None:
    """A token count in an answer; None if there is none."""
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None
