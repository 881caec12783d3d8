"""Defects of sparse vectors: missing, or without the modifier that weights words by their rarity."""

from __future__ import annotations

import random
import re
import zlib
from collections import Counter
from dataclasses import replace

from ragval_pipeline.testing.defects.choose import choose_points, ids_of
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect

_NAME = "bm25"
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


@defect("index.no_idf", kind="points")
def no_idf(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Creates the sparse vectors of BM25 without the modifier."""
    with_sparse(corpus)
    corpus.space = replace(corpus.space, idf=False)
    return Planted("index.no_idf", frozenset({_NAME}))


def with_sparse(corpus: Corpus) -> None:
    """Give every point of a corpus a sparse vector of BM25, unless they have one."""
    if corpus.space.sparse is not None:
        return
    corpus.space = replace(corpus.space, sparse=_NAME)
    for point in corpus.points:
        point.sparse = bm25(corpus.embedded(point))


def bm25(text: str) -> dict[int, float]:
    """The words of a text, weighted as BM25 does."""
    words = Counter(zlib.crc32(word.encode()) for word in re.findall(r"\w+", text.casefold()))
    bound = _K * (1 - _B + _B * words.total() / _USUAL)
    return {word: count * (_K + 1) / (count + bound) for word, count in words.items()}
