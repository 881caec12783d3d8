"""Guessing the embedder of a collection from names, sizes and, where that costs nothing, from its vectors."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.cli.checkup.embedder import stored_models
from ragval_pipeline.cli.looking import Look
from ragval_pipeline.sources.embedders.models import STATIC_DIMENSION, STATIC_MODEL, facts_of, known_limit
from ragval_pipeline.sources.snapshot.embedded import embedded_of
from ragval_pipeline.text.characters import is_blank

if TYPE_CHECKING:
    from ragval_pipeline.sources.qdrant.facts import VectorFacts
    from ragval_pipeline.sources.qdrant.reader import Reader

#: Models of each size as provider and model, those first that collections of this size are made with most.
_USUAL: dict[int, tuple[tuple[str, str], ...]] = {
    384: (
        ("sentence-transformers", "sentence-transformers/all-MiniLM-L6-v2"), ("fastembed", "BAAI/bge-small-en-v1.5"),
        ("sentence-transformers", "intfloat/multilingual-e5-small"), ("cohere", "embed-english-light-v3.0"),
    ),
    512: (("openai", "text-embedding-3-small"), ("voyage", "voyage-3-lite")),
    768: (
        ("sentence-transformers", "sentence-transformers/all-mpnet-base-v2"),
        ("sentence-transformers", "BAAI/bge-base-en-v1.5"), ("sentence-transformers", "nomic-ai/nomic-embed-text-v1.5"),
        ("sentence-transformers", "intfloat/multilingual-e5-base"),
    ),
    1024: (
        ("cohere", "embed-english-v3.0"), ("cohere", "embed-multilingual-v3.0"), ("voyage", "voyage-3.5"),
        ("sentence-transformers", "BAAI/bge-m3"), ("sentence-transformers", "mixedbread-ai/mxbai-embed-large-v1"),
        ("sentence-transformers", "intfloat/multilingual-e5-large"),
    ),
    1536: (("openai", "text-embedding-3-small"), ("openai", "text-embedding-ada-002"), ("cohere", "embed-v4.0")),
    3072: (("openai", "text-embedding-3-large"),),
    4096: (("cohere", "embed-english-v2.0"),),
}  # fmt: skip
#: How stored names of models begin, and who serves them; other names are taken for open weights.
_MAKERS = (
    ("embed-", "cohere"),
    ("text-embedding-3", "openai"),
    ("text-embedding-ada", "openai"),
    ("voyage-", "voyage"),
)
#: How the names of common open models read.
_OPEN = ("minilm", "mpnet", "bge-", "e5-", "gte-", "mxbai", "nomic-embed", "arctic-embed", "jina-embeddings")
_TEXTS = 5
_SAME = 0.99


@dataclass(frozen=True)
class EmbedderGuess:
    """How the collection was probably embedded.

    Args:
        provider: A provider that ragval knows, or null when it must be the user's own.
        model: Name of the model; null: the provider's only one.
        why: What the guess rests on.
        sure: Whether it was tried out, or a name says so.
        others: Models that are as long: who guesses names them.
    """

    provider: str | None
    model: str | None
    why: str
    sure: bool
    others: tuple[str, ...] = ()

    @property
    def limit(self) -> int | None:
        """Tokens that the model reads of one text, where that is known."""
        return None if self.model is None else known_limit(self.model)


def guess_embedder(
    look: Look, vector: VectorFacts, fields: dict[str, str], flavour: str | None, reader: Reader
) -> EmbedderGuess:
    """The embedder of a collection.

    Args:
        look: The collection.
        vector: The vector that searches use.
        fields: The field map found.
        flavour: The framework that wrote the points, if one did.
        reader: Reads a few vectors, when they have the static embedder's size.
    """
    if vector.size == STATIC_DIMENSION and _is_static(reader, fields.get("text"), flavour):
        return EmbedderGuess("static", None, "embedding stored texts again gave the stored vectors", sure=True)
    names = stored_models(look, fields.get("model"))
    known = [guess for name in names if (guess := _named(name, vector.size)) is not None]
    if known:
        return known[0]
    if names:
        return EmbedderGuess(None, names[0], f"the collection says {names[0]}", sure=True)
    usual = _USUAL.get(vector.size, ())
    if not usual:
        return EmbedderGuess(None, None, f"no model that ragval knows makes {vector.size} dimensions", sure=False)
    (provider, model), others = usual[0], tuple(model.rpartition("/")[2] for _, model in usual[1:])
    also = f"; so have {', '.join(others)}" if others else ""
    return EmbedderGuess(provider, model, f"guessed from {vector.size} dimensions{also}", sure=False, others=others)


def _named(name: str, size: int) -> EmbedderGuess | None:
    """The guess from a stored name; null when nothing is known of it or its vectors have another size."""
    facts, last = facts_of(name), name.strip().lower().rpartition("/")[2].rpartition("cohere.")[2]
    if facts is not None and size not in facts.dimensions:
        return None
    provider = next((maker for start, maker in _MAKERS if last.startswith(start)), None)
    if provider is None and any(part in last for part in _OPEN):
        provider = "sentence-transformers"
    if provider is None:
        return None
    model = name.strip() if provider != "cohere" else _cohere_name(last)
    return EmbedderGuess(provider, model, f"the collection says {name}", sure=True)


def _cohere_name(name: str) -> str:
    """As Cohere's own API names it: clouds leave the last digit out."""
    facts = facts_of(name)
    return f"{name}.0" if facts is not None and facts is facts_of(f"{name}.0") else name


def _is_static(reader: Reader, path: str | None, flavour: str | None) -> bool:
    """Whether the offline embedder, which costs nothing, gives the stored vectors."""
    from ragval_pipeline.sources.embedders import open_embedder

    points = next(iter(reader.pages(None, with_vectors=True)), [])
    held = [(point, embedded_of(point.payload, path, flavour)) for point in points if point.vector]
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
