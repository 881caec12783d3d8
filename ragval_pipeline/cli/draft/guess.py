"""Guessing the embedder of a collection from names, dimensions and, if that is free, from its vectors."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragval_pipeline.cli.checkup.embedder import stored_models
from ragval_pipeline.cli.looking import Look, value_of
from ragval_pipeline.lazy import np
from ragval_pipeline.sources.embedders.models import (
    KNOWN_MODELS,
    STATIC_DIMENSION,
    ModelFacts,
    facts_of,
    known_limit,
)
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.snapshot.embedded import Template, embedded_of, fields_read
from ragval_pipeline.suite.payload import OF_PAYLOAD
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.thresholds import FEWEST, MOST, NOISE
from ragval_pipeline.validation.vectors.trials import JOINTS, VARIANTS

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
    from ragval_pipeline.sources.stores.qdrant.protocol import Point, Reader
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
#: Texts re-embedded: enough to recognise a common prefix.
_TEXTS = 20  # work
_SAME = 0.99
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
        template = _alone(path) if self.embedded_text is None else self.embedded_text.replace("{text}", _alone(path))
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
    points = [point for point in next(iter(reader.pages(None, with_vectors=True)), []) if point.vector]
    path = fields.get("text")
    texts = [embedded_of(point.payload, path, flavour) for point in points]
    lacking = [sum(value_of(point, path) is None for path in fields.values()) for point in points]
    # A prefix hardly shows in long texts, or if it is empty.
    usable = [place for place, text in enumerate(texts) if not is_blank(text)]
    usable = sorted(usable, key=lambda at: (lacking[at], len(texts[at])))[:_TEXTS]
    if not usable:
        return None
    tried = [points[place] for place in usable]
    said = [texts[place] for place in usable]
    ways: dict[tuple[str, str] | None, list[float]] = {None: _cosines(tried, said)}
    # A framework's prefix is known.
    for way in () if fields_read(flavour) else _templates(others):
        template = Template(way[0], fields)
        with_more = [template.of(point.payload) or "" for point in tried]
        if with_more != said:
            ways[way] = _cosines(tried, with_more)
    best = max(ways, key=lambda way: _fit(ways[way], NOISE * (way is not None)))
    exact, _ = _fit(ways[best], 0)
    most = statistics.median(ways[best]) >= _SAME
    # No vector of another model is equal to that of its text: those that differ are wrong, or of another model.
    if not most and exact < FEWEST:
        return None
    embedded, how = (best[0], f", {best[1]},") if best else (None, "")
    of = "" if most else f" of {exact} of {len(tried)} texts"
    why = f"embedding stored texts again{how} reproduced the stored vectors{of}"
    guess = EmbedderGuess("static", None, why, sure=True, embedded_text=embedded)
    piece = next((name for name in others if embedded == _alone(name)), None)
    in_text = [str(lookup(point.payload, piece)[1]) in text for point, text in zip(tried, said, strict=True) if piece]
    # The chunk of a sentence window is the sentence, shown with its window; a question is not part of its answer.
    return replace(guess, embedded_text=None, text=piece) if piece and sum(in_text) > MOST * len(in_text) else guess


def _templates(others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Templates of what may have been embedded instead of the text, and their meaning."""
    for variant in VARIANTS:
        if variant.template is not None:
            yield variant.template, variant.means
    for name in others:
        yield _alone(name), f"{name} instead of each text"
        for joint in JOINTS:
            yield f"{_alone(name)}{joint}{{text}}", f"with {name} in front of each text"


def _alone(name: str) -> str:
    """The template of another text of the payload instead of the text."""
    return f"{{{OF_PAYLOAD}{name}}}"


def _fit(cosines: Sequence[float], less: float) -> tuple[int, float]:
    """How well a template explains the vectors: how many exactly, then similarity to the others."""
    return sum(cosine >= 1 - NOISE for cosine in cosines), statistics.median(cosines) - less


def _cosines(points: Sequence[Point], texts: Sequence[str]) -> list[float]:
    """Cosines of the vectors of some points with the offline embedder's vectors of texts."""
    from ragval_pipeline.sources.embedders.opening import open_embedder

    made = open_embedder(provider="static").embed(texts, input_type="search_document").vectors
    stored = np.array([point.vector for point in points])
    lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(made, axis=1)
    cosines: list[float] = ((stored * made).sum(axis=1) / np.where(lengths > 0, lengths, np.inf)).tolist()
    return cosines
