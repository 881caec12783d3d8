"""How the queries of a resolved suite are run and judged: what searches, and the settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from ragval_pipeline.errors import NoDenseVectorError, NotMeasurableError
from ragval_pipeline.findings.model import Finding
from ragval_pipeline.lazy import np
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.rules.vector.dimension import RULE as VECTOR_DIMENSION
from ragval_pipeline.sources.embedders.base import Embedder
from ragval_pipeline.sources.search.production import production_searcher
from ragval_pipeline.sources.search.searchers import IndexSearcher, Searcher
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts, no_dense_vector
from ragval_pipeline.suite.gates import gates_of, ranks_of
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.queries.load import load_queries, unmatched_topics
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.golden.golden_set import GoldenSet
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings, Rules
from ragval_pipeline.validation.retrieval.diagnosis import QueryEmbedding
from ragval_pipeline.validation.retrieval.hits import HitReader


@dataclass(frozen=True)
class Asking:
    """How queries are run.

    Attributes:
        searcher: Finds hits.
        repeater: Finds the hits of repeats; None: ``searcher`` again.
        embedder: Embeds the queries; None if the user's own search does.
        manner: How repeats differ from first searches, for the explanation of ``determinism``.
    """

    searcher: Searcher
    repeater: IndexSearcher | None
    embedder: Embedder | None
    manner: str

    def findings(self, suite: Suite, text: str) -> list[Finding]:
        """Findings about how queries are embedded, tested with ``text``."""
        if self.embedder is None:
            return []
        return find_all(QueryEmbedding(self.embedder, suite.embedding.query_input_type, text))

    def moved(self, queries: Iterable[TestQuery]) -> frozenset[str]:
        """Ids of the queries that got another vector when they were embedded again for their repeats."""
        first, again = self.searcher, self.repeater
        if not isinstance(first, IndexSearcher) or not isinstance(again, IndexSearcher):
            return frozenset()
        pairs = ((query.id, first.vector_of(query.query_text), again.vector_of(query.query_text)) for query in queries)
        return frozenset(
            name for name, one, two in pairs if one is not None and two is not None and not np.array_equal(one, two)
        )


@contextmanager
def asking(suite: Suite, vector: VectorFacts, connection: Any, embedding: Any, *, repeats: int = 1) -> Iterator[Asking]:
    """How a resolved suite's queries are run; closed at the end.

    Repeats may use another client.

    Raises:
        SuiteError: ``retrieval.retriever`` is not a search.
        SystemFailure: A system cannot be opened.
    """
    if suite.retrieval.retriever is not None:
        own = production_searcher(suite)
        yield Asking(own, None, None, f"{own.spec} called again")
        return
    settings = (vector, suite.embedding.query_input_type, suite.retrieval.exact)
    with ExitStack() as stack:
        reader = stack.enter_context(open_reader(connection, suite))
        embedder = stack.enter_context(embedding.embedder_for(suite))
        searcher = IndexSearcher(embedder, reader, *settings)
        if repeats < 2:
            yield Asking(searcher, None, embedder, "")
            return
        # An embedded Qdrant allows one client at a time.
        fresh = suite.qdrant.url is not None
        again = stack.enter_context(open_reader(connection, suite)) if fresh else reader
        anew = getattr(embedder, "free", False) is True
        repeater = IndexSearcher(embedder, again, *settings, anew=anew)
        yield Asking(searcher, repeater, embedder, _manner(fresh=fresh, anew=anew))


def _manner(*, fresh: bool, anew: bool) -> str:
    client = "with a fresh client" if fresh else "with the same client, because an embedded Qdrant allows one at a time"
    vectors = "queries embedded again" if anew else "the same query vectors"
    return f"{client} and {vectors}"


def hit_fields(suite: Suite) -> list[str]:
    """Payload fields that come with a hit: mapped and required ones."""
    return list(dict.fromkeys([*suite.payload.fields.values(), *suite.payload.required]))


def hit_reader(suite: Suite, inventory: SiteInventory) -> HitReader:
    """Reads the hits of a resolved suite."""
    return HitReader(fields=suite.payload.fields, required=suite.payload.required, page_key=inventory.folder().key)


def searched_vector(suite: Suite, manifest: SnapshotManifest) -> VectorFacts:
    """The vector that searches use.

    Raises:
        NotMeasurableError: ``vector.dimension``: the collection has no vector with that name; ``NoDenseVectorError`` if
            it has sparse vectors only.
    """
    vector = manifest.facts.vector(suite.qdrant.vector_name)
    if vector is None:
        raise _no_such_vector(suite, manifest)
    return vector


def retrieval_settings(suite: Suite, inventory: SiteInventory, vector: VectorFacts | None) -> RetrievalSettings:
    """Retrieval settings of a resolved suite, with or without a vector to search."""
    profile = get_profile(suite.profile)
    own = suite.retrieval.retriever is not None
    return RetrievalSettings(
        rules=Rules(
            read=hit_reader(suite, inventory),
            module_match=suite.retrieval.module_match,
            min_similarity=suite.retrieval.min_similarity,
            # The scores of the user's own search are unbounded, and higher is better.
            higher_is_better=own or vector is None or vector.higher_is_better,
            results_reach_threshold=profile.results_reach_threshold if profile else False,
        ),
        judge=suite.retrieval.judge,
        ranks=ranks_of(suite),
        top_k=suite.retrieval.top_k,
        relevance_similarity=suite.retrieval.relevance_similarity,
        distance="Dot" if own else vector.distance if vector else "Cosine",
    )


def _no_such_vector(suite: Suite, manifest: SnapshotManifest) -> NotMeasurableError:
    names = [vector.name or "(unnamed)" for vector in manifest.facts.vectors]
    wanted = suite.qdrant.vector_name or "(unnamed)"
    what, remedy = f"has no vector {wanted}", f"Set qdrant.vector_name to one of: {', '.join(names)}."
    if not names:
        what, remedy = no_dense_vector(manifest.facts)
    kind = NoDenseVectorError if manifest.facts.is_sparse_only else NotMeasurableError
    return kind(
        f"the collection {what}",
        code=VECTOR_DIMENSION.code,
        subject=wanted,
        remedy=remedy,
        details={"expected": wanted, "found": names},
    )


def golden_of(suite: Suite, inventory: SiteInventory, manifest: SnapshotManifest) -> GoldenSet:
    """The test queries of a resolved suite with its requirements."""
    queries = load_queries(suite)
    return GoldenSet(
        # Unjudged queries and drafts have no expectations.
        queries=[query for query in queries if query.counted],
        inventory=inventory,
        settings=retrieval_settings(suite, inventory, manifest.facts.vector(suite.qdrant.vector_name)),
        gates=gates_of(suite),
        unmatched_topics=unmatched_topics(suite, queries),
    )
