"""Defects of sparse vectors: missing, or without the modifier that weights words by their rarity."""

from __future__ import annotations

import random
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.sources.embedders.sparse import Encode, knows_bm25, word_counts
from ragval_pipeline.testing.defects.choose import choose_points, ids_of
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import HALF, TENTH, Amount, Planted, defect

_NAME = "bm25"
#: A vector is swapped with another.
TWO = Amount(count=2)
#: BM25 as fastembed sets it: saturation, share of the length, usual length in words.
_K, _B, _USUAL = 1.2, 0.75, 256


@defect("sparse.missing", kind="points")
def missing(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives the points sparse vectors of BM25, all but some."""
    points = choose_points(corpus, amount, rng)
    with_sparse(corpus)
    for number, point in enumerate(points):
        point.sparse = {} if number % 2 else None
    return Planted("sparse.missing", ids_of(points), scope=_NAME)


@defect("sparse.text_mismatch", kind="points", amounts=(TWO, TENTH, HALF))
def swapped(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives the points sparse vectors of fastembed's BM25, and some the vector of another text."""
    points = choose_points(corpus, amount, rng)
    if not knows_bm25():
        raise NothingToSpoilError("sparse vectors are computed again with fastembed, which is not installed")
    with_sparse(corpus, dict(word_counts())["english"])
    others = [point.sparse for point in points]
    for point, sparse in zip(points, [*others[1:], others[0]], strict=True):
        point.sparse = sparse
    return Planted("sparse.text_mismatch", ids_of(points), scope=_NAME)


@defect("index.no_idf", kind="points")
def no_idf(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Creates the sparse vectors of BM25 without the modifier."""
    with_sparse(corpus)
    corpus.space = replace(corpus.space, idf=False)
    return Planted("index.no_idf", frozenset({_NAME}))


def with_sparse(corpus: Corpus, counted: Encode | None = None) -> None:
    """Give every point of a corpus a sparse vector of BM25, unless they have one.

    ``counted`` counts the words of texts; None: every word is its checksum.
    """
    if corpus.space.sparse is not None:
        return
    corpus.space = replace(corpus.space, sparse=_NAME)
    counts = (counted or _checksums)([corpus.embedded(point) for point in corpus.points])
    for point, words in zip(corpus.points, counts, strict=True):
        point.sparse = weighted(words)


def bm25(text: str) -> dict[int, float]:
    """The words of a text, weighted as BM25 does."""
    [words] = _checksums([text])
    return weighted(words)


def weighted(words: Mapping[int, float]) -> dict[int, float]:
    """Counts of words as weights of BM25."""
    bound = _K * (1 - _B + _B * sum(words.values()) / _USUAL)
    return {word: count * (_K + 1) / (count + bound) for word, count in words.items()}


def _checksums(texts: Sequence[str]) -> list[dict[int, float]]:
    found = ([zlib.crc32(word.encode()) for word in re.findall(r"\w+", text.casefold())] for text in texts)
    return [{word: float(count) for word, count in Counter(words).items()} for words in found]
