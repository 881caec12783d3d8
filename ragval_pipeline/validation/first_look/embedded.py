"""What was embedded: the way of embedding stored texts again that gives their stored vectors."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.sources.snapshot.embedded import Template, embedded_of, fields_read
from ragval_pipeline.suite.payload import OF_PAYLOAD
from ragval_pipeline.text.characters import is_blank
from ragval_pipeline.validation.first_look.points import value_of
from ragval_pipeline.validation.thresholds import FEWEST, MATCH, MOST, NOISE
from ragval_pipeline.validation.vectors.comparison import unit_rows
from ragval_pipeline.validation.vectors.trials import JOINTS, VARIANTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragval_pipeline.sources.stores.qdrant.protocol import Point

#: Embeds texts as documents; vectors of shape (texts, dimension).
Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
#: Texts embedded again: enough to recognise a common prefix.
_TEXTS = 20  # work


@dataclass(frozen=True)
class Reproduced:
    """How an embedder gives the stored vectors.

    Attributes:
        exact: Texts whose vectors it gives exactly.
        texts: Texts embedded again.
        most: Whether it gives those of most of them.
        template: The template of ``payload.embedded_text``, if more than the text was embedded.
        means: What the template embeds, if there is one.
        piece: Payload name of the embedded texts, if they are parts of those taken for the text.
    """

    exact: int
    texts: int
    most: bool
    template: str | None = None
    means: str = ""
    piece: str | None = None


def reproduce(
    points: Sequence[Point], fields: Mapping[str, str], flavour: str | None, others: Sequence[str], embed: Embed
) -> Reproduced | None:
    """Embed some texts again in all usual ways.

    Args:
        points: With their vectors.
        fields: Payload names by canonical name.
        flavour: The framework that stored them, if known.
        others: Payload names of further texts.
        embed: The embedder that is tried.

    Returns:
        The best way; None if it gives hardly any of the vectors, or no point has a text.
    """
    path = fields.get("text")
    texts = [embedded_of(point.payload, path, flavour) for point in points]
    lacking = [sum(value_of(point, path) is None for path in fields.values()) for point in points]
    # A prefix hardly shows in long texts, or if it is empty.
    usable = [place for place, text in enumerate(texts) if not is_blank(text)]
    usable = sorted(usable, key=lambda at: (lacking[at], len(texts[at])))[:_TEXTS]
    if not usable:
        return None
    tried = [points[place] for place in usable]
    plain = [texts[place] for place in usable]
    ways: dict[tuple[str, str] | None, list[float]] = {None: _cosines(tried, plain, embed)}
    # A framework's prefix is known.
    for way in () if fields_read(flavour) else _templates(others):
        template = Template(way[0], fields)
        with_more = [template.of(point.payload) or "" for point in tried]
        if with_more != plain:
            ways[way] = _cosines(tried, with_more, embed)
    best = max(ways, key=lambda way: _fit(ways[way], NOISE * (way is not None)))
    exact, _ = _fit(ways[best], 0)
    most = statistics.median(ways[best]) >= MATCH
    # No vector of another model is equal to that of its text: those that differ are wrong, or of another model.
    if not most and exact < FEWEST:
        return None
    embedded, means = best or (None, "")
    piece = next((name for name in others if embedded == alone(name)), None)
    in_text = [str(lookup(point.payload, piece)[1]) in text for point, text in zip(tried, plain, strict=True) if piece]
    # The chunk of a sentence window is the sentence, shown with its window; a question is not part of its answer.
    if sum(in_text) > MOST * len(in_text):
        return Reproduced(exact, len(tried), most, None, means, piece)
    return Reproduced(exact, len(tried), most, embedded, means)


def _templates(others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Templates of what may have been embedded instead of the text, and their meaning."""
    for variant in VARIANTS:
        if variant.template is not None:
            yield variant.template, variant.means
    for name in others:
        yield alone(name), f"{name} instead of each text"
        for joint in JOINTS:
            yield f"{alone(name)}{joint}{{text}}", f"with {name} in front of each text"


def alone(name: str) -> str:
    """The template of another text of the payload instead of the text."""
    return f"{{{OF_PAYLOAD}{name}}}"


def _fit(cosines: Sequence[float], less: float) -> tuple[int, float]:
    """How well a template explains the vectors: how many exactly, then similarity to the others."""
    return sum(cosine >= 1 - NOISE for cosine in cosines), statistics.median(cosines) - less


def _cosines(points: Sequence[Point], texts: Sequence[str], embed: Embed) -> list[float]:
    """Cosines of the vectors of some points with those of texts."""
    stored = unit_rows(np.array([point.vector for point in points], dtype=np.float64))
    cosines: list[float] = np.einsum("ij,ij->i", stored, unit_rows(embed(texts))).tolist()
    return cosines
