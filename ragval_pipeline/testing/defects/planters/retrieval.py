"""Defects of search results: different hits on repetition, pages that no query finds, chunks that every query finds."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.sources.payload_paths import lookup
from ragval_pipeline.testing.defects.choose import (
    add_copies,
    choose_pages,
    choose_points,
    choose_queries,
    counted_queries,
    named_pages,
    query_keys,
    required_fields,
    top_k_of,
)
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import ALL, HALF, ONE, TENTH, Amount, Planted, defect
from ragval_pipeline.testing.defects.store import StoredPoint
from ragval_pipeline.testing.services import PassingReader, Service, vector_key

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.protocol import Hit, Reader


Key = tuple[float, ...]


@defect("retrieval.nondeterministic", kind="service", amounts=(ONE, TENTH, HALF))
def nondeterministic(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the server drop the second hit of a query when it is repeated."""
    chosen = choose_queries(corpus, amount, rng, suits=lambda _: True)
    forgetful = query_keys(corpus, chosen)
    corpus.services.append(Service(reader=lambda inner: _Forgetful(inner, forgetful)))
    return Planted("retrieval.nondeterministic", frozenset(str(query["id"]) for query in chosen))


@defect("retrieval.incomplete_metadata", kind="service")
def incomplete_metadata(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Makes the server return a point without a required field that it has."""
    asked = [query for query in corpus.queries if "top_k" not in query]
    top_k = top_k_of(corpus)
    rankings = corpus.search([query["query_text"] for query in asked])
    # Not the last hit: the server may order a near tie differently.
    returned = sorted({str(point.id) for ranking in rankings for _, point in ranking[: top_k - 1]})
    chosen = frozenset(rng.sample(returned, amount.of(len(returned))))
    names = required_fields(corpus)
    if not names:
        raise NothingToSpoilError("the suite requires no field that a point could come without and still have a page")
    field = corpus.fields[names[-1]]
    corpus.services.append(Service(reader=lambda inner: _Stripping(inner, chosen, field)))
    return Planted("retrieval.incomplete_metadata", chosen)


class _Forgetful(PassingReader):
    """Drops the second hit of some vectors from the second identical search."""

    def __init__(self, inner: Reader, vectors: frozenset[Key]) -> None:
        super().__init__(inner)
        self._vectors = vectors
        self._asked: Counter[tuple[Key, int]] = Counter()

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The hits, without the second one from the second time; exact searches are complete."""
        key = vector_key(vector)
        if exact or key not in self._vectors:
            return self.inner.search(vector, limit=limit, fields=fields, exact=exact)
        self._asked[key, limit] += 1
        if self._asked[key, limit] == 1:
            return self.inner.search(vector, limit=limit, fields=fields, exact=exact)
        hits = self.inner.search(vector, limit=limit + 1, fields=fields, exact=exact)
        return [replace(hit, rank=rank) for rank, hit in enumerate((*hits[:1], *hits[2:]), 1)]


class _Stripping(PassingReader):
    """Returns some points without one field."""

    def __init__(self, inner: Reader, ids: frozenset[str], field: str) -> None:
        super().__init__(inner)
        self._ids, self._field = ids, field

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        hits = self.inner.search(vector, limit=limit, fields=fields, exact=exact)
        return [self._stripped(hit) if hit.id in self._ids else hit for hit in hits]

    def _stripped(self, hit: Hit) -> Hit:
        if not lookup(hit.payload, self._field)[0]:
            return hit
        return replace(hit, payload={name: value for name, value in hit.payload.items() if name != self._field})


#: Vectors that do not match their texts have findings of their own, and affect other results too.
_WRONG_VECTORS = frozenset({"vector.mixed_models", "vector.model_mismatch", "vector.text_mismatch"})
#: Share of queries that find a hub, and how many are tried.
_HUB_SHARE, _TEXTS_ASKED = 0.2, 100


@defect("retrieval.dark_page", kind="points", amounts=(ONE, TENTH, HALF))
def dark_page(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives all chunks of a page vectors that point away from their meaning."""
    chosen = choose_pages(corpus, amount, rng)
    for url in chosen:
        for point in corpus.pages()[url]:
            point.vector = _away_from(point.vector or _noise(corpus.space.size, rng), rng)
    return Planted(
        "retrieval.dark_page",
        frozenset(chosen),
        causes=_WRONG_VECTORS,
    )


@defect("retrieval.lexical_better", kind="points", amounts=(Amount(count=5),))
def lexical_better(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives all chunks of the pages that some queries expect vectors that point away from their meaning."""
    chosen = choose_queries(corpus, amount, rng, suits=lambda query: bool(query.get("relevant_urls")))
    dark = {url for query in chosen for url in named_pages(query)}
    for url in dark:
        for point in corpus.pages()[url]:
            point.vector = _away_from(point.vector or _noise(corpus.space.size, rng), rng)
    asked = [query for query in counted_queries(corpus) if named_pages(query) and not query.get("negative")]
    failed = frozenset(str(query["id"]) for query in asked if dark.issuperset(named_pages(query)))
    return Planted("retrieval.lexical_better", failed, causes=_WRONG_VECTORS | {"query.failed", "retrieval.dark_page"})


@defect("retrieval.hub_chunk", kind="points", amounts=(ALL,))
def hub_chunk(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Gives a chunk the mean vector of all titles and headings, which lies near every question."""
    chosen = choose_points(corpus, ONE, rng)[0]
    names = dict.fromkeys(name for point in corpus.points for name in corpus.headings(point))
    vectors = corpus.embed(list(names), input_type="search_query")
    chosen.vector = _unit([sum(values) for values in zip(*vectors, strict=True)])
    if _share_finding(corpus, chosen, list(names)) < _HUB_SHARE:
        raise NothingToSpoilError("the index is too large for one chunk to be near every question")
    hub = frozenset({str(chosen.id)})
    return Planted("retrieval.hub_chunk", hub, causes=_WRONG_VECTORS)


@defect("retrieval.crowded_top_k", kind="points", amounts=(ONE, TENTH))
def crowded_top_k(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    """Stores the best chunk of a query several times on its page."""
    chosen = choose_queries(corpus, amount, rng, suits=lambda query: not query.get("negative") and "top_k" not in query)
    for ranking in corpus.search([query["query_text"] for query in chosen]):
        _store_again(corpus, ranking[0][1])
    asked = [query for query in counted_queries(corpus) if not query.get("negative")]
    crowded = set()
    for query, ranking in zip(asked, corpus.search([query["query_text"] for query in asked]), strict=True):
        texts = [corpus.text(point) for _, point in ranking[: top_k_of(corpus, query)]]
        if len(texts) - len(set(texts)) >= len(texts) / 2:
            crowded.add(str(query["id"]))
    return Planted(
        "retrieval.crowded_top_k",
        frozenset(crowded),
        causes=frozenset({"chunk.duplicate_text"}),
    )


def _store_again(corpus: Corpus, point: StoredPoint) -> None:
    count = len(corpus.pages()[corpus.get(point, "source_url")])
    for number in range(4):
        add_copies(corpus, [point], salt=f"crowd {number}", chunk_index=count + number)


def _share_finding(corpus: Corpus, point: StoredPoint, texts: Sequence[str]) -> float:
    """Share of an even sample of the texts that have the point among their five best."""
    asked = texts[:: -(-len(texts) // _TEXTS_ASKED)]
    return sum(any(found is point for _, found in ranking[:5]) for ranking in corpus.search(asked)) / len(asked)


def _away_from(vector: Sequence[float], rng: random.Random) -> list[float]:
    """A random direction with a cosine of about -0.45 to ``vector``."""
    noise = _noise(len(vector), rng)
    along = sum(one * other for one, other in zip(vector, noise, strict=True))
    return _unit([one - (along + 0.5) * other for one, other in zip(noise, vector, strict=True)])


def _noise(size: int, rng: random.Random) -> list[float]:
    return _unit([rng.gauss(0.0, 1.0) for _ in range(size)])


def _unit(vector: list[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]
