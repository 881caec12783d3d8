from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.findings.factory import make_finding
from ragval_pipeline.measuring.asking import Asking, Ways
from ragval_pipeline.measuring.preflight import check_before_any_call
from ragval_pipeline.sources.embedders.base import EmbeddingBatch, InputType
from ragval_pipeline.sources.embedders.cache import CachingEmbedder
from ragval_pipeline.sources.embedders.static import StaticEmbedder
from ragval_pipeline.sources.search.methods import Asked
from ragval_pipeline.sources.search.searchers import IndexSearcher
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts, VectorFacts
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement
from ragval_pipeline.validation.retrieval.repeats import with_manner

VECTOR = VectorFacts(name=None, size=256, distance="Cosine")


class Connection:
    """Counts the readers that are opened and closed."""

    def __init__(self) -> None:
        self.opened = self.closed = 0

    @contextmanager
    def reader_for(self, suite: Suite) -> Iterator[object]:
        self.opened += 1
        yield object()
        self.closed += 1


def asked(suite: Suite, connection: Any, embedding: Any, *, repeats: int = 1) -> AbstractContextManager[Asking]:
    """The judged way of a suite whose collection has the vector."""
    manifest = SimpleNamespace(facts=CollectionFacts(name="c", points_count=1, vectors=(VECTOR,)))
    return Ways(suite, manifest, connection, embedding).judged(repeats=repeats)  # type: ignore[arg-type]


class Embedding:
    """Gives the offline embedder; ``free`` as the test wants it."""

    def __init__(self, *, free: bool = True) -> None:
        self.inner = StaticEmbedder()
        self.inner.free = free

    @contextmanager
    def embedder_for(self, suite: Suite) -> Iterator[CachingEmbedder]:
        yield CachingEmbedder(self.inner)


def suite_of(place: dict[str, Any], **retrieval: Any) -> Suite:
    return Suite.model_validate(
        {"suite": "book", "qdrant": {**place, "collection": "c"}, "retrieval": retrieval, "queries": []}
    )


def test_a_server_is_asked_again_by_a_client_of_its_own() -> None:
    connection = Connection()
    with asked(suite_of({"url": "http://q"}), connection, Embedding(), repeats=2) as way:
        assert connection.opened == 2
        assert isinstance(way.searcher, IndexSearcher)
        assert isinstance(way.repeater, IndexSearcher)
        assert way.repeater.reader is not way.searcher.reader
        assert "fresh client" in way.manner
    assert connection.closed == 2


def test_an_embedded_qdrant_lets_one_client_in_and_the_reason_says_so(tmp_path: Path) -> None:
    connection = Connection()
    with asked(suite_of({"path": str(tmp_path)}), connection, Embedding(), repeats=2) as way:
        assert connection.opened == 1
        assert "same client" in way.manner
        assert "embedded Qdrant" in way.manner


@pytest.mark.parametrize(("free", "inputs", "says"), [(True, 2, "embedded again"), (False, 1, "same query vectors")])
def test_only_free_texts_are_embedded_again(free: bool, inputs: int, says: str) -> None:
    with asked(suite_of({"url": "http://q"}), Connection(), Embedding(free=free), repeats=2) as way:
        assert way.repeater is not None
        way.searcher.prepare(["How?"])
        way.repeater.prepare(["How?"])
        assert isinstance(way.embedder, CachingEmbedder)
        assert way.embedder.cost.inputs == inputs
        assert says in way.manner


def test_without_repeats_there_is_one_client() -> None:
    connection = Connection()
    with asked(suite_of({"url": "http://q"}), connection, Embedding()) as way:
        assert (connection.opened, way.repeater, way.manner) == (1, None, "")


def test_the_users_own_search_needs_neither_collection_nor_embedder(tmp_path: Path) -> None:
    (tmp_path / "users_asking.py").write_text("def search(texts, top_k, filter): return []", encoding="utf-8")
    suite = suite_of({"url": "http://q"}, retriever="users_asking:search")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        with asked(suite, None, None) as way:
            [found] = way.searcher.search_all([Asked("How?", 3)], fields=())
            assert list(found.hits) == []
            assert way.embedder is None
            assert way.findings(suite, "How?") == []


def test_a_search_that_is_not_there_is_an_error_of_the_suite() -> None:
    suite = suite_of({"url": "http://q"}, retriever="no_such_module_at_all:search")
    with pytest.raises(SuiteError, match=r"retrieval\.retriever"), asked(suite, None, None):
        pass


def test_a_search_that_is_not_there_ends_a_run_before_any_call() -> None:
    suite = suite_of({"url": "http://q"}, retriever="no_such_module_at_all:search")
    offline = suite.model_copy(update={"embedding": suite.embedding.model_copy(update={"provider": "static"})})
    with pytest.raises(SuiteError, match=r"retrieval\.retriever"):
        check_before_any_call(offline, only={"queries"})
    check_before_any_call(offline, only={"coverage"})


class Restless(StaticEmbedder):
    """A model that never gives the same vector again."""

    def embed(self, texts: Sequence[str], *, input_type: InputType) -> EmbeddingBatch:
        batch = super().embed(texts, input_type=input_type)
        return replace(batch, vectors=batch.vectors + np.random.default_rng().normal(scale=1e-3, size=(1, 256)))


@pytest.mark.parametrize(("embedder", "moved"), [(StaticEmbedder(), set()), (Restless(), {"q"})])
def test_queries_that_are_embedded_otherwise_each_time_are_known(embedder: StaticEmbedder, moved: set[str]) -> None:
    queries = [TestQuery(id="q", query_text="What is a gear?")]
    first, again = (IndexSearcher(embedder, None, VECTOR) for _ in range(2))
    for searcher in (first, again):
        searcher.prepare(["What is a gear?"])
    assert Asking(first, again, embedder, "").moved(queries) == moved
    assert Asking(first, None, embedder, "").moved(queries) == set()


def test_results_that_differ_because_the_embedder_does_say_so() -> None:
    unstable = make_finding("retrieval.nondeterministic", ["p", "q"])
    measurement = Measurement(asset="query_validation_results", findings=(unstable,))
    [told] = with_manner(measurement, "", {"p", "q", "other"}).findings
    assert "embedder gives these queries other vectors" in told.cause
    assert with_manner(measurement, "", {"q"}).findings == (unstable,)


def test_how_repeats_were_run_is_in_the_reason_of_determinism_only() -> None:
    determinism = MeasuredValue(name="determinism", value=1.0, numerator=2, denominator=2, reason="2 of 2 queries")
    other = MeasuredValue(name="accuracy", value=1.0, reason="x")
    measurement = Measurement(asset="query_validation_results", values=(determinism, other))
    told = with_manner(measurement, "with a fresh client").values
    assert [value.reason for value in told] == ["2 of 2 queries, with a fresh client", "x"]
    assert with_manner(measurement, "").values == measurement.values
