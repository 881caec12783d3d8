"""Guessing the embedder of a collection from names, sizes and, where that costs nothing, from its vectors.

What lives here: the guess and how sure it is. What does not: writing it down (``suite_text``).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.cli.checkup.embedder import stored_models
from ragval_pipeline.cli.looking import Look
from ragval_pipeline.sources.embedders.models import (
    COHERE_MODELS,
    KNOWN_MODELS,
    STATIC_DIMENSION,
    STATIC_MODEL,
    facts_of,
)
from ragval_pipeline.sources.snapshot.embedded import embedded_of
from ragval_pipeline.text.characters import is_blank

if TYPE_CHECKING:
    from ragval_pipeline.sources.qdrant.facts import VectorFacts

#: The usual model of each size among Cohere's; other providers have models of these sizes too.
_USUAL = {1024: "embed-english-v3.0", 384: "embed-english-light-v3.0", 1536: "embed-v4.0"}
_TEXTS = 5
_SAME = 0.99


@dataclass(frozen=True)
class EmbedderGuess:
    """How the collection was probably embedded.

    Args:
        provider: ``cohere``, ``static``, or null when it is neither and must be the user's own.
        model: Name of the model; null: the provider's only one.
        why: What the guess rests on.
        sure: Whether it was tried out, or a name says so.
    """

    provider: str | None
    model: str | None
    why: str
    sure: bool


def guess_embedder(
    look: Look, vector: VectorFacts, fields: dict[str, str], flavour: str | None = None
) -> EmbedderGuess:
    """The embedder of a collection.

    Args:
        look: The collection; with vectors when they have the static embedder's size.
        vector: The vector that searches use.
        fields: The field map found.
        flavour: The framework that wrote the points, if one did.
    """
    if vector.size == STATIC_DIMENSION and _is_static(look, fields.get("text"), flavour):
        return EmbedderGuess("static", None, "embedding stored texts again gave the stored vectors", sure=True)
    names = stored_models(look, fields.get("model"))
    for name in names:
        known = _cohere_name(name)
        if known and vector.size in KNOWN_MODELS[known].dimensions:
            return EmbedderGuess("cohere", known, f"the collection says {name}", sure=True)
    if names:
        return EmbedderGuess(None, names[0], f"the collection says {names[0]}", sure=True)
    usual = _USUAL.get(vector.size)
    if usual:
        return EmbedderGuess(
            "cohere", usual, f"guessed from {vector.size} dimensions: other models have them too", sure=False
        )
    return EmbedderGuess(None, None, f"no model that ragval knows makes {vector.size} dimensions", sure=False)


def _cohere_name(name: str) -> str | None:
    facts = facts_of(name)
    return next((known for known in COHERE_MODELS if facts is not None and KNOWN_MODELS[known] is facts), None)


def _is_static(look: Look, path: str | None, flavour: str | None) -> bool:
    """Whether the offline embedder, which costs nothing, gives the stored vectors."""
    from ragval_pipeline.sources.embedders import open_embedder

    held = [(point, embedded_of(point.payload, path, flavour)) for point in look.points if point.vector]
    usable = [(point, text) for point, text in held if not is_blank(text)][:_TEXTS]
    if not usable:
        return False
    made = open_embedder(provider="static").embed([text for _, text in usable], input_type="search_document").vectors
    cosines = [_cosine(point.vector or (), row) for (point, _), row in zip(usable, made.tolist(), strict=True)]
    return statistics.median(cosines) >= _SAME


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = _length(one) * _length(other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def _length(vector: Iterable[float]) -> float:
    return float(sum(value * value for value in vector) ** 0.5)


__all__ = ["STATIC_MODEL", "EmbedderGuess", "guess_embedder"]
