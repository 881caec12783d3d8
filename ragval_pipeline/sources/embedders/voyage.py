"""Provider ``voyage``: the real ``voyageai.Client``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.embedders.base import InputType, malformed
from ragval_pipeline.sources.embedders.configuration import usable_key
from ragval_pipeline.sources.embedders.failures import Endpoint, Fault
from ragval_pipeline.sources.embedders.remote import Answer, RemoteEmbedder, tokens_told
from ragval_pipeline.sources.retry import RetryPolicy

if TYPE_CHECKING:
    from voyageai.client import Client

#: A request takes 120,000 tokens of the large models.
CALL_CHARS = 100_000
_INPUT_TYPES: dict[InputType, str] = {"search_query": "query", "search_document": "document"}


class VoyageEmbedder(RemoteEmbedder):
    """Embeds through Voyage's API.

    Queries that are too long are refused, documents are cut as ingestion cuts them, as with Cohere.

    Args:
        model: Name of the model.
        api_key: Must not be blank.
        base_url: None: Voyage's own, or MongoDB's by the form of the key, as the SDK decides.
        dimension: As ``RemoteEmbedder``.
        timeout_s: As ``RemoteEmbedder``.
        policy: When to try again.
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
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        endpoint = Endpoint(base_url, model, usable_key("voyage", api_key), "voyage", "Voyage", "api.voyageai.com")
        super().__init__(
            endpoint, dimension=dimension, timeout_s=timeout_s, policy=policy, call_chars=CALL_CHARS, sleep=sleep
        )

    def _make_client(self) -> Client:
        from voyageai.client import Client

        base = self._endpoint.base_url
        return Client(
            api_key=self._endpoint.api_key,
            max_retries=0,
            timeout=self._timeout_s,
            base_url=base.rstrip("/") if base else None,
        )

    def _close_client(self, client: Client) -> None:
        """Nothing to close: the SDK keeps its connections by thread."""

    def _post(self, texts: list[str], input_type: InputType) -> Answer:
        try:
            response = self._client.embed(
                texts,
                model=self.model,
                input_type=_INPUT_TYPES[input_type],
                truncation=input_type == "search_document",
                output_dimension=self._asked_dimension,
            )
        except (TypeError, AttributeError, KeyError) as error:  # how the SDK fails on JSON of another shape
            raise malformed("the SDK cannot read the answer") from error
        return Answer(response.embeddings, tokens_told(response, "total_tokens"))

    def _expected(self) -> tuple[type[Exception], ...]:
        import requests
        from voyageai.error import VoyageError

        return VoyageError, requests.RequestException, UnicodeDecodeError

    def _fault(self, error: BaseException) -> Fault | None:
        if not isinstance(error, self._expected()):
            return None
        body: Any = getattr(error, "json_body", None) or getattr(error, "http_body", None)
        return Fault(status=getattr(error, "http_status", None), words=body, headers=getattr(error, "headers", None))
