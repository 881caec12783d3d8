"""Names of assets and of their parts, and those that a selection of groups needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ragval_pipeline.suite.criteria import GROUPS, Group, groups_of

#: External assets.
SITEMAP = "sitemap"
COLLECTION = "collection"

#: The number of rows that an asset has, as Dagster plots it.
ROW_COUNT = "dagster/row_count"

#: The assets.
SITEMAP_URLS = "sitemap_urls"
PAGE_SNAPSHOT = "page_snapshot"
PAYLOAD_SNAPSHOT = "payload_snapshot"
CHUNK_FACTS = "chunk_facts"
COVERAGE_REPORT = "coverage_report"
METADATA_EXPECTATIONS = "metadata_expectations"
CONTENT_INTEGRITY = "content_integrity"
INDEX_HEALTH = "index_health"
QUERY_VALIDATION_RESULTS = "query_validation_results"
QUALITY_METRICS = "quality_metrics"
REGRESSION = "regression"
VALIDATION_REPORT = "validation_report"

#: Parts of measuring assets; every other asset has a single part of its own name, or one besides these.
CHUNK_STRUCTURE = "chunk_structure"
VECTOR_HEALTH = "vector_health"
SPARSE_VECTORS = "sparse_vectors"
LATENCY_PROFILE = "latency_profile"
SELF_RETRIEVAL = "self_retrieval"
GOLDEN_SET = "golden_set"
TRAFFIC = "traffic"

#: Run tag: groups of measurements to run, comma separated; absent: all.
ONLY_TAG = "ragval/only"
#: Run tag: everything is computed, and nothing of an earlier run is read.
FULL_TAG = "ragval/full"


def selected_groups(tags: Mapping[str, str]) -> frozenset[str] | None:
    """The groups that a run's tags select; None for all.

    Raises:
        SuiteError: No group, or an unknown one: measuring nothing would look like a validation.
    """
    selected = frozenset(groups_of(tags.get(ONLY_TAG) or None, key=ONLY_TAG) or GROUPS)
    return None if selected == frozenset(GROUPS) else selected


#: Groups that need an asset or a part of one; those not listed always run.
NEEDED_BY: Mapping[str, frozenset[Group]] = {
    COVERAGE_REPORT: frozenset({"coverage"}),
    METADATA_EXPECTATIONS: frozenset({"metadata"}),
    CHUNK_STRUCTURE: frozenset({"chunks"}),
    # All groups that use pages: their results must not depend on the selection. Self-retrieval works without pages if
    # the payload has titles, and says so if not: running only queries fetches no pages.
    PAGE_SNAPSHOT: frozenset({"integrity", "chunks", "metadata"}),
    CHUNK_FACTS: frozenset({"integrity", "chunks"}),
    CONTENT_INTEGRITY: frozenset({"integrity"}),
    VECTOR_HEALTH: frozenset({"vectors"}),
    SPARSE_VECTORS: frozenset({"vectors"}),
    INDEX_HEALTH: frozenset({"index"}),
    QUERY_VALIDATION_RESULTS: frozenset({"queries", "regression"}),
    SELF_RETRIEVAL: frozenset({"queries"}),
    GOLDEN_SET: frozenset({"queries"}),
    TRAFFIC: frozenset({"queries"}),
    LATENCY_PROFILE: frozenset({"latency"}),
    REGRESSION: frozenset({"regression"}),
}


def is_selected(asset: str, only: Collection[str] | None) -> bool:
    """Whether an asset has anything to do for these groups; None: all."""
    needed = NEEDED_BY.get(asset)
    return only is None or needed is None or not needed.isdisjoint(only)


def steps_of(assets: Iterable[str], only: Collection[str] | None) -> int:
    """How many of these assets have something to do."""
    return sum(is_selected(asset, only) for asset in assets)
