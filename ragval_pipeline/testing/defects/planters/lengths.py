"""Defects of length: chunks that are too long for their model or too short for anything, wrong token counts."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ragval_pipeline.testing.defects.choose import choose_pages, choose_points
from ragval_pipeline.testing.defects.corpus import Corpus, StoredPoint
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect
from ragval_pipeline.testing.defects.rewrite import rewrite

_LEFT_WORDS = 4


@defect(
    "chunk.over_model_limit",
    kind="points",
    describe="Joins all chunks of a page but the last, and gives the model a limit that no other chunk reaches.",
)
def over_model_limit(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    limit = _limit_of_the_longest(corpus)
    indexed = corpus.pages()
    pages = choose_pages(
        corpus, amount, rng, min_chunks=3, suits=lambda url: _tokens(corpus, indexed[url][:-1]) > 1.1 * limit
    )
    joined = [_join(corpus, indexed[url], indexed[url][:-1]) for url in pages]
    return Planted("chunk.over_model_limit", frozenset(str(point.id) for point in joined))


@defect(
    "chunk.one_per_page",
    kind="points",
    describe="Joins all chunks of every page, and gives the model a limit that single chunks had kept.",
)
def one_per_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    limit = _limit_of_the_longest(corpus)
    # A page that another defect has put under two addresses, or cut, cannot be one chunk as well.
    scope = set(corpus.scope_urls) - corpus.spoilt
    joined = [_join(corpus, page, page) for url, page in corpus.pages().items() if url in scope and len(page) > 1]
    pages = [corpus.get(point, "source_url") for point in joined if _tokens(corpus, [point]) > limit]
    return Planted("chunk.one_per_page", frozenset(pages))


@defect("chunk.too_small", kind="points", describe="Cuts a chunk down to its last four words.")
def too_small(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    ends = [_end(corpus.text(point)) for point in corpus.points]
    points = choose_points(corpus, amount, rng, suits=lambda point: ends.count(_end(corpus.text(point))) == 1)
    rewrite(corpus, [(point, _end(corpus.text(point))) for point in points])
    return Planted("chunk.too_small", frozenset(str(point.id) for point in points))


@defect("chunk.token_count_off", kind="points", describe="Multiplies the token count of a point by 5.")
def token_count_off(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    points = choose_points(corpus, amount, rng, suits=lambda point: (corpus.get(point, "token_count") or 0) > 3)
    for point in points:
        corpus.put(point, "token_count", 5 * corpus.get(point, "token_count"))
    return Planted("chunk.token_count_off", frozenset(str(point.id) for point in points))


def _limit_of_the_longest(corpus: Corpus) -> int:
    limit = max(corpus.get(point, "token_count") or 0 for point in corpus.points)
    corpus.settings["embedding"]["max_input_tokens"] = limit
    return int(limit)


def _tokens(corpus: Corpus, points: Sequence[StoredPoint]) -> int:
    return sum(corpus.get(point, "token_count") or 0 for point in points)


def _join(corpus: Corpus, page: Sequence[StoredPoint], points: Sequence[StoredPoint]) -> StoredPoint:
    """Put the text of some points of a page into the first of them."""
    rewrite(corpus, [(points[0], "\n".join(corpus.text(point) for point in points))])
    gone = {id(point) for point in points[1:]}
    corpus.points = [point for point in corpus.points if id(point) not in gone]
    numbered = corpus.holds("chunk_index")
    for index, point in enumerate([points[0], *page[len(points) :]] if numbered else ()):
        corpus.put(point, "chunk_index", index)
    return points[0]


def _end(text: str) -> str:
    end = " ".join(text.split()[-_LEFT_WORDS:])
    # Without blanks a character says as much as half a word.
    return end[-30:] if end.isascii() else end[-12:]
