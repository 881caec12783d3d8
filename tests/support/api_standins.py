"""Local stand-ins for the embedding APIs of OpenAI and Voyage, with the faults of ``CohereStandIn``."""

from __future__ import annotations

from typing import Any

from tests.support.cohere_server import CohereStandIn, hashed_vector


class OpenAIStandIn(CohereStandIn):
    """``/v1/embeddings`` as OpenAI has it; ``url`` is what ``base_url`` must be."""

    path = "/v1/embeddings"
    limit = 2048
    too_long = "This model's maximum context length is {limit} tokens, however you requested {count} tokens"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.url += "/v1"

    def error(self, status: str, message: str) -> dict[str, Any]:
        code = "insufficient_quota" if "quota" in message else None
        return {"error": {"message": message, "type": "error", "param": None, "code": code}}

    def texts_of(self, body: dict[str, Any]) -> list[str]:
        return body.get("input") or []

    def cuts(self, body: dict[str, Any]) -> bool:
        """Whether the API reads the start of a text that is too long."""
        return False

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        texts = self.texts_of(body)
        if len(texts) > self.limit:
            return 400, self.error("400", f"at most {self.limit} inputs")
        if any(not text.strip() for text in texts):
            return 400, self.error("400", "input cannot be an empty string")
        words = [text.split() for text in texts]
        longest = max(map(len, words))
        if longest > self.max_words and not self.cuts(body):
            return 400, self.error("400", self.too_long.format(limit=self.max_words, count=longest))
        dimension = body.get("dimensions") or body.get("output_dimension") or self.dimension
        vectors = [hashed_vector(" ".join(part[: self.max_words]), dimension) for part in words]
        return 200, self.wrapped(vectors, sum(map(len, words)))

    def wrapped(self, vectors: list[Any], tokens: int = 0) -> dict[str, Any]:
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        # Rows may come in any order; ``index`` says which is whose.
        return {"object": "list", "data": data[::-1] if self.path == "/v1/embeddings" else data, "usage": usage}


class VoyageStandIn(OpenAIStandIn):
    """``/embeddings`` as Voyage has it."""

    path = "/voyage/embeddings"
    limit = 1000
    too_long = "The text is too long: {count} tokens, the model reads {limit}"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.url = self.url.removesuffix("/v1") + "/voyage"

    def error(self, status: str, message: str) -> dict[str, Any]:
        return {"detail": message}

    def cuts(self, body: dict[str, Any]) -> bool:
        return bool(body.get("truncation"))
