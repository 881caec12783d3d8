"""Defects of the chunks of a page: one missing in the middle, one stored twice."""

from __future__ import annotations

import random

from ragval_pipeline.demo.defects.choose import choose_pages, choose_points
from ragval_pipeline.demo.defects.copies import add_copies
from ragval_pipeline.demo.defects.corpus import Corpus
from ragval_pipeline.demo.defects.registry import Amount, Planted, defect


@defect("chunk.index_gap", kind="points", describe="Deletes a chunk from the middle of a page.")
def index_gap(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    pages = choose_pages(corpus, amount, rng, min_chunks=3)
    indexed = corpus.pages()
    gone = {rng.choice(indexed[url][1:-1]).id for url in pages}
    corpus.points = [point for point in corpus.points if point.id not in gone]
    return Planted("chunk.index_gap", frozenset(pages))


@defect("chunk.duplicate_index", kind="points", describe="Ingests a chunk again under a new id.")
def duplicate_index(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    points = choose_points(corpus, amount, rng)
    copies = add_copies(corpus, points, salt="again")
    subjects = frozenset(str(point.id) for point in (*points, *copies))
    return Planted("chunk.duplicate_index", subjects)
