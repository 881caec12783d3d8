"""Defects of vectors: missing, zero, copied, swapped, of another model, of another text than the stored one."""

from __future__ import annotations

import datetime as dt
import random
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.lazy import np
from ragval_pipeline.testing.defects.choose import choose_points, ids_of
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import HALF, ONE, TENTH, Amount, Planted, defect
from ragval_pipeline.testing.defects.store import StoredPoint

Vectors = list[list[float]]

#: Vectors closer than this are not swapped: texts and search results would be nearly the same.
_ALIKE = 0.9
#: Cosine below which the vector of an older wording does not match the text any more.
_CHANGED = 0.98
_THIRD = Amount(share=1 / 3)
_OTHER_MODEL = "hashed-words-v2"


@defect("vector.zero", kind="points")
def zero(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Overwrites the vector of a point with zeros."""
    points = choose_points(corpus, amount, rng)
    for point in points:
        point.vector = [0.0] * corpus.space.size
    return Planted("vector.zero", ids_of(points))


@defect("vector.missing", kind="points")
def missing(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Names the vectors, and stores a point without that vector."""
    points = choose_points(corpus, amount, rng)
    corpus.space = replace(corpus.space, name="text")
    corpus.settings["qdrant"]["vector_name"] = "text"
    for point in points:
        point.vector = None
    return Planted("vector.missing", ids_of(points))


@defect("vector.identical", kind="points")
def copied(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Copies the vector of a point to a point with another text."""
    pairs = _pairs(corpus, amount, rng)
    for source, target in pairs:
        target.vector = source.vector
    return Planted("vector.identical", ids_of(point for pair in pairs for point in pair))


@defect("vector.swapped", kind="points")
def swapped(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Swaps the vectors of two points."""
    pairs = _pairs(corpus, amount, rng)
    for first, second in pairs:
        first.vector, second.vector = second.vector, first.vector
    return Planted("vector.swapped", ids_of(point for pair in pairs for point in pair))


@defect("vector.swapped", kind="points", variant="shifted", amounts=(TENTH, HALF))
def shifted(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives each of some points the vector of the next one, as after an off-by-one error."""
    points = _ring([point for pair in _pairs(corpus, amount, rng) for point in pair])
    vectors = [point.vector for point in points]
    for point, vector in zip(points, [*vectors[1:], vectors[0]], strict=True):
        point.vector = vector
    return Planted("vector.swapped", ids_of(points))


@defect("vector.model_mismatch", kind="points")
def other_model(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Embeds the whole collection with another model of the same dimension."""
    return _re_embedded(corpus, lambda points: _rotated(corpus, points))


@defect("vector.model_mismatch", kind="points", variant="named")
def other_named_model(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Embeds the whole collection with another model, named in the payload."""
    for point in corpus.points:
        corpus.put(point, "model", _OTHER_MODEL)
    return _re_embedded(corpus, lambda points: _hashed_words(corpus, points))


@defect("vector.model_mismatch", kind="points", variant="title")
def with_title(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Embeds the whole collection with the page title before each text, which is not stored."""
    texts = [f"{corpus.get(point, 'title')}\n\n{corpus.embedded(point)}" for point in corpus.points]
    return _re_embedded(corpus, lambda _: corpus.embed(texts))


@defect("vector.model_mismatch", kind="points", variant="truncated")
def cut_off(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Truncates texts to half the usual length before embedding, as a model with a short input does."""
    texts = [corpus.embedded(point) for point in corpus.points]
    limit = sorted(map(len, texts))[len(texts) // 2] // 2
    return _re_embedded(corpus, lambda _: corpus.embed([text[:limit] for text in texts]))


@defect("vector.mixed_models", kind="points", amounts=(TENTH, _THIRD, HALF))
def mixed(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Embeds part of the points with another model of the same dimension."""
    points = _population(corpus, amount, rng)
    for point, vector in zip(points, _rotated(corpus, points), strict=True):
        point.vector = vector
    return Planted("vector.mixed_models", ids_of(points))


@defect("vector.mixed_models", kind="points", variant="dated", amounts=(_THIRD,))
def mixed_earlier(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Leaves part of the points as embedded by an earlier ingestion, with another model that they name."""
    points = _population(corpus, amount, rng)
    for point, vector in zip(points, _hashed_words(corpus, points), strict=True):
        point.vector = vector
        corpus.put(point, "model", _OTHER_MODEL)
        _a_minute_before(corpus, point)
    return Planted("vector.mixed_models", ids_of(points))


@defect("vector.text_mismatch", kind="points")
def noise(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Overwrites the vector of a point with noise."""
    points = choose_points(corpus, amount, rng)
    for point in points:
        point.vector = [rng.gauss(0.0, 1.0) for _ in range(corpus.space.size)]
    return _mismatched(points)


@defect("vector.text_mismatch", kind="points", variant="older_text")
def older_text(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Leaves a point with the vector of an older wording, as when only text and page are updated."""
    older = dict(zip((str(point.id) for point in corpus.points), corpus.embed(_reworded(corpus, rng)), strict=True))
    points = choose_points(
        corpus, amount, rng, suits=lambda point: _cosine(point.vector, older[str(point.id)]) < _CHANGED
    )
    for point in points:
        point.vector = older[str(point.id)]
    return _mismatched(points)


@defect("vector.text_mismatch", kind="points", variant="another_model", amounts=(ONE, Amount(count=2)))
def other_model_for_a_few(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Embeds one or two points with another model of the same dimension."""
    points = choose_points(corpus, amount, rng)
    for point, vector in zip(points, _rotated(corpus, points), strict=True):
        point.vector = vector
    return _mismatched(points)


@defect("vector.text_mismatch", kind="points", variant="another_point")
def vector_of_another_point(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Writes the vector of another point, at half precision, to a point."""
    pairs = _pairs(corpus, amount, rng)
    for source, target in pairs:
        target.vector = np.array(source.vector, dtype=np.float16).tolist()
    return _mismatched([target for _, target in pairs])


def _mismatched(points: Iterable[StoredPoint]) -> Planted:
    return Planted("vector.text_mismatch", ids_of(points))


def _reworded(corpus: Corpus, rng: random.Random) -> list[str]:
    """The text of each point with every third word replaced by other words of the corpus."""
    texts = [corpus.embedded(point).split(" ") for point in corpus.points]
    words = [word for text in texts for word in text]
    return [" ".join(word if place % 3 else rng.choice(words) for place, word in enumerate(text)) for text in texts]


def _re_embedded(corpus: Corpus, embed: Callable[[Sequence[StoredPoint]], Vectors]) -> Planted:
    for point, vector in zip(corpus.points, embed(corpus.points), strict=True):
        point.vector = vector
    return Planted("vector.model_mismatch", frozenset({corpus.collection}))


def _population(corpus: Corpus, amount: Amount, rng: random.Random) -> list[StoredPoint]:
    """Points for another model: enough to be a part of the collection."""
    points = choose_points(corpus, amount if amount.share is not None else _THIRD, rng)
    if len(points) < 3:
        raise NothingToSpoilError("the corpus is too small to hold points of two models")
    return points


def _pairs(corpus: Corpus, amount: Amount, rng: random.Random) -> list[tuple[StoredPoint, StoredPoint]]:
    """Pairs of points with different texts and vectors."""
    texts: dict[str, int] = {}
    for point in corpus.points:
        text = corpus.embedded(point)
        texts[text] = texts.get(text, 0) + 1
    wanted = amount if amount.count is None else Amount(count=2 * amount.count)
    points = choose_points(corpus, wanted, rng, suits=lambda point: texts[corpus.embedded(point)] == 1)
    pairs, waiting = [], points
    while len(waiting) > 1:
        first, *others = waiting
        partner = next((other for other in others if not _alike(first.vector, other.vector)), None)
        waiting = [other for other in others if other is not partner]
        if partner is not None:
            pairs.append((first, partner))
    if not pairs:
        raise NothingToSpoilError("the corpus holds no two points whose vectors could be told apart")
    return pairs


def _ring(points: list[StoredPoint]) -> list[StoredPoint]:
    """The points in id order, without those similar to the previous one."""
    ring: list[StoredPoint] = []
    for point in sorted(points, key=lambda point: str(point.id)):
        if not ring or not _alike(ring[-1].vector, point.vector):
            ring.append(point)
    while len(ring) > 1 and _alike(ring[-1].vector, ring[0].vector):
        ring.pop()
    return ring


def _alike(first: list[float] | None, second: list[float] | None) -> bool:
    return _cosine(first, second) >= _ALIKE


def _cosine(first: list[float] | None, second: list[float] | None) -> float:
    return sum(a * b for a, b in zip(first or (), second or (), strict=True))


def _rotated(corpus: Corpus, points: Sequence[StoredPoint]) -> Vectors:
    """Another model: the same meaning in another vector space."""
    size = corpus.space.size
    rotation, _ = np.linalg.qr(np.random.default_rng(size).standard_normal((size, size)))
    held = np.array(corpus.embed([corpus.embedded(point) for point in points]))
    turned: Vectors = (held @ rotation).tolist()
    return turned


def _hashed_words(corpus: Corpus, points: Sequence[StoredPoint]) -> Vectors:
    """Another model: one direction per word."""
    rows = np.zeros((len(points), corpus.space.size))
    for row, point in zip(rows, points, strict=True):
        for word in re.findall(r"\w+", corpus.embedded(point).lower()):
            number = zlib.crc32(word.encode())
            row[number % len(row)] += 1 if number >> 16 & 1 else -1
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    hashed: Vectors = np.divide(rows, norms, out=np.full_like(rows, 1.0), where=norms > 0).tolist()
    return hashed


def _a_minute_before(corpus: Corpus, point: StoredPoint) -> None:
    embedded = dt.datetime.fromisoformat(str(corpus.get(point, "embedded_at"))) - dt.timedelta(minutes=1)
    corpus.put(point, "embedded_at", f"{embedded:%Y-%m-%dT%H:%M:%SZ}")
