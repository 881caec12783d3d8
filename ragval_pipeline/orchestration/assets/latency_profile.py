"""``latency_profile``: how long a user waits for the hits of one query, embedding and search apart."""

from typing import TYPE_CHECKING, Any

from ragval_pipeline.orchestration.assets.query_validation_results import hit_fields, searched_vector
from ragval_pipeline.orchestration.limits import limit_of
from ragval_pipeline.orchestration.names import LATENCY_PROFILE
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragval_pipeline.sources.timing import Timings

#: Queries that are timed at most: each is a call to the provider, and 50 tell the p95 as well as 5,000.
QUERIES_TIMED = 50


def time_searches(suite: Suite, manifest: SnapshotManifest, connection: Any, embedding: Any) -> Measurement:
    """Time single searches of a resolved suite."""
    from ragval_pipeline.suite.queries.load import load_queries
    from ragval_pipeline.validation.latency.measure import CRITERION, measure_latency, nothing_timed, switched_off
    from ragval_pipeline.validation.spread import spread_over

    if suite.latency == "off":
        return switched_off()
    queries = [(query.id, query.query_text) for query in spread_over(load_queries(suite), QUERIES_TIMED)]
    if not manifest.points or not queries:
        return nothing_timed("the suite has no test queries" if manifest.points else "the collection holds no points")
    if suite.retrieval.retriever is not None:
        timings = _of_own_search(suite, queries)
    else:
        timings = _of_index(suite, manifest, queries, connection, embedding)
    return measure_latency(timings, budget_ms=limit_of(suite, CRITERION))


def _of_own_search(suite: Suite, queries: "Sequence[tuple[str, str]]") -> "Timings":
    from ragval_pipeline.sources.production_search import production_searcher
    from ragval_pipeline.sources.timing import time_searcher

    return time_searcher(
        queries,
        searcher=production_searcher(suite),
        fields=hit_fields(suite),
        limit=suite.retrieval.top_k,
        on_progress=progress_of(LATENCY_PROFILE),
    )


def _of_index(
    suite: Suite, manifest: SnapshotManifest, queries: "Sequence[tuple[str, str]]", connection: Any, embedding: Any
) -> "Timings":
    from ragval_pipeline.sources.timing import time_queries

    vector = searched_vector(suite, manifest)
    with open_reader(connection, suite) as reader, embedding.embedder_for(suite) as embedder:
        return time_queries(
            queries,
            embedder=embedder,
            reader=reader,
            vector=vector,
            input_type=suite.embedding.query_input_type,
            fields=hit_fields(suite),
            limit=suite.retrieval.top_k,
            exact=suite.retrieval.exact,
            on_progress=progress_of(LATENCY_PROFILE),
        )
