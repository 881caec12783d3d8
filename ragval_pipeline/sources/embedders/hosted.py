"""Providers behind an API, each through its own SDK: ``cohere``, ``openai`` and compatible servers, ``voyage``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from ragval_pipeline.sources.embedders.base import InputType, malformed
from ragval_pipeline.sources.embedders.models import facts_of
from ragval_pipeline.sources.embedders.remote import Answer, RemoteEmbedder, tokens_told

if TYPE_CHECKING:
    import cohere
    import openai
    from voyageai.client import Client


class CohereEmbedder(RemoteEmbedder):
    """Embeds through Cohere's API, version 2."""

    can_cut = True

    provider = "cohere"
    title, host = "Cohere", "api.cohere.com"
    # The SDK reads it too, but only on import, and messages could not name the host.
    address_variable = "CO_API_URL"

    def _make_client(self) -> cohere.ClientV2:
        import cohere
        import httpx

        from ragval_pipeline.sources.http.paced import pace_connections, paced

        hooks = paced(self._timeout_s, httpx.Client)
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
        return Answer(vectors, tokens_told(billed, "input_tokens"))

    def _expected(self) -> tuple[type[Exception], ...]:
        import httpx
        from cohere.core.api_error import ApiError
        from cohere.core.parse_error import ParsingError

        return ApiError, ParsingError, httpx.RequestError, httpx.InvalidURL, UnicodeDecodeError


#: Texts per call elsewhere: the default limit of Text Embeddings Inference.
COMPATIBLE_BATCH = 32


class OpenAIEmbedder(RemoteEmbedder):
    """Embeds through OpenAI's API.

    At Azure the model is the deployment. The ``base_url`` of a compatible server ends with ``/v1``; its query, such as
    Azure's ``?api-version=``, is sent with every request. A dimension is requested from unknown models too.
    """

    provider = "openai"
    title, host = "OpenAI", "api.openai.com"
    address_variable = "OPENAI_BASE_URL"
    keyless = True
    #: OpenAI's limit is 300,000 tokens per request; no language has two tokens per character.
    call_chars = 150_000

    def __init__(self, *, model: str, dimension: int | None = None, **settings: Any) -> None:
        super().__init__(model=model, dimension=dimension, **settings)
        if facts_of(model) is None:
            self._asked_dimension = dimension
        if self._endpoint.base_url is not None:
            self._endpoint = replace(self._endpoint, title="the OpenAI API")
            self.batch_size = COMPATIBLE_BATCH

    @property
    def query_limit(self) -> int | None:
        """As ``RemoteEmbedder``; a compatible server may cut texts instead, as Ollama does."""
        return self.max_input_tokens if self._endpoint.base_url is None else None

    def _make_client(self) -> openai.OpenAI:
        import openai

        from ragval_pipeline.sources.http.paced import pace_connections, paced

        hooks = paced(self._timeout_s, openai.DefaultHttpxClient)
        http = openai.DefaultHttpxClient(timeout=self._timeout_s, event_hooks=hooks)
        pace_connections(http, self._timeout_s)
        base, query = self._endpoint.base_url, {}
        headers: dict[str, str] = {}
        if base is not None:
            parts = urlsplit(base)
            query = dict(parse_qsl(parts.query))
            base = urlunsplit(parts._replace(query="", fragment=""))
            if (parts.hostname or "").endswith(".azure.com"):
                headers = {"api-key": self._endpoint.api_key}
        return openai.OpenAI(
            api_key=self._endpoint.api_key,
            base_url=base,
            timeout=self._timeout_s,
            max_retries=0,
            default_query=query,
            default_headers=headers,
            http_client=http,
        )

    def _post(self, texts: list[str], input_type: InputType) -> Answer:
        chosen: dict[str, Any] = {"dimensions": self._asked_dimension} if self._asked_dimension else {}
        try:
            # As numbers: not every server supports the SDK's default, base64.
            response = self._client.embeddings.create(model=self.model, input=texts, encoding_format="float", **chosen)
        except (TypeError, AttributeError, ValueError) as error:  # JSON of another shape; "No embedding data received"
            if isinstance(error, UnicodeDecodeError):
                raise
            raise malformed("the SDK cannot read the answer") from error
        data = getattr(response, "data", None)
        if not isinstance(data, list):
            raise malformed("the answer holds no embeddings")
        rows = sorted(data, key=lambda row: getattr(row, "index", None) or 0)
        return Answer([getattr(row, "embedding", None) for row in rows], _billed(response))

    def _expected(self) -> tuple[type[Exception], ...]:
        import openai

        return openai.APIError, UnicodeDecodeError


def _billed(response: Any) -> float | None:
    """The tokens of a response; servers that do not count them report 0."""
    return tokens_told(getattr(response, "usage", None), "prompt_tokens") or None


_INPUT_TYPES: dict[InputType, str] = {"search_query": "query", "search_document": "document"}


class VoyageEmbedder(RemoteEmbedder):
    """Embeds through Voyage's API, or MongoDB's by the form of the key, as the SDK decides.

    Texts that are too long are refused or truncated as with Cohere.
    """

    can_cut = True
    provider = "voyage"
    title, host = "Voyage", "api.voyageai.com"
    #: The limit is 120,000 tokens per request for the large models.
    call_chars = 100_000

    def _make_client(self) -> Client:
        import voyageai
        from voyageai.client import Client

        from ragval_pipeline.sources.http.paced import paced_session

        if voyageai.requestssession is None:
            # The SDK's setting for how it makes requests, for all clients.
            voyageai.requestssession = partial(paced_session, self._timeout_s)
        base = self._endpoint.base_url
        return Client(
            api_key=self._endpoint.api_key,
            max_retries=0,
            timeout=self._timeout_s,
            base_url=base.rstrip("/") if base else None,
        )

    def _close_client(self, client: Client) -> None:
        """Nothing to close: the SDK keeps its connections per thread."""

    def _post(self, texts: list[str], input_type: InputType) -> Answer:
        try:
            response = self._client.embed(
                texts,
                model=self.model,
                input_type=_INPUT_TYPES[input_type],
                truncation=self._cuts(input_type),
                output_dimension=self._asked_dimension,
            )
        except (TypeError, AttributeError, KeyError) as error:  # how the SDK fails on JSON of another shape
            raise malformed("the SDK cannot read the answer") from error
        return Answer(response.embeddings, tokens_told(response, "total_tokens"))

    def _expected(self) -> tuple[type[Exception], ...]:
        import requests
        from voyageai.error import VoyageError

        return VoyageError, requests.RequestException, UnicodeDecodeError
