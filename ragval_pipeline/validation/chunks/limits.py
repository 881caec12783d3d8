"""How many tokens the model behind each point reads.

The order is the contract's: what the suite says; the model that the payload names, else the collection; the profile's;
the model that queries are embedded with. A model that reads everything ends the search: there is no limit then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.sources.embedders.models import facts_of

#: Input limits of public models that ragval cannot call itself, by the start of the name without its maker.
#: Source: the models' own cards and their providers' documentation.
_OTHERS: Mapping[str, int] = {
    "text-embedding-3": 8191, "text-embedding-ada-002": 8191, "bge-m3": 8192, "bge-": 512,  # definition
    "e5-mistral": 4096, "multilingual-e5": 512, "e5-": 512, "gte-qwen": 32_000,  # definition
    "gte-multilingual": 8192, "gte-": 512, "all-minilm-l6": 256, "all-minilm-l12": 128,  # definition
    "all-mpnet": 384, "multi-qa-": 512, "paraphrase-multilingual": 128, "nomic-embed-text": 8192,  # definition
    "jina-embeddings-v2": 8192, "jina-embeddings-v3": 8192, "mxbai-embed": 512,  # definition
    "snowflake-arctic-embed-m-long": 2048, "snowflake-arctic-embed": 512, "gemini-embedding": 2048,  # definition
    "text-embedding-004": 2048, "titan-embed-text": 8192, "voyage-3": 32_000, "mistral-embed": 8192,  # definition
}  # fmt: skip
_COLLECTION_KEYS = ("embedding_model", "embedding_model_name", "model", "model_name", "model_id", "embed_model")


@dataclass(frozen=True)
class Limit:
    """Tokens that a model reads, or null for all; and who says so."""

    tokens: int | None
    source: str


@dataclass(frozen=True)
class LimitRules:
    """Where limits come from.

    Args:
        max_input_tokens: ``embedding.max_input_tokens`` of the suite.
        collection: Free JSON on the collection, which may name a model.
        profile: The profile's limit.
        model: Model that queries are embedded with.
    """

    max_input_tokens: int | None = None
    collection: Mapping[str, Any] | None = None
    profile: int | None = None
    model: str | None = None

    def of(self, payload_model: str | None) -> Limit | None:
        """The limit for a point whose payload names ``payload_model``; null when nobody knows one."""
        return next(self._candidates(payload_model), None)

    def model_of(self, payload_model: str | None) -> str | None:
        """The model whose limit holds for a point, as far as payload, collection or suite name one."""
        named = payload_model or _named_in(self.collection or {}) or self.model
        return named if self.has_limit(payload_model) else None

    def has_limit(self, payload_model: str | None) -> bool:
        """Whether the model of a point is known to read only so many tokens."""
        limit = self.of(payload_model)
        return limit is not None and limit.tokens is not None

    def _candidates(self, payload_model: str | None) -> Iterator[Limit]:
        if self.max_input_tokens is not None:
            yield Limit(self.max_input_tokens, "embedding.max_input_tokens")
        stored = payload_model or _named_in(self.collection or {})
        if stored:
            yield from _known(stored)
        if self.profile is not None:
            yield Limit(self.profile, "the profile's model")
        if self.model:
            yield from _known(self.model)


def _known(model: str) -> Iterator[Limit]:
    facts = facts_of(model)
    if facts is not None:
        yield Limit(facts.max_input_tokens, model)
        return
    name = model.strip().lower().rpartition("/")[2]
    limit = next((tokens for start, tokens in _OTHERS.items() if name.startswith(start)), None)
    if limit is not None:
        yield Limit(limit, model)


def _named_in(metadata: Mapping[str, Any]) -> str | None:
    return next((metadata[key] for key in _COLLECTION_KEYS if isinstance(metadata.get(key), str)), None)
