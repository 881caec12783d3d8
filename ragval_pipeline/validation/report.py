"""``ValidationReport``: the contract of ``validation_report.json``, the same shape under every profile."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ragval_pipeline.findings.model import ReportedFinding
from ragval_pipeline.validation.packed import Packed
from ragval_pipeline.validation.query_report import Entity, PrecisionMetric, QueryReport
from ragval_pipeline.validation.verdict import CriterionResult, RunVerdict

#: The minor version rises when fields are added, the major when a field is removed or changes meaning. 1.1 added
#: ``groups``, ``held_to``, and null for figures of queries that were not run; 1.2 ``by_mode``;
#: 1.3 ``partition``, ``by_partition``, ``traffic``, ``not_compared``, ``rerank_calls``.
SCHEMA_VERSION = "1.3"
#: Names of the other ways to search, for readers.
WAYS = {
    "bm25": "plain BM25",
    "dense": "search by dense vectors",
    "sparse": "search by sparse vectors",
    "hybrid": "hybrid search",
    "text": "search by a text index",
    "rerank": "your search, reranked,",
}
#: The metric of another way that needs no page: the share of the questions that it answers.
ANSWERED = "answered"


class Distribution(Entity):
    """Smallest, largest, mean and median of some numbers; all null without any."""

    min: float | None = None
    max: float | None = None
    avg: float | None = None
    median: float | None = None


class MetricValue(Entity):
    """A retrieval metric: mean over ``n`` queries, and the best mean that the ground truth allows."""

    value: float | None
    n: int
    ceiling: float | None = None


class ModeValue(Entity):
    """A metric of another way to search: its mean over ``n`` queries, and how much more than the judged way's that is.

    ``interval`` are the 95 % limits of the difference, ``p`` is the probability of as much more by chance; both null
    where they were not computed.
    """

    value: float
    n: int
    difference: float
    interval: tuple[float, float] | None = None
    p: float | None = None


class RetrievalMetrics(Entity):
    """Retrieval metrics on pages and on chunks, per category of the queries, and of other ways to search."""

    page: dict[str, MetricValue] = Field(default_factory=dict)
    chunk: dict[str, MetricValue] = Field(default_factory=dict)
    by_category: dict[str, dict[str, MetricValue]] = Field(default_factory=dict)
    by_mode: dict[str, dict[str, ModeValue]] = Field(
        default_factory=dict, description="The ways of retrieval.also; answered: share of the questions answered"
    )
    not_compared: dict[str, str] = Field(
        default_factory=dict, description="Why ways of retrieval.also were not compared, by way"
    )


class ModuleCoverage(Entity):
    """Coverage of one module of the site."""

    total: int
    indexed: int
    missing: int
    coverage_percentage: float


class CoverageReport(Entity):
    """Sitemap against index."""

    total_sitemap_urls: int | None = None
    indexed_urls: list[str] | None = Field(None, description="In-scope pages with a chunk, as written in the sitemap")
    missing_urls: list[str] | None = Field(None, description="In-scope pages without a chunk")
    extra_urls: list[str] | None = Field(None, description="Indexed pages that are not in scope, as stored")
    coverage_percentage: float | None = None
    timestamp: str | None = None
    by_module: dict[str, ModuleCoverage] = Field(default_factory=dict)


class QualityMetrics(Entity):
    """Statistics of chunks and scores."""

    total_chunks: int | None = None
    chunks_with_complete_metadata: int | None = None
    metadata_completeness_rate: float | None = Field(None, description="Percent")
    token_distribution: Distribution = Distribution()
    similarity_distribution: Distribution = Distribution()
    avg_similarity_score: float | None = Field(None, description="Mean best score over all queries with hits")
    timestamp: str | None = None


class TrafficTopic(Entity):
    """Questions of the log that ask for the same."""

    question: str = Field(description="The most frequent wording, personal data masked")
    count: float = Field(description="How often it was asked, in any wording")
    page: str | None = Field(description="Page of the best hit, as stored")
    score: float | None = Field(description="Score of the best hit; null when nothing was found")
    confident: bool = Field(description="Whether it has a page that confidently answers it")
    probability: float | None = Field(
        None, description="Probability that it has no page; null when a threshold decides, or nothing was found"
    )
    in_queries: bool = Field(description="Whether a test query asks the same")
    wordings: list[str] = Field(description="Up to three of its wordings")


class TrafficReport(Entity):
    """The log of real questions against the index."""

    questions: float = Field(description="Number of questions, repeated ones counted")
    wordings: int = Field(description="Different questions, personal data masked")
    clusters: int = Field(description="Groups of questions of nearly the same wording")
    asked: int = Field(description="Topics that were searched for: groups of the same wording or the same vector")
    asked_share: float = Field(description="Their share of the questions")
    stopped: str | None = Field(None, description="Why not all were searched for; null when they were")
    first: str | None = Field(None, description="When the first question was asked; null without times")
    last: str | None = None
    confident_share: float | None = Field(
        description="Share of the questions searched for that have a confident page, without those that should have "
        "none; null when none was"
    )
    refused_share: float = Field(0.0, description="Share of the questions that negative test queries ask")
    unanswered: int = Field(description="Topics without a confident page")
    decided_by: str = Field(description="What decides whether a page is confident")
    masked: dict[str, int] = Field(description="Personal data masked, by kind")
    unread_pages: list[str] = Field(description="The first 100 indexed pages that no question returns")
    unread_count: int
    pages: int = Field(description="Indexed pages in scope")
    not_in_queries: int = Field(description="Topics that no test query asks")
    not_in_queries_share: float = Field(description="Their share of the questions")
    topics: list[TrafficTopic] = Field(description="The 50 most asked topics")
    drift: float | None = Field(
        None, description="Total variation distance between what is asked now and in the run before, 0..1"
    )
    compared_with: str | None = Field(None, description="That run")
    asked_more: list[str] = Field(default_factory=list)
    asked_less: list[str] = Field(default_factory=list)


class Cost(Entity):
    """What embedding cost."""

    embedding_calls: int = Field(0, description="Calls to the provider, including repeated and failed calls")
    embedding_inputs: int = Field(0, description="Texts in these calls; those of a repeated call count once")
    billed_tokens: float | None = Field(None, description="Null when the provider reports none")
    cache_hits: int = Field(0, description="Texts embedded without the provider")
    rerank_calls: int = Field(0, description="Calls of retrieval.rerank, including repeated and failed ones")
    rerank_searches: float | None = Field(None, description="Searches that its provider billed; null when unknown")
    seconds: float = Field(0.0, description="Seconds spent in successful calls")
    usd: float | None = Field(None, description="US dollars, by ragval's price table; null when unknown")
    prices_of: str | None = Field(None, description="Year and month of the prices; null when nothing was paid")
    stopped: str | None = Field(None, description="Why calls stopped: the suite's budget was reached")


class ValidationReport(Entity):
    """The whole verdict on one index, from one run."""

    schema_version: str = SCHEMA_VERSION
    suite: str
    partition: str | None = Field(
        None, description="The one of the suite's partitions that was validated; null: it has none"
    )
    run_id: str
    profile: str | None
    collection_name: str
    verdict: RunVerdict
    pass_status: bool
    timestamp: str
    duration_seconds: float
    groups: list[str] | None = Field(None, description="Groups of measurements asked for (--only); null: all")
    criteria: list[CriterionResult]
    by_partition: dict[str, dict[str, CriterionResult]] = Field(
        default_factory=dict, description="Every criterion for each value of qdrant.partition_by, by value and name"
    )
    findings: list[ReportedFinding]
    total_queries: int | None = Field(
        description="All queries of the run, with templates expanded, except those that were not judged; null when "
        "not asked"
    )
    passed_queries: int | None
    failed_queries: int | None
    error_queries: int | None = Field(description="Queries that could not be asked or judged")
    pass_rate: float | None = Field(description="Percent of total_queries; null when none was judged")
    avg_top1_score: float | None = Field(
        description="Mean best score of the positive queries that count; null when none was answered"
    )
    queries_above_threshold: int | None
    avg_precision_at_3: float | None
    avg_precision_at_5: float | None
    query_results: Packed[QueryReport]
    precision_metrics: Packed[PrecisionMetric]
    retrieval_metrics: RetrievalMetrics
    coverage_report: CoverageReport
    quality_metrics: QualityMetrics
    traffic: TrafficReport | None = Field(None, description="Null without a log of real questions")
    index: dict[str, Any]
    latency: dict[str, Any]
    cost: Cost
    environment: dict[str, Any]

    @property
    def title(self) -> str:
        """The suite, with its partition as ``-s`` takes it: ``book@acme``."""
        return self.suite if self.partition is None else f"{self.suite}@{self.partition}"

    def criterion(self, name: str) -> CriterionResult:
        """The result of one criterion.

        Raises:
            KeyError: The report has no such criterion.
        """
        for result in self.criteria:
            if result.name == name:
                return result
        raise KeyError(name)
