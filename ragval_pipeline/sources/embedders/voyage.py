"""Provider ``voyage``: the real ``voyageai.Client``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragval_pipeline.sources.embedders.base import InputType, malformed
from ragval_pipeline.sources.embedders.remote import Answer, RemoteEmbedder, tokens_told

if TYPE_CHECKING:
    from voyageai.client import Client

_INPUT_TYPES: dict[InputType, str] = {"search_query": "query", "search_document": "document"}


class VoyageEmbedder(RemoteEmbedder):
    """Embeds through Voyage's API, or MongoDB's by the form of the key, as the SDK decides.

    Queries that are too long are refused, documents are cut as ingestion cuts them, as with Cohere.
    """

    provider = "voyage"
    title, host = "Voyage", "api.voyageai.com"
    #: A request takes 120,000 tokens of the large models.
    call_chars = 100_000

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
