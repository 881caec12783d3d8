"""Stored sparse vectors compared with those of the stored texts, computed again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from ragval_pipeline.lazy import np
from ragval_pipeline.sources.embedders.sparse import Encode, TextRow, choose_model
from ragval_pipeline.validation.sparse.vectors import Compared, Held, K, Look
from ragval_pipeline.validation.thresholds import FEWEST, MATCH, MOST, WHOLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

Weights = Mapping[int, float]
#: The share of the length, and the usual length in words, as fastembed sets them.
B, USUAL = 0.75, 256  # definition
#: Texts by which the language is chosen, and texts computed at a time.
_TRIED, _AT_ONCE = 64, 512  # work


def compare_counts(
    held: Held, texts: Callable[[], Iterable[TextRow]], models: Iterable[tuple[str, Encode]]
) -> Compared | None:
    """Compare with BM25, of a language that is found out; None if fastembed's words do not explain the vectors.

    Stop words are unknown: they are those that most vectors of texts with them lack. Weights are compared if most
    vectors have those of fastembed's usual settings.
    """
    sample = list(islice((row for row in texts() if held.has(row[0])), _TRIED))
    if not sample:
        return None
    chosen = choose_model({name: held.row(name).keys() for name, _, _ in sample}, sample, models)
    if chosen is None:
        return None
    language, encode, place = chosen
    packed = {name: _packed(counts) for name, counts in _encoded(texts(), encode, place, held)}
    left_out = _left_out(packed, held)
    shapes, weighted = dict[str, float](), dict[str, tuple[float, float]]()
    for name, counts in packed.items():
        stored = {index: weight for index, weight in held.row(name).items() if index not in left_out}
        known = {index: count for index, count in _unpacked(counts) if index not in left_out}
        shapes[name] = _cosine(dict.fromkeys(stored, 1.0), dict.fromkeys(known, 1.0))
        weighted[name] = _compared(stored, _bm25(known))
    usual = [name for name, (cosine, ratio) in weighted.items() if _is_same(cosine, ratio)]
    if len(usual) >= (1 - WHOLE) * len(shapes):
        return Compared(len(shapes), language, _wrong(weighted))
    wrong: dict[str, tuple[Look, float]] = {name: ("text", cosine) for name, cosine in shapes.items() if cosine < MATCH}
    # Other words in nearly all vectors are those of another tokenizer, of which nothing is known.
    return Compared(len(shapes), language, wrong) if len(wrong) < WHOLE * len(shapes) else None


#: Indices and counts of a text's words.
_Packed = tuple["NDArray[np.uint32]", "NDArray[np.float32]"]


def _packed(counts: Weights) -> _Packed:
    return np.array(list(counts), dtype=np.uint32), np.array(list(counts.values()), dtype=np.float32)


def _unpacked(counts: _Packed) -> Iterator[tuple[int, float]]:
    return zip(counts[0].tolist(), counts[1].tolist(), strict=True)


def _left_out(found: Mapping[str, _Packed], held: Held) -> frozenset[int]:
    """The words that no vector has, and those that most vectors of texts with them lack, if these are a few.

    A stop word may have the index of a word that is none: "other" and "others". Vectors with a word that their text
    lacks are those of other texts, and show nothing.
    """
    having, lacking, anywhere = Counter[int](), Counter[int](), set[int]()
    for name, (indices, _) in found.items():
        words, stored = indices.tolist(), held.row(name).keys()
        anywhere.update(stored)
        if stored <= set(words):
            having.update(words)
            lacking.update(word for word in words if word not in stored)
    return frozenset(
        index
        for index, count in lacking.items()
        if index not in anywhere or (having[index] >= FEWEST and count > MOST * having[index])
    )


def compare_weights(held: Held, texts: Callable[[], Iterable[TextRow]], encode: Encode) -> Compared:
    """Compare with the vectors of the user's own model: of the embedded texts, if they are not the stored ones."""
    found = {name: _compared(held.row(name), weights) for name, weights in _encoded(texts(), encode, 2, held)}
    return Compared(len(found), None, _wrong(found))


def _wrong(found: Mapping[str, tuple[float, float]]) -> dict[str, tuple[Look, float]]:
    return {
        name: ("text" if cosine < MATCH else "weights", cosine)
        for name, (cosine, ratio) in found.items()
        if not _is_same(cosine, ratio)
    }


def _is_same(cosine: float, ratio: float) -> bool:
    return cosine >= MATCH and abs(ratio - 1) <= 1 - MATCH


def _encoded(rows: Iterable[TextRow], encode: Encode, place: int, held: Held) -> Iterator[tuple[str, dict[int, float]]]:
    coming = ((row[0], row[place] or row[1] or "") for row in rows if held.has(row[0]))
    while some := list(islice(coming, _AT_ONCE)):
        yield from zip((name for name, _ in some), encode([text for _, text in some]), strict=True)


def _bm25(counts: Weights) -> dict[int, float]:
    bound = K * (1 - B + B * sum(counts.values()) / USUAL)
    return {index: count * (K + 1) / (count + bound) for index, count in counts.items()}


def _compared(stored: Weights, computed: Weights) -> tuple[float, float]:
    """The cosine of two vectors, and the ratio of their lengths."""
    length = _length(computed)
    return _cosine(stored, computed), _length(stored) / length if length else math.inf


def _cosine(one: Weights, other: Weights) -> float:
    lengths = _length(one) * _length(other)
    return sum(weight * other.get(index, 0.0) for index, weight in one.items()) / lengths if lengths else 0.0


def _length(vector: Weights) -> float:
    return math.sqrt(sum(weight * weight for weight in vector.values()))
