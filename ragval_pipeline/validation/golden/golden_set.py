"""The test queries with the suite's requirements, the facts that they are reviewed against, and the measurement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ragval_pipeline.lazy import pa, pc
from ragval_pipeline.sources.arrow import array_of
from ragval_pipeline.sources.site.inventory import SiteInventory, modules_of
from ragval_pipeline.sources.stores.qdrant.names import canonical_id
from ragval_pipeline.suite.criteria import Gate
from ragval_pipeline.suite.queries.model import TestQuery
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.golden import tables
from ragval_pipeline.validation.measurement import Measurement
from ragval_pipeline.validation.query_report import query_results_of
from ragval_pipeline.validation.report import MetricValue
from ragval_pipeline.validation.retrieval.conditions import RetrievalSettings
from ragval_pipeline.validation.retrieval.texts import fold_text
from ragval_pipeline.validation.views.tables import kept_columns


@dataclass(frozen=True)
class GoldenSet:
    """The test queries with the suite's requirements.

    Attributes:
        queries: In file order.
        inventory: The site.
        settings: Retrieval settings of the suite.
        gates: The gate of each criterion.
        unmatched_topics: Ids of the qrels without a query, with their number of judgements.
    """

    queries: Sequence[TestQuery]
    inventory: SiteInventory
    settings: RetrievalSettings
    gates: Mapping[str, Gate]
    unmatched_topics: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Reviewed:
    """The evidence of the detectors.

    Attributes:
        golden: The test queries.
        facts: Pages, modules, chapters and texts of the index.
        results: Report sections of the queries; empty if they could not be run.
        own: Report sections of self retrieval.
    """

    group: ClassVar[str] = "queries"
    views: ClassVar[frozenset[str]] = frozenset({"test_queries", "site_modules", "ranking_gates", "judged"})
    golden: GoldenSet
    facts: IndexFacts
    results: Mapping[str, Any]
    own: Mapping[str, Any]

    @property
    def metrics(self) -> dict[str, MetricValue]:
        """The page metrics by name."""
        page = self.results.get("retrieval_metrics", {}).get("page", {})
        return {name: MetricValue.model_validate(metric) for name, metric in page.items()}

    def table(self, name: str) -> pa.Table:
        """The table of a name under the views."""
        return self.tables[name.removeprefix("_")]

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """The tables under the views, by name of the view."""
        golden, page_key = self.golden, self.golden.inventory.folder().key
        passed = {report.query_id: report.passed for report in query_results_of(self.results)}
        modules = modules_of(golden.inventory.pages)
        return {
            "test_queries": tables.test_queries(golden.queries, passed, modules, page_key),
            "site_modules": tables.site_modules(golden.inventory.pages, modules),
            "ranking_gates": tables.ranking_gates(self.metrics, golden.gates),
            "judged": tables.judged(golden.queries, golden.unmatched_topics, self.facts.pages, page_key),
        }


#: Snapshot columns that ``collect_facts`` needs.
COLUMNS = ("point_id", "page_key", "module", "chapter", "text", "chunk_index")
#: Chunks sampled for base rates: enough for an accuracy of about one percent.
SAMPLED_CHUNKS = 2000  # work


@dataclass(frozen=True)
class Chunk:
    """The fields of a chunk that a query's expectation can match by chance."""

    page: str | None
    module: str | None
    chapter: str | None
    text: str
    point_id: str = ""
    chunk_index: int | None = None


@dataclass
class IndexFacts:
    """Pages, modules and chapters of the index with their points, and a sample of chunks.

    Attributes:
        points: Number of points.
        pages: Number of points by canonical page.
        modules: Number of points by stored module.
        chapters: Number of points by stored chapter.
        sample: Every n-th chunk in id order: ids are random or in page order, so the sample is evenly spread.
        ids: Those of the ids expected by queries that a point has.
        numbered: Page and chunk index of the points with an index that queries expect.
    """

    points: int = 0
    pages: Counter[str] = field(default_factory=Counter)
    modules: Counter[str] = field(default_factory=Counter)
    chapters: Counter[str] = field(default_factory=Counter)
    sample: list[Chunk] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    numbered: set[tuple[str, int]] = field(default_factory=set)


def collect_facts(batches: Iterable[pa.RecordBatch], *, points: int, expected: Sequence[TestQuery] = ()) -> IndexFacts:
    """Collect the facts; ``expected`` are queries whose expected ids are looked up."""
    stated = {canonical_id(name) for query in expected for name in query.stated("id")}
    numbers = {number for query in expected for _, number in query.stated_chunks}
    facts = IndexFacts()
    step = max(1, points // SAMPLED_CHUNKS)
    for batch in batches:
        for counter, name in ((facts.pages, "page_key"), (facts.modules, "module"), (facts.chapters, "chapter")):
            counted = pc.value_counts(batch.column(name).drop_null())
            known = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
            counter.update({value: count for value, count in known if value})
        if stated:
            facts.ids |= stated.intersection(batch.column("point_id").to_pylist())
        if numbers:
            pairs = zip(batch.column("page_key").to_pylist(), batch.column("chunk_index").to_pylist(), strict=True)
            facts.numbered |= {(page, number) for page, number in pairs if number in numbers and page is not None}
        sampled = range(-facts.points % step, batch.num_rows, step)
        for row in batch.take(array_of(sampled, pa.int64())).to_pylist():
            names = (row["page_key"], row["module"], row["chapter"])
            facts.sample.append(Chunk(*names, fold_text(row["text"] or ""), row["point_id"], row["chunk_index"]))
        facts.points += batch.num_rows
    return facts


ASSET = "golden_set"


def review_golden_set(
    golden: GoldenSet, facts: IndexFacts, *, results: Mapping[str, Any], own: Mapping[str, Any]
) -> Measurement:
    """Review the golden set.

    ``results`` are the report sections of the queries, empty if they could not be run; ``own`` those of self retrieval.
    """
    reviewed = Reviewed(golden, facts, results, own)
    return Measurement(asset=ASSET, findings=tuple(find_all(reviewed)), sections=kept_columns(**reviewed.tables))
