"""The assets of a suite, one row each: what they read, ask and measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import OnFirstUse
from ragval_pipeline.measuring.names import (
    CHUNK_FACTS,
    CHUNK_STRUCTURE,
    CONTENT_INTEGRITY,
    COVERAGE_REPORT,
    GOLDEN_SET,
    INDEX_HEALTH,
    LATENCY_PROFILE,
    METADATA_EXPECTATIONS,
    PAGE_SNAPSHOT,
    PAYLOAD_SNAPSHOT,
    QUALITY_METRICS,
    QUERY_VALIDATION_RESULTS,
    REGRESSION,
    SELF_RETRIEVAL,
    SITEMAP_URLS,
    SPARSE_VECTORS,
    TRAFFIC,
    VALIDATION_REPORT,
    VECTOR_HEALTH,
)
from ragval_pipeline.measuring.parts import Work
from ragval_pipeline.measuring.task import Task
from ragval_pipeline.suite.model import Suite

if TYPE_CHECKING:
    from ragval_pipeline.measuring import index_health, measures, query_validation_results, reading, traffic
else:
    # What does the work is imported by the first step that has some: definitions load with the table alone.
    index_health, measures, query_validation_results, reading, traffic = (
        OnFirstUse(f"ragval_pipeline.measuring.{name}")
        for name in ("index_health", "measures", "query_validation_results", "reading", "traffic")
    )


@dataclass(frozen=True)
class Row:
    """One asset.

    Attributes:
        text: Description for the UI, Markdown.
        kinds: Kinds for the UI.
        reads: The assets that it reads.
        asks: Resources that it opens.
        parts: Functions that measure its parts, by name; none for an asset that reads systems.
        make: Function that makes an asset without parts, and returns its metadata.
    """

    text: str
    kinds: tuple[str, ...]
    reads: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    parts: Mapping[str, Work] = field(default_factory=dict)
    make: Callable[[Task], Mapping[str, Any]] | None = None

    def kinds_for(self, suite: Suite) -> set[str]:
        """The kinds of what the asset of a suite really reads."""
        source, kinds = suite.source, set(self.kinds)
        if source is None or source.sitemap is None:
            kinds -= {"xml"}
        if source is None:
            kinds -= {"html"}
        if suite.points:
            kinds = {"parquet" if kind == "qdrant" else kind for kind in kinds}
        if "embedder" in self.asks and suite.embedding.provider == "cohere":
            kinds |= {"cohere"}
        return kinds


ROWS: Mapping[str, Row] = {
    SITEMAP_URLS: Row(
        "All pages listed in the site's sitemap.",
        ("xml",),
        make=lambda task: reading.read_site(task),
    ),
    PAGE_SNAPSHOT: Row(
        "The text of every in-scope page, read once and stored as Parquet parts.",
        ("html", "parquet"),
        reads=(SITEMAP_URLS,),
        make=lambda task: reading.copy_pages(task),
    ),
    PAYLOAD_SNAPSHOT: Row(
        "The payload of every point, read once and stored as Parquet parts. Each row has the sitemap page that its "
        "point belongs to.",
        ("qdrant", "parquet"),
        reads=(SITEMAP_URLS,),
        asks=("qdrant",),
        make=lambda task: reading.read_points(task),
    ),
    CHUNK_FACTS: Row(
        "One row per chunk and one per page: what is found where, what is missing and what differs. Texts are read "
        "only here.",
        ("parquet",),
        reads=(PAGE_SNAPSHOT, PAYLOAD_SNAPSHOT),
        make=lambda task: measures.make_chunk_facts(task),
    ),
    COVERAGE_REPORT: Row(
        "Sitemap pages with and without chunks, and chunks without a page.",
        ("json",),
        reads=(PAYLOAD_SNAPSHOT,),
        parts={
            COVERAGE_REPORT: lambda task: measures.compare_pages(
                task.suite, task.inventory, task.manifest, task.partitions
            )
        },
    ),
    METADATA_EXPECTATIONS: Row(
        "Whether every point has its required metadata; also available as a Great Expectations suite.",
        ("greatexpectations",),
        reads=(CHUNK_FACTS,),
        parts={
            METADATA_EXPECTATIONS: lambda task: measures.judge_payloads(
                task.suite, task.inventory, task.pages, task.manifest, task.partitions
            )
        },
    ),
    CONTENT_INTEGRITY: Row(
        "Whether each chunk is found on its page and each page's content in its chunks, and whether chunks are "
        "complete, unique, short enough and clean.",
        ("parquet",),
        reads=(CHUNK_FACTS,),
        parts={
            CHUNK_STRUCTURE: lambda task: measures.judge_chunks(task.suite, task.facts, task.partitions),
            CONTENT_INTEGRITY: lambda task: measures.compare_content(task.facts, task.partitions, task.secrets),
        },
    ),
    QUERY_VALIDATION_RESULTS: Row(
        "Results of all test queries, of searches for each page by its own title and headings, whether the test "
        "queries can distinguish a good index from a bad one, and which real questions have no answer.",
        ("qdrant",),
        reads=(CHUNK_FACTS,),
        asks=("qdrant", "embedder"),
        parts={
            QUERY_VALIDATION_RESULTS: lambda task: query_validation_results.ask_and_judge(
                task.suite, task.inventory, task.manifest, task.qdrant, task.embedding, task.partitions
            ),
            SELF_RETRIEVAL: lambda task: query_validation_results.ask_pages(
                task.suite,
                task.inventory,
                task.pages,
                task.manifest,
                task.qdrant,
                task.embedding,
                partitions=task.partitions,
            ),
            GOLDEN_SET: lambda task: query_validation_results.review(
                task.suite,
                task.inventory,
                task.manifest,
                task.before[QUERY_VALIDATION_RESULTS].sections,
                task.before[SELF_RETRIEVAL].sections,
            ),
            TRAFFIC: lambda task: traffic.ask_log(task),
        },
    ),
    INDEX_HEALTH: Row(
        "Whether every point has the vector of its text, made by the model that embeds the queries; whether the "
        "collection is ready, has indexes on filtered fields, and is searched accurately and fast enough.",
        ("qdrant",),
        reads=(CHUNK_FACTS,),
        asks=("qdrant", "embedder"),
        parts={
            VECTOR_HEALTH: lambda task: index_health.vector_health(task),
            SPARSE_VECTORS: lambda task: index_health.examine_sparse(task.suite, task.manifest, task.qdrant),
            INDEX_HEALTH: lambda task: index_health.examine_index(
                task.suite, task.manifest, task.qdrant, task.embedding, task.partitions
            ),
            LATENCY_PROFILE: lambda task: index_health.time_searches(
                task.suite, task.manifest, task.qdrant, task.embedding, task.partitions
            ),
        },
    ),
    QUALITY_METRICS: Row(
        "Distributions of chunk sizes and similarity scores.",
        ("json",),
        reads=(QUERY_VALIDATION_RESULTS,),
        parts={QUALITY_METRICS: lambda task: measures.describe_quality(task.manifest, task.answers)},
    ),
    REGRESSION: Row(
        "This run compared with the baseline: results query by query, and the criteria of the index.",
        ("json",),
        reads=(
            QUERY_VALIDATION_RESULTS,
            COVERAGE_REPORT,
            METADATA_EXPECTATIONS,
            CONTENT_INTEGRITY,
            INDEX_HEALTH,
        ),
        parts={
            REGRESSION: lambda task: measures.compare_with_baseline(
                task.suite,
                task.place.base,
                task.manifest,
                task.answers,
                task.parts_of(ROWS[REGRESSION].reads),
                task.partitions,
            )
        },
    ),
}
#: The measuring assets.
MEASURING = tuple(name for name, row in ROWS.items() if row.parts)
ROWS = {
    **ROWS,
    VALIDATION_REPORT: Row(
        "The verdict on the index, with all its evidence.",
        ("json", "html"),
        reads=(CHUNK_FACTS, *MEASURING),
        asks=("qdrant", "embedder"),
    ),
}
#: Every asset of a suite.
ASSETS = tuple(ROWS)
#: Steps of the progress display: an asset's parts, else the asset.
STEPS = tuple(step for name, row in ROWS.items() for step in (row.parts or (name,)))


def asset_of(part: str) -> str:
    """The asset that a part belongs to; its own name for an asset."""
    return next((name for name, row in ROWS.items() if part in row.parts), part)


#: Raised whenever an asset's measurement changes, so that the UI marks older values.
CODE_VERSION = "3"
