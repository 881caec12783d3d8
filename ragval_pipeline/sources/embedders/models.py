"""What is publicly known of embedding models: their dimensions and how much of a text they read.

What lives here: one table and pure look-ups in it. What does not: asking a provider anything, and what a suite says
itself (``embedding.dimension``, ``embedding.max_input_tokens``), which wins over this table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DEFAULT_COHERE_MODEL = "embed-english-v3.0"
STATIC_MODEL = "wordllama/l2_supercat/256"
STATIC_DIMENSION = 256


@dataclass(frozen=True)
class ModelFacts:
    """One model.

    Args:
        dimensions: Lengths of the vectors that it can give, the default first.
        max_input_tokens: Tokens that it reads of one text; None when there is no limit.
    """

    dimensions: tuple[int, ...]
    max_input_tokens: int | None


#: Source: docs.cohere.com/docs/cohere-embed; the v2 models are retired but still stand in collections.
KNOWN_MODELS: dict[str, ModelFacts] = {
    "embed-v4.0": ModelFacts((1536, 256, 512, 1024), 128_000),
    "embed-english-v3.0": ModelFacts((1024,), 512),
    "embed-multilingual-v3.0": ModelFacts((1024,), 512),
    "embed-english-light-v3.0": ModelFacts((384,), 512),
    "embed-multilingual-light-v3.0": ModelFacts((384,), 512),
    "embed-english-v2.0": ModelFacts((4096,), 512),
    "embed-english-light-v2.0": ModelFacts((1024,), 512),
    "embed-multilingual-v2.0": ModelFacts((768,), 256),
    STATIC_MODEL: ModelFacts((STATIC_DIMENSION,), None),
}

COHERE_MODELS = tuple(name for name in KNOWN_MODELS if name != STATIC_MODEL)

_PREFIX = re.compile(r"^(?:models/)?(?:cohere[/.:])?")
_GENERATION = re.compile(r"^embed-v(\d+)(?:\D|$)")


def model_in_use(provider: str, model: str | None) -> str | None:
    """The model that a suite embeds with: the one it names, else the provider's own; None when only the user knows."""
    return model or {"cohere": DEFAULT_COHERE_MODEL, "static": STATIC_MODEL}.get(provider)


def facts_of(model: str) -> ModelFacts | None:
    """The table's row of ``model``, also as clouds spell it (``cohere.embed-english-v3``); None if unknown."""
    name = _PREFIX.sub("", model.strip().lower())
    return KNOWN_MODELS.get(name) or KNOWN_MODELS.get(f"{name}.0")


def known_limit(model: str) -> int | None:
    """Tokens that ``model`` reads of one text; None when it is unknown or reads everything."""
    facts = facts_of(model)
    return facts.max_input_tokens if facts else None


def known_dimension(model: str) -> int | None:
    """Length of the vectors that ``model`` gives when none is asked for; None when it is unknown."""
    facts = facts_of(model)
    return facts.dimensions[0] if facts else None


def takes_output_dimension(model: str) -> bool:
    """Whether ``model`` lets the caller choose the dimension: Cohere's embed-v4 and newer."""
    generation = _GENERATION.match(_PREFIX.sub("", model.strip().lower()))
    return generation is not None and int(generation.group(1)) >= 4


def dimension_remedy(model: str, size: int) -> str:
    """What to do about a collection of ``size`` dimensions when ``model`` gives another number."""
    facts = facts_of(model)
    if facts is not None and size in facts.dimensions:
        return f"Set embedding.dimension: {size}, which {model} gives too, if the collection was embedded with it."
    return "Set embedding.provider and embedding.model to what the collection was embedded with."
