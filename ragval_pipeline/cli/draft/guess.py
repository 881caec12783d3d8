"""Guessing the embedder of a collection from names, dimensions and, if that is free, from its vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragval_pipeline.cli.checkup.embedder import stored_models
from ragval_pipeline.lazy import np
from ragval_pipeline.sources.embedders.models import (
    KNOWN_MODELS,
    STATIC_DIMENSION,
    ModelFacts,
    facts_of,
    known_limit,
)
from ragval_pipeline.validation.first_look.embedded import alone, reproduce
from ragval_pipeline.validation.first_look.points import Look

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Reader
    from ragval_pipeline.suite.profiles.base import Profile

#: The most used models of each dimension; the first is proposed.
_USUAL = {
    384: ("all-minilm-l6-v2", "bge-small-en-v1.5", "multilingual-e5-small", "embed-english-light-v3.0"),
    512: ("text-embedding-3-small", "voyage-3-lite"),
    768: ("all-mpnet-base-v2", "bge-base-en-v1.5", "nomic-embed-text-v1.5", "multilingual-e5-base"),
    1024: ("embed-english-v3.0", "embed-multilingual-v3.0", "voyage-3.5", "bge-m3", "mxbai-embed-large-v1"),
    1536: ("text-embedding-3-small", "text-embedding-ada-002", "embed-v4.0"),
    3072: ("text-embedding-3-large",),
    4096: ("embed-english-v2.0",),
}
#: Models listed.
_NAMED = 4


@dataclass(frozen=True)
class EmbedderGuess:
    """How the collection was probably embedded.

    Attributes:
        provider: A known provider, or None if it must be the user's own.
        model: Name of the model; None: the provider's only one.
        why: The basis of the guess.
        sure: Whether it was verified, or named in the collection.
        stored: The model named in the payload, if the vectors are from another one.
        embedded_text: The template of ``payload.embedded_text``, if more than the text was embedded.
        text: Payload name of the embedded texts, if they are parts of those first taken for the text.
        may_read_more: Whether another model that it may be reads more tokens.
        unused: Whether nothing is embedded, because the collection has no dense vector.
    """

    provider: str | None
    model: str | None
    why: str
    sure: bool
    stored: str | None = None
    embedded_text: str | None = None
    text: str | None = None
    may_read_more: bool = False
    unused: bool = False

    @property
    def limited_by(self) -> str | None:
        """The model whose limit applies to the chunks."""
        return self.stored or self.model

    @property
    def limit(self) -> int | None:
        """Input limit of this model in tokens, if known."""
        return None if self.limited_by is None else known_limit(self.limited_by)

    def of_text(self, path: str) -> EmbedderGuess:
        """The same, where the field with what was embedded is not that of the texts."""
        template = alone(path) if self.embedded_text is None else self.embedded_text.replace("{text}", alone(path))
        return replace(self, embedded_text=template)


def guess_embedder(
    look: Look,
    vector: VectorFacts,
    fields: dict[str, str],
    flavour: str | None,
    reader: Reader,
    profile: Profile | None = None,
) -> EmbedderGuess:
    """The embedder of a collection; with a profile, its model is the likeliest of those with this dimension.

    A few vectors are read if they have the static embedder's dimension.
    """
    names = stored_models(look, fields.get("model"))
    others = [path for path in look.texts if path not in fields.values()]
    static = _static(reader, fields, flavour, others) if vector.size == STATIC_DIMENSION else None
    if static is not None:
        named = next((name for name in names if known_limit(name) is not None), None)
        return replace(static, stored=named)
    for name in names:
        facts = facts_of(name)
        if facts is not None and facts.gives(vector.size):
            return _proposed(facts, name, f"the collection says {name}", sure=True)
    if names:
        return EmbedderGuess(None, names[0], f"the collection says {names[0]}", sure=True)
    usual = _USUAL.get(vector.size)
    if usual is None:
        shortened = [
            name for name, facts in KNOWN_MODELS.items() if facts.gives(vector.size) and facts.maker != "static"
        ]
        only = f"no model known to ragval has {vector.size} dimensions by default"
        can = f", as {', '.join(shortened[:_NAMED])} can be" if shortened else ""
        return EmbedderGuess(None, None, f"{only}{can}", sure=False)
    of_profile = None if profile is None else profile.settings["embedding"]["model"]
    usual = tuple(sorted(usual, key=lambda name: name != of_profile))
    evidence = f"the profile and {vector.size}" if usual[0] == of_profile else str(vector.size)
    also = f", which these models also have: {', '.join(usual[1:])}" if usual[1:] else ""
    why = f"guessed from {evidence} dimensions{also}"
    guess = _proposed(KNOWN_MODELS[usual[0]], usual[0], why, sure=False)
    limit = guess.limit
    more = limit is not None and any((known_limit(name) or limit) > limit for name in usual[1:])
    return replace(guess, may_read_more=more and usual[0] != of_profile)


def _proposed(facts: ModelFacts, name: str, why: str, *, sure: bool) -> EmbedderGuess:
    """The guess of a known model, under its provider's name."""
    known = next(each for each, row in KNOWN_MODELS.items() if row is facts)
    if facts.maker == "open":
        return EmbedderGuess("sentence-transformers", facts.tokenizer or name, why, sure)
    return EmbedderGuess(facts.maker, None if facts.maker == "static" else known, why, sure)


def _static(
    reader: Reader, fields: Mapping[str, str], flavour: str | None, others: Sequence[str]
) -> EmbedderGuess | None:
    """The offline embedder, if it gives the stored vectors, and for which texts."""
    from ragval_pipeline.sources.embedders.opening import open_embedder

    embedder = open_embedder(provider="static")

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return embedder.embed(texts, input_type="search_document").vectors

    points = [point for point in next(iter(reader.pages(None, with_vectors=True)), []) if point.vector]
    found = reproduce(points, fields, flavour, others, embed)
    if found is None:
        return None
    how = f", {found.means}," if found.means else ""
    part = "" if found.most else f" of {found.exact} of {found.texts} texts"
    why = f"embedding stored texts again{how} reproduced the stored vectors{part}"
    return EmbedderGuess("static", None, why, sure=True, embedded_text=found.template, text=found.piece)
