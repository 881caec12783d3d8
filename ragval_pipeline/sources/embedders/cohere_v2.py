"""Provider ``cohere``: the real ``cohere.ClientV2``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.sources.embedders.base import InputType, malformed
from ragval_pipeline.sources.embedders.configuration import usable_key
from ragval_pipeline.sources.embedders.failures import Endpoint, Fault
from ragval_pipeline.sources.embedders.remote import Answer, RemoteEmbedder, tokens_told
from ragval_pipeline.sources.retry import RetryPolicy

if TYPE_CHECKING:
    import cohere

Truncate = Literal["NONE", "START", "END"]


class CohereEmbedder(RemoteEmbedder):
    """Embeds through Cohere's API, version 2.

    Args:
        model: Name of the model; one that the table does not know is passed on as it is.
        api_key: Must not be blank.
        base_url: None: the environment variable ``CO_API_URL`` as the SDK has it, else Cohere's own.
        dimension: As ``RemoteEmbedder``.
        timeout_s: As ``RemoteEmbedder``.
        policy: When to try again.
        truncate_query: ``NONE``: a query that the model would read only in part is an error, because its score would
            judge another question than the one that is written down.
        truncate_document: ``END``, the API's default and so what ingestion does: the stored vector was made from the
            part of the chunk that the model read, and re-embedding must make the same.
        sleep: Seam for tests.

    Raises:
        SuiteError: The key is blank or cannot be sent.
    """

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
        # The SDK reads CO_API_URL too, but only while it is imported, and a message could not name the host.
        where = base_url or os.environ.get("CO_API_URL") or None
        endpoint = Endpoint(where, model, usable_key("cohere", api_key))
        super().__init__(endpoint, dimension=dimension, timeout_s=timeout_s, policy=policy, sleep=sleep)
        self._truncate: dict[InputType, Truncate] = {
            "search_query": truncate_query,
            "search_document": truncate_document,
        }

    @property
    def query_limit(self) -> int | None:
        """Tokens of a query above which the API refuses it; None: it refuses none."""
        return self.max_input_tokens if self._truncate["search_query"] == "NONE" else None

    def _make_client(self) -> cohere.ClientV2:
        import cohere

        return cohere.ClientV2(
            self._endpoint.api_key,
            base_url=self._endpoint.base_url,
            timeout=self._timeout_s,
            client_name="ragval",
        )

    def _close_client(self, client: Any) -> None:
        client.__exit__(None, None, None)

    def _post(self, texts: list[str], input_type: InputType) -> Answer:
        chosen: dict[str, Any] = {"output_dimension": self._asked_dimension} if self._asked_dimension else {}
        try:
            response = self._client.embed(
                model=self.model,
                texts=texts,
                input_type=input_type,
                embedding_types=["float"],
                truncate=self._truncate[input_type],
                request_options={"max_retries": 0},
                **chosen,
            )
        except TypeError as error:  # how the SDK fails on JSON of another shape, such as a list
            raise malformed("the SDK cannot read the answer") from error
        vectors = getattr(getattr(response, "embeddings", None), "float_", None)
        if not isinstance(vectors, list):  # the SDK lets wrong-shaped answers pass
            raise malformed("the answer holds no float embeddings")
        billed = getattr(getattr(response, "meta", None), "billed_units", None)
        return Answer(vectors, tokens_told(billed, "input_tokens"))

    def _expected(self) -> tuple[type[Exception], ...]:
        return expected_errors()

    def _fault(self, error: BaseException) -> Fault | None:
        return fault_of(error)


def expected_errors() -> tuple[type[Exception], ...]:
    """What a call through the SDK raises when the other side is at fault."""
    import httpx
    from cohere.core.api_error import ApiError
    from cohere.core.parse_error import ParsingError

    return ApiError, ParsingError, httpx.RequestError, httpx.InvalidURL, UnicodeDecodeError


def fault_of(error: BaseException) -> Fault | None:
    """What the SDK raised, in the shape that all providers share."""
    if not isinstance(error, expected_errors()):
        return None
    return Fault(
        status=getattr(error, "status_code", None),
        words=getattr(error, "body", None),
        headers=getattr(error, "headers", None),
    )
