"""Provider ``cohere``: the real ``cohere.ClientV2``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.embedders.base import InputType, malformed
from ragval_pipeline.sources.embedders.remote import Answer, RemoteEmbedder, tokens_told

if TYPE_CHECKING:
    import cohere

#: A query that the model would read only in part is an error: its score would judge another question than the one
#: that is written down. Documents are cut at their end, as ingestion cuts them: re-embedding must make the same vector.
_TRUNCATE: dict[InputType, str] = {"search_query": "NONE", "search_document": "END"}


class CohereEmbedder(RemoteEmbedder):
    """Embeds through Cohere's API, version 2."""

    provider = "cohere"
    title, host = "Cohere", "api.cohere.com"
    # The SDK reads it too, but only while it is imported, and a message could not name the host.
    address_variable = "CO_API_URL"

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
                truncate=_TRUNCATE[input_type],
                request_options={"max_retries": 0},
                **chosen,
            )
        except (TypeError, RecursionError) as error:  # how the SDK fails on JSON of another shape, such as a list
            raise malformed("the SDK cannot read the answer") from error
        vectors = getattr(getattr(response, "embeddings", None), "float_", None)
        if not isinstance(vectors, list):  # the SDK lets wrong-shaped answers pass
            raise malformed("the answer holds no float embeddings")
        billed = getattr(getattr(response, "meta", None), "billed_units", None)
        return Answer(vectors, tokens_told(billed, "input_tokens"))

    def _expected(self) -> tuple[type[Exception], ...]:
        import httpx
        from cohere.core.api_error import ApiError
        from cohere.core.parse_error import ParsingError

        return ApiError, ParsingError, httpx.RequestError, httpx.InvalidURL, UnicodeDecodeError
