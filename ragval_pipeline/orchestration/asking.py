"""How the queries of a run are asked: through the embedder and the collection, or through the user's own search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragval_pipeline.orchestration.resources import open_reader

if TYPE_CHECKING:
    from ragval_pipeline.findings.model import Finding
    from ragval_pipeline.sources.embedders.base import Embedder
    from ragval_pipeline.sources.search.searchers import Searcher
    from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts
    from ragval_pipeline.suite.model import Suite


@dataclass(frozen=True)
class Asking:
    """One way of asking.

    Args:
        searcher: Finds hits.
        repeater: Finds the hits of repeats; null: ``searcher`` again.
        embedder: What embeds the queries; null where the user's own search does.
        manner: How repeats differ from first searches, for the reason of ``determinism``.
    """

    searcher: Searcher
    repeater: Searcher | None
    embedder: Embedder | None
    manner: str

    def findings(self, suite: Suite, text: str) -> list[Finding]:
        """What is wrong with how queries are embedded, tried out with ``text``."""
        from ragval_pipeline.validation.detectors import find_all
        from ragval_pipeline.validation.retrieval.input_type import QueryEmbedding

        if self.embedder is None:
            return []
        return find_all(QueryEmbedding(self.embedder, suite.embedding.query_input_type, text))


@contextmanager
def asking(suite: Suite, vector: VectorFacts, connection: Any, embedding: Any, *, repeats: int = 1) -> Iterator[Asking]:
    """The way of asking that a resolved suite names; closed at the end.

    Args:
        suite: The resolved suite.
        vector: Size and distance of the vectors searched.
        connection: The resource of the collection.
        embedding: The resource of the embedder.
        repeats: Searches per query; more than one may be asked in another way.

    Raises:
        SuiteError: There is no search under ``retrieval.retriever``.
        SystemFailure: What is asked cannot be opened.
    """
    if suite.retrieval.retriever is not None:
        from ragval_pipeline.sources.search.production import production_searcher

        own = production_searcher(suite)
        yield Asking(own, None, None, f"{own.spec} asked again")
        return
    from ragval_pipeline.sources.search.searchers import IndexSearcher

    settings = (vector, suite.embedding.query_input_type, suite.retrieval.exact)
    with ExitStack() as stack:
        reader = stack.enter_context(open_reader(connection, suite))
        embedder = stack.enter_context(embedding.embedder_for(suite))
        searcher = IndexSearcher(embedder, reader, *settings)
        if repeats < 2:
            yield Asking(searcher, None, embedder, "")
            return
        # An embedded Qdrant lets one client in at a time.
        fresh = suite.qdrant.path is None
        again = stack.enter_context(open_reader(connection, suite)) if fresh else reader
        anew = getattr(embedder, "free", False) is True
        repeater = IndexSearcher(embedder, again, *settings, anew=anew)
        yield Asking(searcher, repeater, embedder, _manner(fresh=fresh, anew=anew))


def _manner(*, fresh: bool, anew: bool) -> str:
    client = "with a fresh client" if fresh else "with the same client, for an embedded Qdrant allows one at a time"
    vectors = "queries embedded anew" if anew else "the same query vectors"
    return f"{client} and {vectors}"
