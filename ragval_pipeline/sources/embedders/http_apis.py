"""Providers whose API is called over HTTP, as a table: what each is sent, and what its answer holds.

``openai`` with every server that speaks its API (Azure, Ollama, vLLM, Text Embeddings Inference), and ``voyage``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ragval_pipeline.sources.embedders.base import InputType, malformed
from ragval_pipeline.sources.embedders.failures import Fault
from ragval_pipeline.sources.embedders.models import Maker, facts_of
from ragval_pipeline.sources.embedders.remote import Answer, RemoteEmbedder, token_count

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class Request:
    """What one call asks for.

    Attributes:
        model: Its name, at Azure the deployment's.
        texts: None of them blank.
        input_type: Whether they are queries or documents.
        dimension: Length to request; None: the model's own.
        cut: Whether the API shall truncate texts that are too long.
    """

    model: str
    texts: Sequence[str]
    input_type: InputType
    dimension: int | None
    cut: bool


@dataclass(frozen=True)
class HttpApi:
    """One provider.

    Attributes:
        provider: As the suite names it.
        title: Display name.
        url: Its own address, to which ``/embeddings`` is added.
        body: The JSON of a request; keys whose value is None are left out.
        tokens: Name of the billed tokens within ``usage``.
        call_chars: Characters per call.
        can_cut: Whether it can truncate texts that are too long.
        address_variable: The environment variable for another address; None: it has none.
        keyless: Whether servers at a ``base_url`` may need no key.
        headers: Of every request, beside the key: name to environment variable.
        others: Beginnings of keys that belong to another address.
        compatible_batch: Texts per call at a ``base_url``; None: as at the provider's own.
    """

    provider: Maker
    title: str
    url: str
    body: Callable[[Request], dict[str, Any]]
    tokens: str
    call_chars: int
    can_cut: bool = False
    address_variable: str | None = None
    keyless: bool = False
    headers: Mapping[str, str] | None = None
    others: Mapping[str, str] | None = None
    compatible_batch: int | None = None


def _openai(request: Request) -> dict[str, Any]:
    # As numbers: not every server supports base64.
    return {
        "model": request.model,
        "input": request.texts,
        "encoding_format": "float",
        "dimensions": request.dimension,
    }


def _voyage(request: Request) -> dict[str, Any]:
    return {
        "model": request.model,
        "input": request.texts,
        "input_type": request.input_type.removeprefix("search_"),
        "truncation": request.cut,
        "output_dimension": request.dimension,
    }


HTTP_APIS: Mapping[str, HttpApi] = {
    "openai": HttpApi(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        _openai,
        "prompt_tokens",
        # The limit is 300,000 tokens per request; no language has two tokens per character.
        call_chars=150_000,
        address_variable="OPENAI_BASE_URL",
        keyless=True,
        headers={"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"},
        # The default limit of Text Embeddings Inference.
        compatible_batch=32,
    ),
    "voyage": HttpApi(
        "voyage",
        "Voyage",
        "https://api.voyageai.com/v1",
        _voyage,
        "total_tokens",
        # The limit is 120,000 tokens per request for the large models.
        call_chars=100_000,
        can_cut=True,
        # Keys that MongoDB issues.
        others={"al-": "https://ai.mongodb.com/v1"},
    ),
}


class HttpEmbedder(RemoteEmbedder):
    """Embeds through one of ``HTTP_APIS``.

    At Azure the model is the deployment. The ``base_url`` of an OpenAI-compatible server ends with ``/v1``; its query,
    such as Azure's ``?api-version=``, is sent with every request. There a dimension is requested from unknown models,
    too.

    Args:
        api: The provider.
        settings: As for ``RemoteEmbedder``.
    """

    def __init__(self, api: HttpApi, *, model: str, dimension: int | None = None, **settings: Any) -> None:
        self._api = api
        self.provider, self.title, self.host = api.provider, api.title, urlsplit(api.url).netloc
        self.address_variable, self.keyless, self.can_cut = api.address_variable, api.keyless, api.can_cut
        self.call_chars = api.call_chars
        super().__init__(model=model, dimension=dimension, **settings)
        if api.keyless and facts_of(model) is None:
            self._asked_dimension = dimension
        if self._endpoint.base_url is None:
            for beginning, url in (api.others or {}).items():
                if self._endpoint.api_key.startswith(beginning):
                    self._endpoint = replace(self._endpoint, base_url=url)
        elif api.compatible_batch is not None:
            self._endpoint = replace(self._endpoint, title=f"the {api.title} API")
            self.batch_size = api.compatible_batch

    @property
    def query_limit(self) -> int | None:
        """As ``RemoteEmbedder``; a compatible server may cut texts instead, as Ollama does."""
        return None if self._api.keyless and self._endpoint.base_url is not None else super().query_limit

    def _make_client(self) -> httpx.Client:
        import httpx

        from ragval_pipeline.sources.http.paced import pace_connections, paced

        key = self._endpoint.api_key
        headers = {"Authorization": f"Bearer {key}"}
        headers |= {
            name: value
            for name, variable in (self._api.headers or {}).items()
            if (value := os.environ.get(variable, "").strip())
        }
        if (urlsplit(self._endpoint.base_url or "").hostname or "").endswith(".azure.com"):
            headers["api-key"] = key
        hooks = paced(self._timeout_s)
        client = httpx.Client(timeout=self._timeout_s, headers=headers, follow_redirects=True, event_hooks=hooks)
        pace_connections(client, self._timeout_s)
        return client

    def _post(self, texts: list[str], input_type: InputType) -> Answer:
        request = Request(self.model, texts, input_type, self._asked_dimension, self._cuts(input_type))
        body = {name: value for name, value in self._api.body(request).items() if value is not None}
        base = urlsplit(self._endpoint.base_url or self._api.url)
        response = self._client.post(
            base._replace(path=f"{base.path.rstrip('/')}/embeddings", fragment="").geturl(), json=body
        )
        response.raise_for_status()
        try:
            # Not the response's own method, which guesses an encoding: JSON is UTF-8.
            answer = json.loads(response.content.decode())
            rows = sorted(answer["data"], key=lambda row: row.get("index") or 0)
            vectors = [row["embedding"] for row in rows]
        except UnicodeDecodeError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise malformed("the answer holds no embeddings") from error
        usage = answer.get("usage")
        # Servers that do not count tokens report 0.
        return Answer(vectors, token_count(usage.get(self._api.tokens)) or None if isinstance(usage, dict) else None)

    def _expected(self) -> tuple[type[Exception], ...]:
        import httpx

        return httpx.HTTPError, httpx.InvalidURL, UnicodeDecodeError

    def _fault(self, error: BaseException) -> Fault | None:
        import httpx

        if not isinstance(error, httpx.HTTPStatusError):
            return Fault() if isinstance(error, self._expected()) else None
        told: Any = error.response.text
        try:
            told = json.loads(told)
        except ValueError:
            return Fault(error.response.status_code, told, error.response.headers)
        inner = told.get("error") if isinstance(told, dict) else None
        code = inner.get("code") if isinstance(inner, dict) else None
        return Fault(error.response.status_code, told, error.response.headers, code)


def http_embedder(provider: str, **settings: Any) -> HttpEmbedder:
    """The embedder of a row of ``HTTP_APIS``; ``settings`` as for ``HttpEmbedder``."""
    return HttpEmbedder(HTTP_APIS[provider], **settings)
