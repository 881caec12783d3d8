"""Defects of the chunks of a page: one missing in the middle, one stored twice."""

from __future__ import annotations

import random

from ragval_pipeline.testing.defects.choose import choose_pages, choose_points
from ragval_pipeline.testing.defects.copies import add_copies
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import Amount, Planted, defect
from ragval_pipeline.testing.defects.rewrite import rewrite


@defect("chunk.index_gap", kind="points", describe="Deletes a chunk from the middle of a page.")
def index_gap(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng, min_chunks=3)
    indexed = corpus.pages()
    gone = {rng.choice(indexed[url][1:-1]).id for url in pages}
    corpus.points = [point for point in corpus.points if point.id not in gone]
    return Planted("chunk.index_gap", frozenset(pages))


@defect("chunk.duplicate_index", kind="points", describe="Ingests a chunk again under a new id.")
def duplicate_index(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    # A page of which every chunk is stored twice was ingested twice.
    once = {page[0].id for page in corpus.pages().values() if len(page) > 1}
    points = choose_points(corpus, amount, rng, suits=lambda point: point.id not in once)
    copies = add_copies(corpus, points, salt="again")
    subjects = frozenset(str(point.id) for point in (*points, *copies))
    return Planted("chunk.duplicate_index", subjects)


@defect("chunk.ingested_twice", kind="points", describe="Ingests a page again under new ids.")
def ingested_twice(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages, indexed = choose_pages(corpus, amount, rng, min_chunks=2), corpus.pages()
    for url in pages:
        add_copies(corpus, indexed[url], salt="second generation")
    return Planted("chunk.ingested_twice", frozenset(pages))


@defect(
    "chunk.ingested_twice",
    kind="points",
    variant="another_size",
    describe="Ingests a page again in chunks of half the size that continue the index of the first ones.",
)
def ingested_in_halves(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages, indexed = choose_pages(corpus, amount, rng, min_chunks=2), corpus.pages()
    halves = []
    for url in pages:
        chunks = indexed[url]
        for number, point in enumerate(chunks):
            text = corpus.text(point)
            middle = text.rfind(" ", 0, len(text) // 2 + 1) if " " in text[: len(text) // 2 + 1] else len(text) // 2
            for part, piece in enumerate((text[:middle], text[middle:].lstrip())):
                index = len(chunks) + 2 * number + part
                (copy,) = add_copies(corpus, [point], salt=f"half {part}", chunk_index=index)
                halves.append((copy, piece))
    rewrite(corpus, halves)
    return Planted("chunk.ingested_twice", frozenset(pages))


@defect("chunk.order_shuffled", kind="points", describe="Numbers the chunks of a page backwards.")
def order_shuffled(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages, indexed = choose_pages(corpus, amount, rng, min_chunks=2), corpus.pages()
    for url in pages:
        indices = [corpus.get(point, "chunk_index") for point in indexed[url]]
        for point, index in zip(indexed[url], reversed(indices), strict=True):
            corpus.put(point, "chunk_index", index)
    return Planted("chunk.order_shuffled", frozenset(pages))
