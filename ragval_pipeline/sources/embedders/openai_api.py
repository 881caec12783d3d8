"""Provider ``openai``: the real ``openai.OpenAI``, for OpenAI and everything that speaks its API.

Ollama, vLLM, Text Embeddings Inference, LiteLLM and Azure are reached by ``embedding.base_url``. The API knows no input
types: queries and documents are embedded alike.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from ragval_pipeline.sources.embedders.base import InputType, malformed
from ragval_pipeline.sources.embedders.batches import BATCH
from ragval_pipeline.sources.embedders.configuration import usable_key
from ragval_pipeline.sources.embedders.failures import Endpoint, Fault
from ragval_pipeline.sources.embedders.models import facts_of
from ragval_pipeline.sources.embedders.remote import Answer, RemoteEmbedder, tokens_told
from ragval_pipeline.sources.retry import RetryPolicy

if TYPE_CHECKING:
    import openai

#: Texts of a call elsewhere: what Text Embeddings Inference takes unless it is started with more.
COMPATIBLE_BATCH = 32
#: A request takes 300,000 tokens at OpenAI; of the languages of the world none has two tokens for each character.
CALL_CHARS = 150_000
#: What the SDK insists on where a server of the user's own needs no key.
NO_KEY = "none"


class OpenAIEmbedder(RemoteEmbedder):
    """Embeds through OpenAI's API.

    Args:
        model: Name of the model, or of the deployment at Azure.
        api_key: May be left out when there is a ``base_url``.
        base_url: Of a compatible server, up to ``/v1``; None: the environment variable ``OPENAI_BASE_URL`` as the SDK
            has it, else OpenAI's own. Its query, such as Azure's ``?api-version=``, goes with every request.
        dimension: Asked for where the model is known to let one choose, and of models that are not known.
        timeout_s: As ``RemoteEmbedder``.
        policy: When to try again.
        sleep: Seam for tests.

    Raises:
        SuiteError: There is no key, or it cannot be sent.
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
        where = base_url or os.environ.get("OPENAI_BASE_URL") or None
        key = usable_key("openai", api_key) if where is None or (api_key or "").strip() else NO_KEY
        super().__init__(
            Endpoint(where, model, key, "openai", "OpenAI" if where is None else "the OpenAI API", "api.openai.com"),
            dimension=dimension,
            timeout_s=timeout_s,
            policy=policy,
            batch_size=BATCH if where is None else COMPATIBLE_BATCH,
            call_chars=CALL_CHARS,
            sleep=sleep,
        )
        if facts_of(model) is None:
            self._asked_dimension = dimension

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

    def _fault(self, error: BaseException) -> Fault | None:
        if not isinstance(error, self._expected()):
            return None
        response = getattr(error, "response", None)
        return Fault(
            status=getattr(error, "status_code", None),
            words=getattr(error, "body", None),
            headers=getattr(response, "headers", None),
            code=getattr(error, "code", None),
        )


def _billed(response: Any) -> float | None:
    """The tokens of an answer; servers that do not count them say 0."""
    return tokens_told(getattr(response, "usage", None), "prompt_tokens") or None
