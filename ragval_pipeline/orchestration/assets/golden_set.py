"""``golden_set``: whether the test queries can tell a good index from a bad one."""

from typing import Any

from ragval_pipeline.orchestration.names import (
    GOLDEN_SET,
)
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def review(
    suite: Suite,
    inventory: SiteInventory,
    manifest: SnapshotManifest,
    results: dict[str, Any],
    own: dict[str, Any],
) -> Measurement:
    """Hold the test queries of a resolved suite against the site, the index and their answers."""
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.suite.load import gates_of
    from ragval_pipeline.suite.queries.load import load_queries, unmatched_topics
    from ragval_pipeline.validation.golden.index_facts import COLUMNS, collect_facts
    from ragval_pipeline.validation.golden.review import GoldenSet, review_golden_set

    queries = load_queries(suite)
    if not queries or not manifest.points:
        return Measurement(asset=GOLDEN_SET)
    vector = manifest.facts.vector(suite.qdrant.vector_name)
    golden = GoldenSet(
        # Nobody expects anything of a query that is unjudged or a draft.
        queries=[query for query in queries if query.counted],
        inventory=inventory,
        module_match=suite.retrieval.module_match,
        judge=suite.retrieval.judge,
        gates=gates_of(suite),
        top_k=suite.retrieval.top_k,
        min_similarity=suite.retrieval.min_similarity,
        unmatched_topics=unmatched_topics(suite, queries),
        higher_is_better=suite.retrieval.retriever is not None or vector is None or vector.higher_is_better,
    )
    facts = collect_facts(Snapshot(manifest).rows(COLUMNS), points=manifest.points)
    return review_golden_set(golden, facts, results=results, own=own)
