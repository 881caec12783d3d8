"""Many searches at once: the same hits whatever the batch and the concurrency, and servers that refuse batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest
from qdrant_client import models

from ragval_pipeline.errors import SystemFailure
from ragval_pipeline.sources.stores.qdrant.protocol import Found, Hit, Search
from ragval_pipeline.sources.stores.qdrant.scanning import HITS_PER_CALL, BatchedSearches
from tests.support.collections import Qdrant

SEARCHES = [Search((1.0, number / 100), 3 + number % 4) for number in range(123)]


def failure(status: object) -> SystemFailure:
    return SystemFailure("no", code="index.unreachable", system="Qdrant", subject="x", details={"status": status})


class Server:
    """Answers each search with its own vector and limit, and notes the size of every call."""

    def __init__(self, most: int = 1000, refusal: object = 403, broken: frozenset[float] = frozenset()) -> None:
        self.most, self.refusal, self.broken = most, refusal, broken
        self.sizes: list[int] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    def single(self, search: Search) -> list[Hit]:
        return self.several([search])[0]

    def several(self, searches: Sequence[Search]) -> list[list[Hit]]:
        with self._lock:
            self.sizes.append(len(searches))
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(0.02 if searches[0].vector[1] < 0.5 else 0.001)  # the later ones end first
        with self._lock:
            self.at_once -= 1
        if len(searches) > self.most:
            raise failure(self.refusal)
        for search in searches:
            if search.vector[1] in self.broken:
                raise SystemFailure(str(search.vector[1]), code="index.unreachable", system="Qdrant", subject="x")
        return [[Hit(1, f"{search.vector[1]} {search.limit}", 1.0)] for search in searches]

    def ask(self, concurrency: int, batch: int, searches: Sequence[Search] = SEARCHES) -> list[str]:
        calls = BatchedSearches(self.single, self.several, concurrency=concurrency, batch=batch)
        return [found.hits[0].id for found in calls.all(searches)]


@pytest.mark.parametrize(("concurrency", "batch"), [(1, 1), (1, 50), (8, 1), (8, 50), (3, 7)])
def test_answers_come_in_the_order_of_the_searches(concurrency: int, batch: int) -> None:
    server = Server()
    assert server.ask(concurrency, batch) == [f"{search.vector[1]} {search.limit}" for search in SEARCHES]
    assert max(server.sizes) <= batch
    assert server.most_at_once <= concurrency
    assert concurrency == 1 or server.most_at_once > 1


@pytest.mark.parametrize("refusal", [400, 403, 404, 405, 413, "INVALID_ARGUMENT"])
def test_a_server_that_takes_smaller_batches_only_gets_them_and_is_soon_asked_no_more_for_others(
    refusal: object,
) -> None:
    server = Server(most=6, refusal=refusal)
    assert server.ask(2, 50) == [f"{search.vector[1]} {search.limit}" for search in SEARCHES]
    assert sum(size > 6 for size in server.sizes) <= 2 * 4
    single = Server(most=1, refusal=refusal)
    assert single.ask(1, 8) == server.ask(1, 8)


def test_a_search_that_also_fails_alone_is_the_failure_that_is_raised() -> None:
    with pytest.raises(SystemFailure) as caught:
        Server(most=0, refusal=403).ask(1, 8)
    assert caught.value.details["status"] == 403
    for status in (401, 429, 503):
        server = Server(most=1, refusal=status)
        with pytest.raises(SystemFailure):
            server.ask(1, 8)
        assert server.sizes == [8]


def test_of_several_failures_the_first_in_order_is_raised_and_earlier_results_are_kept() -> None:
    calls = BatchedSearches(
        (server := Server(broken=frozenset({0.30, 0.90}))).single, server.several, concurrency=8, batch=10
    )
    seen: list[Found] = []
    with pytest.raises(SystemFailure) as caught:
        seen.extend(calls.all(SEARCHES))
    assert caught.value.problem == "0.3"
    assert len(seen) == 30


def test_calls_are_bounded_by_the_hits_that_they_bring() -> None:
    server = Server()
    server.ask(1, 50, [Search((1.0, number / 10), HITS_PER_CALL // 3) for number in range(7)])
    assert server.sizes == [3, 3, 1]
    server = Server()
    server.ask(1, 50, [Search((1.0, 0.1), 2 * HITS_PER_CALL), Search((1.0, 0.2), 1)])
    assert server.sizes == [1, 1]


def test_batches_find_what_single_searches_find(qdrant: Qdrant) -> None:
    points = [
        models.PointStruct(id=number, vector=[1.0, number / 40], payload={"n": number, "site": "ab"[number % 2]})
        for number in range(40)
    ]
    qdrant.create(points)
    for exact in (False, True):
        found = [
            [(hits.hits, hits.milliseconds >= 0) for hits in reader.search_all(SEARCHES, fields=["n"], exact=exact)]
            for reader in (qdrant.reader(), qdrant.reader(concurrency=8, batch=50))
        ]
        assert found[0] == found[1]
    reader = qdrant.reader(concurrency=2, batch=9, equal={"site": "a"})
    answers = list(reader.search_all(SEARCHES[:20], fields=["n"], exact=False))
    single = [reader.search(search.vector, limit=search.limit, fields=["n"], exact=False) for search in SEARCHES[:20]]
    assert [entry.hits for entry in answers] == single
    assert all(hit.payload["n"] % 2 == 0 for entry in answers for hit in entry.hits)
