"""Which assets and parts of assets a selection of groups (``ragval run --only``) runs.

What lives here: the table and what follows from it. What does not: reading the selection from a run (``names``) and
skipping (``measuring``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ragval_pipeline.orchestration.names import (
    CHUNK_FACTS,
    CHUNK_STRUCTURE,
    CONTENT_INTEGRITY,
    COVERAGE_REPORT,
    GOLDEN_SET,
    INDEX_HEALTH,
    LATENCY_PROFILE,
    METADATA_EXPECTATIONS,
    PAGE_SNAPSHOT,
    QUERY_VALIDATION_RESULTS,
    REGRESSION,
    SELF_RETRIEVAL,
    VECTOR_HEALTH,
)
from ragval_pipeline.suite.criteria import Group

#: Groups that need an asset or a part of one; what is not named here always runs.
NEEDED_BY: Mapping[str, frozenset[Group]] = {
    COVERAGE_REPORT: frozenset({"coverage"}),
    METADATA_EXPECTATIONS: frozenset({"metadata"}),
    CHUNK_STRUCTURE: frozenset({"chunks"}),
    # All that look at pages: what they find must not depend on what else was selected. Self-retrieval does without them
    # where the payload names its pages, and says so where it does not: asking queries alone fetches no page.
    PAGE_SNAPSHOT: frozenset({"integrity", "chunks", "metadata"}),
    CHUNK_FACTS: frozenset({"integrity", "chunks"}),
    CONTENT_INTEGRITY: frozenset({"integrity"}),
    VECTOR_HEALTH: frozenset({"vectors"}),
    INDEX_HEALTH: frozenset({"index"}),
    QUERY_VALIDATION_RESULTS: frozenset({"queries", "regression"}),
    SELF_RETRIEVAL: frozenset({"queries"}),
    GOLDEN_SET: frozenset({"queries"}),
    LATENCY_PROFILE: frozenset({"latency"}),
    REGRESSION: frozenset({"regression"}),
}


def is_selected(asset: str, only: Collection[str] | None) -> bool:
    """Whether an asset has anything to do when these groups are selected; null: all."""
    needed = NEEDED_BY.get(asset)
    return only is None or needed is None or not needed.isdisjoint(only)


def steps_of(assets: Iterable[str], only: Collection[str] | None) -> int:
    """How many of these assets have something to do."""
    return sum(is_selected(asset, only) for asset in assets)
