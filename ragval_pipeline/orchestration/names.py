"""Public names of definitions, and the assets of a selection of groups."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import dagster as dg

from ragval_pipeline.errors import SuiteError
from ragval_pipeline.suite.criteria import GROUPS, Group, groups_of
from ragval_pipeline.suite.model import Suite

#: External assets.
SITEMAP = "sitemap"
COLLECTION = "collection"

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

#: The report's check of the run's verdict; the others are named like their criterion.
VERDICT_CHECK = "verdict"

#: Run tag: groups of measurements to run, comma separated; absent: all.
ONLY_TAG = "ragval/only"
#: Run tag: everything is computed, and nothing of an earlier run is read.
FULL_TAG = "ragval/full"
SUITE_TAG = "ragval/suite"
#: The verdict of a run: pass, fail or not_measured; absent if an outside system failed, or the run died.
VERDICT_TAG = "ragval/verdict"
TRIGGER_TAG = "ragval/trigger"
#: Names of all ingestions that a validation covers, comma separated: run ids, or substitutes.
INGESTIONS_TAG = "ragval/ingestions"
UPSTREAM_ASSET_TAG = "ragval/upstream_asset"
UPSTREAM_RUN_TAG = "ragval/upstream_run"


def asset_key(suite: str, name: str, prefix: Sequence[str] = ()) -> dg.AssetKey:
    """``[suite, name]``, after the project's prefix."""
    return dg.AssetKey([*prefix, suite, name])


def prefix_parts(key_prefix: str | Sequence[str]) -> tuple[str, ...]:
    """The parts of a key prefix, written as ``a/b`` or as a list.

    Raises:
        SuiteError: A part has characters other than letters, digits and ``_``, which step names do not allow.
    """
    parts = tuple(key_prefix.split("/") if isinstance(key_prefix, str) else key_prefix)
    for part in parts:
        if not re.fullmatch(r"\w+", part, re.ASCII):
            raise SuiteError(
                f"{part!r} is not a valid part of an asset key",
                key="key_prefix",
                remedy="Use letters, digits and _; separate several parts as a/b or [a, b].",
            )
    return parts


def job_name(suite: str) -> str:
    """The job that validates the suite."""
    return f"{suite}_validation"


def step_name(suite: str, prefix: Sequence[str] = ()) -> str:
    """The step that makes all assets of a suite."""
    return "__".join([*prefix, suite, "validation"])


def pool_name(suite: Suite) -> str:
    """The concurrency pool of a collection, with which a deployment limits validations to one at a time.

    All collections of an embedded Qdrant are in one pool: only one process at a time may open its folder.
    """
    if suite.points is not None:
        return f"ragval:{suite.qdrant.collection}-{hashlib.sha256(suite.points.encode()).hexdigest()[:8]}"
    if suite.qdrant.path is None:
        return "ragval:" + "_".join(suite.qdrant.collection.split())
    folder = os.path.normpath(suite.folder / suite.qdrant.path)
    return f"ragval:{suite.qdrant.path.name or 'qdrant'}-{hashlib.sha256(folder.encode()).hexdigest()[:8]}"


def resource_key(suite: str, name: str) -> str:
    """Resource keys include the suite, since several suites share a code location."""
    return f"{suite}__{name}"


def check_name(criterion: str) -> str:
    """The name of a criterion's check: Dagster allows letters, digits and underscores only.

    ``coverage@acme`` is ``coverage_at_acme``; a partition with other characters is told apart by a hash.
    """
    measure, of, partition = criterion.partition("@")
    if not of:
        return criterion
    plain = re.sub(r"\W+", "_", partition, flags=re.ASCII)
    digest = "" if plain == partition else f"_{hashlib.sha256(partition.encode()).hexdigest()[:6]}"
    return f"{measure}_at_{plain}{digest}"


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
