"""Provider ``cohere``, through Cohere's own SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragval_pipeline.sources.embedders.base import InputType, malformed
from ragval_pipeline.sources.embedders.remote import Answer, RemoteClient, RemoteEmbedder, token_count

if TYPE_CHECKING:
    import cohere


class CohereApi(RemoteClient):
    """Cohere's API, version 2."""

    provider = "cohere"
    title, host = "Cohere", "api.cohere.com"
    # The SDK reads it too, but only on import, and messages could not name the host.
    address_variable = "CO_API_URL"

    def _make_client(self) -> cohere.ClientV2:
        import cohere
        import httpx

        from ragval_pipeline.sources.http.paced import pace_connections, paced

        hooks = paced(self._timeout_s)
        http = httpx.Client(timeout=self._timeout_s, follow_redirects=True, event_hooks=hooks)
        pace_connections(http, self._timeout_s)
        return cohere.ClientV2(
            self._endpoint.api_key,
            base_url=self._endpoint.base_url,
            timeout=self._timeout_s,
            client_name="ragval",
            httpx_client=http,
        )

    def _close_client(self, client: Any) -> None:
        client.__exit__(None, None, None)

    def _expected(self) -> tuple[type[Exception], ...]:
        import httpx
        from cohere.core.api_error import ApiError
        from cohere.core.parse_error import ParsingError

        return ApiError, ParsingError, httpx.RequestError, httpx.InvalidURL, UnicodeDecodeError


class CohereEmbedder(CohereApi, RemoteEmbedder):
    """Embeds through Cohere's API, version 2."""

    can_cut = True

    def _post(self, texts: list[str], input_type: InputType) -> Answer:
        chosen: dict[str, Any] = {"output_dimension": self._asked_dimension} if self._asked_dimension else {}
        try:
            response = self._client.embed(
                model=self.model,
                texts=texts,
                input_type=input_type,
                embedding_types=["float"],
                truncate="END" if self._cuts(input_type) else "NONE",
                request_options={"max_retries": 0},
                **chosen,
            )
        except (TypeError, RecursionError) as error:  # raised by the SDK for unexpected JSON, such as a list
            raise malformed("the SDK cannot read the answer") from error
        vectors = getattr(getattr(response, "embeddings", None), "float_", None)
        if not isinstance(vectors, list):  # the SDK accepts responses of the wrong shape
            raise malformed("the answer has no float embeddings")
        billed = getattr(getattr(response, "meta", None), "billed_units", None)
        return Answer(vectors, token_count(getattr(billed, "input_tokens", None)))
