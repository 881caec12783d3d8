"""Public facts about embedding models: dimensions, input limits, tokenizers and prices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

STATIC_MODEL = "wordllama/l2_supercat/256"
STATIC_DIMENSION = 256
#: Year and month of the list prices in the table. They change, and accounts differ.
PRICES_OF = "2026-07"
#: Where each provider publishes them.
PRICE_LISTS: Mapping[str, str] = {
    "cohere": "https://cohere.com/pricing",
    "openai": "https://developers.openai.com/api/docs/pricing",
    "voyage": "https://docs.voyageai.com/docs/pricing",
}

Maker = Literal["cohere", "openai", "voyage", "open", "static"]


@dataclass(frozen=True)
class ModelFacts:
    """One model.

    Attributes:
        dimensions: Possible lengths of its vectors, the default first.
        max_input_tokens: Input limit in tokens; None if there is none.
        maker: The API that serves it; ``open`` for open weights.
        tokenizer: Its tokenizer's name on the Hugging Face hub or in tiktoken; None if it is not public.
        usd_per_million: Price of a million tokens at its maker, as of ``PRICES_OF``; None if free.
        any_shorter: Whether it also gives every shorter length.
        retired: Date since which its maker's API does not serve it; None: it does.
        languages: Codes of the languages that its card says it was trained for (ISO 639-1); None: many, or not said.
    """

    dimensions: tuple[int, ...]
    max_input_tokens: int | None
    maker: Maker = "open"
    tokenizer: str | None = None
    usd_per_million: float | None = None
    any_shorter: bool = False
    retired: str | None = None
    languages: tuple[str, ...] | None = None

    def gives(self, dimension: int) -> bool:
        """Whether its vectors can have that length."""
        return dimension in self.dimensions or (self.any_shorter and 0 < dimension < self.dimensions[0])


def _cohere(
    dimensions: tuple[int, ...], limit: int, price: float, name: str | None = None, *, retired: str | None = None
) -> ModelFacts:
    tokenizer = f"Cohere/Cohere-{name}" if name else None
    return ModelFacts(dimensions, limit, "cohere", tokenizer, price, retired=retired)


def _english(facts: ModelFacts) -> ModelFacts:
    return replace(facts, languages=("en",))


def _openai(dimension: int, price: float, *, any_shorter: bool = True) -> ModelFacts:
    return ModelFacts((dimension,), 8191, "openai", "cl100k_base", price, any_shorter)


def _voyage(name: str, price: float, limit: int = 32_000, *, chosen: bool = True, size: int = 1024) -> ModelFacts:
    return ModelFacts((size, 256, 512, 2048) if chosen else (size,), limit, "voyage", f"voyageai/{name}", price)


def _open(tokenizer: str, size: int, limit: int, *shorter: int) -> ModelFacts:
    return ModelFacts((size, *shorter), limit, "open", tokenizer)


#: Sources: docs.cohere.com/docs/cohere-embed and /docs/deprecations, developers.openai.com/api/docs/models,
#: docs.voyageai.com/docs/embeddings, and the model cards of the open models. Retired models are still found in
#: collections.
KNOWN_MODELS: Mapping[str, ModelFacts] = {
    "embed-v4.0": _cohere((1536, 256, 512, 1024), 128_000, 0.12, "embed-v4.0"),
    "embed-english-v3.0": _english(_cohere((1024,), 512, 0.10, "embed-english-v3.0")),
    "embed-multilingual-v3.0": _cohere((1024,), 512, 0.10, "embed-multilingual-v3.0"),
    "embed-english-light-v3.0": _english(_cohere((384,), 512, 0.10, "embed-english-light-v3.0")),
    "embed-multilingual-light-v3.0": _cohere((384,), 512, 0.10, "embed-multilingual-light-v3.0"),
    "embed-english-v2.0": _english(_cohere((4096,), 512, 0.10, retired="2026-04-04")),
    "embed-english-light-v2.0": _english(_cohere((1024,), 512, 0.10, retired="2026-04-04")),
    "embed-multilingual-v2.0": _cohere((768,), 256, 0.10, retired="2026-04-04"),
    "text-embedding-3-small": _openai(1536, 0.02),
    "text-embedding-3-large": _openai(3072, 0.13),
    "text-embedding-ada-002": _openai(1536, 0.10, any_shorter=False),
    "voyage-4-large": _voyage("voyage-4-large", 0.12),
    "voyage-4": _voyage("voyage-4", 0.06),
    "voyage-4-lite": _voyage("voyage-4-lite", 0.02),
    "voyage-3-large": _voyage("voyage-3-large", 0.18),
    "voyage-3.5": _voyage("voyage-3.5", 0.06),
    "voyage-3.5-lite": _voyage("voyage-3.5-lite", 0.02),
    "voyage-code-3": _voyage("voyage-code-3", 0.18),
    "voyage-3": _voyage("voyage-3", 0.06, chosen=False),
    "voyage-3-lite": _voyage("voyage-3-lite", 0.02, chosen=False, size=512),
    "voyage-finance-2": _voyage("voyage-finance-2", 0.12, chosen=False),
    "voyage-multilingual-2": _voyage("voyage-multilingual-2", 0.12, chosen=False),
    "voyage-law-2": _voyage("voyage-law-2", 0.12, 16_000, chosen=False),
    "voyage-code-2": _voyage("voyage-code-2", 0.12, 16_000, chosen=False, size=1536),
    "all-minilm-l6-v2": _english(_open("sentence-transformers/all-MiniLM-L6-v2", 384, 256)),
    "all-minilm-l12-v2": _english(_open("sentence-transformers/all-MiniLM-L12-v2", 384, 128)),
    "multi-qa-minilm-l6-cos-v1": _english(_open("sentence-transformers/multi-qa-MiniLM-L6-cos-v1", 384, 512)),
    "paraphrase-multilingual-minilm-l12-v2": _open(
        "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", 384, 128
    ),
    "all-mpnet-base-v2": _english(_open("sentence-transformers/all-mpnet-base-v2", 768, 384)),
    "bge-small-en-v1.5": _english(_open("BAAI/bge-small-en-v1.5", 384, 512)),
    "bge-base-en-v1.5": _english(_open("BAAI/bge-base-en-v1.5", 768, 512)),
    "bge-large-en-v1.5": _english(_open("BAAI/bge-large-en-v1.5", 1024, 512)),
    "bge-m3": _open("BAAI/bge-m3", 1024, 8192),
    "e5-small-v2": _english(_open("intfloat/e5-small-v2", 384, 512)),
    "e5-base-v2": _english(_open("intfloat/e5-base-v2", 768, 512)),
    "e5-large-v2": _english(_open("intfloat/e5-large-v2", 1024, 512)),
    "multilingual-e5-small": _open("intfloat/multilingual-e5-small", 384, 512),
    "multilingual-e5-base": _open("intfloat/multilingual-e5-base", 768, 512),
    "multilingual-e5-large": _open("intfloat/multilingual-e5-large", 1024, 512),
    "gte-small": _english(_open("thenlper/gte-small", 384, 512)),
    "gte-base": _english(_open("thenlper/gte-base", 768, 512)),
    "gte-large": _english(_open("thenlper/gte-large", 1024, 512)),
    "mxbai-embed-large-v1": _english(_open("mixedbread-ai/mxbai-embed-large-v1", 1024, 512)),
    "nomic-embed-text-v1.5": _english(_open("nomic-ai/nomic-embed-text-v1.5", 768, 8192, 64, 128, 256, 512)),
    "snowflake-arctic-embed-l-v2.0": _open("Snowflake/snowflake-arctic-embed-l-v2.0", 1024, 8192, 256),
    "jina-embeddings-v2-base-en": _english(_open("jinaai/jina-embeddings-v2-base-en", 768, 8192)),
    "jina-embeddings-v3": _open("jinaai/jina-embeddings-v3", 1024, 8192, 32, 64, 128, 256, 512, 768),
    "embeddinggemma-300m": _open("google/embeddinggemma-300m", 768, 2048, 128, 256, 512),
    "qwen3-embedding-0.6b": ModelFacts((1024,), 32_768, "open", "Qwen/Qwen3-Embedding-0.6B", any_shorter=True),
    STATIC_MODEL: _english(ModelFacts((STATIC_DIMENSION,), None, "static")),
}

#: As Ollama names them.
_ALIASES = {
    "all-minilm": "all-minilm-l6-v2",
    "mxbai-embed-large": "mxbai-embed-large-v1",
    "nomic-embed-text": "nomic-embed-text-v1.5",
    "snowflake-arctic-embed2": "snowflake-arctic-embed-l-v2.0",
    "embeddinggemma": "embeddinggemma-300m",
}

#: Default model of each provider; the others need one in the suite.
DEFAULT_MODELS: Mapping[str, str] = {
    "cohere": "embed-english-v3.0",
    "openai": "text-embedding-3-small",
    "voyage": "voyage-3.5",
    "sentence-transformers": "sentence-transformers/all-MiniLM-L6-v2",
    "fastembed": "BAAI/bge-small-en-v1.5",
    "static": STATIC_MODEL,
}


_PREFIX = re.compile(r"^(?:models/)?(?:cohere[/.:])?")
_GENERATION = re.compile(r"^embed-v(\d+)(?:\D|$)")


def models_of(maker: Maker) -> tuple[str, ...]:
    """Names of the models that an API serves."""
    return tuple(name for name, facts in KNOWN_MODELS.items() if facts.maker == maker)


def model_in_use(provider: str, model: str | None) -> str | None:
    """The model of a suite: the one it names, else the provider's default; None if only the user knows."""
    return model or DEFAULT_MODELS.get(provider)


def facts_of(model: str) -> ModelFacts | None:
    """The table's row of ``model``, also for its names with the maker, in clouds and in Ollama; None if unknown."""
    full = _PREFIX.sub("", model.strip().lower())
    for name in (full, f"{full}.0", full.rpartition("/")[2], full.rpartition("/")[2].partition(":")[0]):
        facts = KNOWN_MODELS.get(_ALIASES.get(name, name))
        if facts is not None:
            return facts
    return None


def same_model(one: str, other: str) -> bool:
    """Whether two names are the same model, also for names in clouds and paths."""
    known = facts_of(one)
    if known is not None and known is facts_of(other):
        return True
    return one.strip().lower().rpartition("/")[2] == other.strip().lower().rpartition("/")[2]


def known_limit(model: str) -> int | None:
    """Input limit of ``model`` in tokens; None if unknown or unlimited."""
    facts = facts_of(model)
    return facts.max_input_tokens if facts else None


def trained_for(model: str) -> tuple[str, ...] | None:
    """Codes of the languages that ``model`` was trained for; None if they are many or unknown."""
    facts = facts_of(model)
    return facts.languages if facts else None


def known_dimension(model: str) -> int | None:
    """Default vector length of ``model``; None if unknown."""
    facts = facts_of(model)
    return facts.dimensions[0] if facts else None


def retirement_of(maker: str, model: str, base_url: str | None = None) -> str | None:
    """What it means that a maker's API serves ``model`` no more; None if it does, or for a ``base_url``."""
    facts = facts_of(model)
    if facts is None or facts.retired is None or facts.maker != maker or base_url is not None:
        return None
    served = [name for name in models_of(facts.maker) if KNOWN_MODELS[name].retired is None]
    return (
        f"{model} was retired on {facts.retired}: no question can be embedded for this index any more. Embed all texts "
        f"again with another model, such as {served[0]}."
    )


def price_of(provider: str, model: str, base_url: str | None = None) -> float | None:
    """US dollars per million tokens; None if unknown, e.g. for a ``base_url``."""
    if provider in ("sentence-transformers", "fastembed", "static"):
        return 0.0
    facts = facts_of(model)
    known = facts is not None and facts.maker == provider and base_url is None
    return facts.usd_per_million if facts and known else None


def takes_output_dimension(model: str) -> bool:
    """Whether ``model`` is known to let the caller choose the dimension, like Cohere's embed-v4 and newer."""
    facts = facts_of(model)
    if facts is not None:
        return facts.any_shorter or len(facts.dimensions) > 1
    generation = _GENERATION.match(_PREFIX.sub("", model.strip().lower()))
    return generation is not None and int(generation.group(1)) >= 4


def dimension_remedy(model: str, size: int) -> str:
    """The remedy if a collection has ``size`` dimensions and ``model`` gives another number."""
    facts = facts_of(model)
    if facts is not None and facts.gives(size):
        return f"Set embedding.dimension: {size}, which {model} also supports, if the collection was embedded with it."
    return "Set embedding.provider and embedding.model to what the collection was embedded with."
