"""Provider ``cohere``: the real ``cohere.ClientV2``, in batches, under the one retry policy.

What lives here: making calls. What does not: what a failed call means (``cohere_errors``). The SDK does not split
batches, and would retry by itself; its retries are off, so that the policy, its deadline and the count of tries hold.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.embedders.base import (
    EmbeddingBatch,
    InputType,
    check_batch,
    malformed,
    no_vectors,
)
from ragval_pipeline.sources.embedders.batches import BATCH, in_calls, joined
from ragval_pipeline.sources.embedders.cohere_errors import (
    Endpoint,
    classify,
    details_of,
    expected_errors,
    failure_of,
)
from ragval_pipeline.sources.embedders.configuration import usable_key
from ragval_pipeline.sources.embedders.models import (
    known_dimension,
    known_limit,
    takes_output_dimension,
)
from ragval_pipeline.sources.retry import Attempts, RetryPolicy, call_with_retries
from ragval_pipeline.text.characters import encodable

if TYPE_CHECKING:
    import cohere

Truncate = Literal["NONE", "START", "END"]


class CohereEmbedder:
    """Embeds through Cohere's API, version 2.

    Args:
        model: Name of the model; one that the table does not know is passed on as it is.
        api_key: Must not be blank.
        base_url: None: the environment variable ``CO_API_URL`` as the SDK has it, else Cohere's own.
        dimension: Length to ask for where the model lets one choose, and to hold the answer against.
        timeout_s: Seconds that one try may take to connect, and to send or receive the next bytes.
        policy: When to try again.
        truncate_query: ``NONE``: a query that the model would read only in part is an error, because its score would
            judge another question than the one that is written down.
        truncate_document: ``END``, the API's default and so what ingestion does: the stored vector was made from the
            part of the chunk that the model read, and re-embedding must make the same.
        sleep: Seam for tests.

    Raises:
        SuiteError: The key is blank or cannot be sent.
    """

    provider = "cohere"
    free = False
    batch_size = BATCH

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None,
        base_url: str | None = None,
        dimension: int | None = None,
        timeout_s: float = 30.0,
        policy: RetryPolicy | None = None,
        truncate_query: Truncate = "NONE",
        truncate_document: Truncate = "END",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = model
        self.dimension = dimension or known_dimension(model)
        self.max_input_tokens = known_limit(model)
        self._output_dimension = dimension if takes_output_dimension(model) else None
        # The SDK reads CO_API_URL too, but only while it is imported, and a message could not name the host.
        where = base_url or os.environ.get("CO_API_URL") or None
        self._endpoint = Endpoint(where, model, usable_key(api_key))
        self._timeout_s = timeout_s
        self._policy = policy or RetryPolicy()
        self._truncate: dict[InputType, Truncate] = {
            "search_query": truncate_query,
            "search_document": truncate_document,
        }
        self._sleep = sleep

    @property
    def query_limit(self) -> int | None:
        """Tokens of a query above which the API refuses it; None: it refuses none."""
        return self.max_input_tokens if self._truncate["search_query"] == "NONE" else None

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        """Embed ``texts``, 96 a call. The API refuses blank texts: leave them out.

        Raises:
            SystemFailure: ``embedder.unreachable``, with the status, the tries and the remedy.
        """
        if not texts:
            return no_vectors(self.dimension)
        clean = [encodable(text) for text in texts]
        return joined([self._embed_slice(part, input_type) for part in in_calls(clean, BATCH)])

    def close(self) -> None:
        """Close the SDK's connections; the next call would open new ones."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.__exit__(None, None, None)

    @cached_property
    def _client(self) -> cohere.ClientV2:
        import cohere

        return cohere.ClientV2(
            self._endpoint.api_key,
            base_url=self._endpoint.base_url,
            timeout=self._timeout_s,
            client_name="ragval",
        )

    def _embed_slice(self, texts: list[str], input_type: InputType) -> EmbeddingBatch:
        attempts, spent = Attempts(), [0.0]

        def timed() -> Any:
            started = time.perf_counter()
            try:
                return self._post(texts, input_type)
            finally:
                spent[0] += time.perf_counter() - started

        try:
            response = self._with_retries(timed, attempts)
            vectors = check_batch(_floats(response), len(texts), self.dimension)
        except SystemFailure as failure:
            # Who finds that an answer with status 200 holds no embeddings does not know the call that it came from.
            failure.details = {**details_of(self._endpoint, 200), **failure.details}
            failure.attempts = attempts.tries
            raise
        self.dimension = vectors.shape[1]
        return EmbeddingBatch(
            vectors=vectors,
            calls=1,
            inputs=len(texts),
            billed_tokens=_billed_tokens(response),
            tries=attempts.tries,
            waited_s=attempts.waited_s,
            elapsed_s=spent[0],
        )

    def _with_retries(self, call: Callable[[], Any], attempts: Attempts) -> Any:
        try:
            return call_with_retries(call, policy=self._policy, classify=classify, attempts=attempts, sleep=self._sleep)
        except expected_errors() as error:
            failure = failure_of(error, self._endpoint, attempts=attempts.tries)
        # Raised here, outside the handler, so that the SDK's exception is not its context: a printed traceback would
        # show response headers, and httpx's message for a bad header would show the key.
        raise failure

    def _post(self, texts: list[str], input_type: InputType) -> Any:
        chosen: dict[str, Any] = {"output_dimension": self._output_dimension} if self._output_dimension else {}
        try:
            return self._client.embed(
                model=self.model,
                texts=texts,
                input_type=input_type,
                embedding_types=["float"],
                truncate=self._truncate[input_type],
                request_options={"max_retries": 0},
                **chosen,
            )
        except (TypeError, RecursionError) as error:  # how the SDK fails on JSON of another shape, such as a list
            raise malformed("the SDK cannot read the answer") from error


def _floats(response: Any) -> Any:
    """The float vectors of an answer; the SDK lets wrong-shaped answers pass."""
    vectors = getattr(getattr(response, "embeddings", None), "float_", None)
    if not isinstance(vectors, list):
        raise malformed("the answer holds no float embeddings")
    return vectors


def _billed_tokens(response: Any) -> float | None:
    billed = getattr(getattr(getattr(response, "meta", None), "billed_units", None), "input_tokens", None)
    return float(billed) if isinstance(billed, (int, float)) else None
