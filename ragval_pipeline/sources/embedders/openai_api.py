"""Provider ``openai``: the real ``openai.OpenAI``, for OpenAI and everything that speaks its API.

Ollama, vLLM, Text Embeddings Inference, LiteLLM and Azure are reached by ``embedding.base_url``. The API knows no input
types: queries and documents are embedded alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from ragval_pipeline.sources.embedders.base import InputType, malformed
from ragval_pipeline.sources.embedders.models import facts_of
from ragval_pipeline.sources.embedders.remote import Answer, RemoteEmbedder, tokens_told

if TYPE_CHECKING:
    import openai

#: Texts of a call elsewhere: what Text Embeddings Inference takes unless it is started with more.
COMPATIBLE_BATCH = 32


class OpenAIEmbedder(RemoteEmbedder):
    """Embeds through OpenAI's API.

    The model is the deployment at Azure. The ``base_url`` of a compatible server goes up to ``/v1``; its query, such as
    Azure's ``?api-version=``, goes with every request. A dimension is asked of unknown models too.
    """

    provider = "openai"
    title, host = "OpenAI", "api.openai.com"
    address_variable = "OPENAI_BASE_URL"
    keyless = True
    #: A request takes 300,000 tokens at OpenAI; of the languages of the world none has two tokens for each character.
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
        )

    def _post(self, texts: list[str], input_type: InputType) -> Answer:
        chosen: dict[str, Any] = {"dimensions": self._asked_dimension} if self._asked_dimension else {}
        try:
            # As numbers: not every server knows the SDK's default, base64.
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
    """The tokens of an answer; servers that do not count them say 0."""
    return tokens_told(getattr(response, "usage", None), "prompt_tokens") or None
