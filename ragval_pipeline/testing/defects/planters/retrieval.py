"""Defects of answers: a search that gives other hits the second time, hits without their metadata."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragval_pipeline.errors import NothingToSpoilError
from ragval_pipeline.sources.snapshot.values import lookup
from ragval_pipeline.testing.defects.choose import choose_queries, required_fields
from ragval_pipeline.testing.defects.corpus import Corpus
from ragval_pipeline.testing.defects.registry import HALF, ONE, TENTH, Amount, Planted, defect
from ragval_pipeline.testing.defects.services import PassingReader, Service

if TYPE_CHECKING:
    from ragval_pipeline.sources.stores.qdrant.reader import Hit, Reader

#: Digits by which a vector that was sent is known again.
_DIGITS = 5
Key = tuple[float, ...]


@defect(
    "retrieval.nondeterministic",
    kind="service",
    describe="Makes the server leave out the second hit of a query when it is asked again.",
    amounts=(ONE, TENTH, HALF),
)
def nondeterministic(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    chosen = choose_queries(corpus, amount, rng, suits=lambda _: True)
    vectors = corpus.embed([query["query_text"] for query in chosen], input_type="search_query")
    forgetful = frozenset(_key(vector) for vector in vectors)
    corpus.services.append(Service(reader=lambda inner: _Forgetful(inner, forgetful)))
    return Planted("retrieval.nondeterministic", frozenset(str(query["id"]) for query in chosen))


@defect(
    "retrieval.incomplete_metadata",
    kind="service",
    describe="Makes the server return a point without a required field, which the point itself has.",
)
def incomplete_metadata(corpus: Corpus, amount: Amount, rng: random.Random) -> Planted:
    asked = [query for query in corpus.queries if "top_k" not in query]
    top_k = int(corpus.settings.get("retrieval", {}).get("top_k", 5))
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
    """Leaves out the second hit of some vectors whenever the same search is not the first of its kind."""

    def __init__(self, inner: Reader, vectors: frozenset[Key]) -> None:
        super().__init__(inner)
        self._vectors = vectors
        self._asked: Counter[tuple[Key, int]] = Counter()

    def search(self, vector: Sequence[float], *, limit: int, fields: Sequence[str], exact: bool) -> list[Hit]:
        """The hits, without the second one from the second time on; an exact search forgets nothing."""
        key = _key(vector)
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
        """The hits, some of them stripped."""
        hits = self.inner.search(vector, limit=limit, fields=fields, exact=exact)
        return [self._stripped(hit) if hit.id in self._ids else hit for hit in hits]

    def _stripped(self, hit: Hit) -> Hit:
        if not lookup(hit.payload, self._field)[0]:
            return hit
        return replace(hit, payload={name: value for name, value in hit.payload.items() if name != self._field})


def _key(vector: Sequence[float]) -> Key:
    return tuple(round(value, _DIGITS) for value in vector)
