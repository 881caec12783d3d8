"""The sections of a suite file: every key with its type, range and default."""

# Annotations as objects, here and in ``payload`` and ``model``: as strings, each would be compiled on loading.

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from ragval_pipeline.suite.section import (
    Fraction,
    FromOne,
    FromZero,
    Judge,
    Local,
    Mode,
    Number,
    Parallel,
    Positive,
    Rank,
    Score,
    Section,
    Text,
    Texts,
    Way,
    Whole,
    blank_is_none,
    http_address,
    no_bool,
    one_is_a_list,
)


class QdrantSettings(Section):
    """Where the collection is. Exactly one of ``url`` and ``path``, unless the suite's ``points`` name a file."""

    url: Annotated[str, AfterValidator(http_address)] | None = Field(
        None, description="Qdrant server, http(s)://host[:port]"
    )
    path: Local | None = Field(None, description="Folder of an embedded Qdrant (qdrant-client's local mode)")
    #: The suite's own key ``points``, so that whoever opens a store needs this section alone.
    points: SkipJsonSchema[str | None] = Field(None, exclude=True, repr=False)
    api_key: SecretStr | None = Field(None, description="API key of the server, preferably as ${QDRANT_API_KEY:-}")
    collection: str = Field(min_length=1, description="Collection or alias")
    vector_name: str | None = Field(None, description="For collections with named vectors")
    filter: dict[str, str | int | bool] | None = Field(
        None,
        description="Payload values {field: value} that points must have: validates one site of a shared collection",
    )
    partition_by: Text | None = Field(
        None,
        description="Payload field with the tenant, version or language that searches filter by: points without one, "
        "and points in another one than their page, are named",
    )
    prefer_grpc: bool = Field(False, description="Use gRPC if the server offers it, otherwise REST")
    grpc_port: Annotated[int, Field(ge=1, le=65535), BeforeValidator(no_bool)] = Field(
        6334, description="gRPC port of the server"
    )
    max_changing: Fraction = Field(
        0.01,
        description="Share of the points, 0..1, that may come, go or change during a run: they are set aside and "
        "named, and the others are judged. If more change, no gate is met",
    )
    timeout_s: Positive = Field(30, description="Timeout of one call, in seconds")
    concurrency: Parallel = Field(4, description="Concurrent requests to the server; 1: one after another")
    batch: Rank = Field(50, description="Searches in one request; reduced if the server refuses")

    _blank = field_validator("url", "path", "api_key", "vector_name", mode="before")(blank_is_none)

    @model_validator(mode="after")
    def _one_place(self) -> "QdrantSettings":
        given = [name for name in ("url", "path") if getattr(self, name) is not None]
        if self.points is not None and given:
            raise ValueError(f"{' and '.join(given)} cannot be used with points: the file is read instead of Qdrant")
        if self.points is None and len(given) != 1:
            raise ValueError("set exactly one of url and path")
        return self


#: Stands for the address of a site whose pages are named by their files.
FILES = "files"
#: The keys of ``source`` that name pages, of which a suite has one.
SOURCES = ("sitemap", "folder", "urls", "llms")


class SourceSettings(Section):
    """The site that the collection came from. Exactly one of ``sitemap``, ``folder``, ``urls`` and ``llms``."""

    sitemap: str | None = Field(None, description="URL or file: sitemap, sitemap index, .gz, or a site's URL")
    folder: Local | None = Field(
        None, description="Folder of the Markdown, MDX or HTML files that the site is built from, instead of a sitemap"
    )
    site_url: str | None = Field(
        None,
        description="With folder: URL that the site is served at; files: none, points name files; null: taken from "
        "the site's configuration",
    )
    urls: Path | tuple[Text, ...] | None = Field(
        None, description="List of URLs, or a file with one URL per line, instead of a sitemap"
    )
    llms: str | None = Field(None, description="URL or file of an llms.txt, instead of a sitemap")
    include: Texts = Field((), description="Globs over the URL's path; none: all pages")
    exclude: Texts = Field((), description="Globs over the URL's path; wins over include")
    site_root: Local | None = Field(None, description="Folder holding the built site, read instead of fetching pages")
    base_path: str | None = Field(None, description="Path that the site is served under; null: detected")
    host_aliases: Texts = Field((), description="Hosts that serve the same site")
    fetch_pages: bool = Field(True, description="Read the pages, for integrity and staleness")
    max_pages: FromOne | None = Field(5000, description="Maximum number of pages to read; null: all")
    min_readable: Fraction = Field(
        0.9, description="Share of the pages that must be readable; below it, nothing is compared with pages"
    )
    timeout_s: Positive = Field(30, description="Timeout of one request, in seconds")

    _blank = field_validator("sitemap", "folder", "site_url", "urls", "llms", "site_root", "base_path", mode="before")(
        blank_is_none
    )

    @field_validator("urls", mode="before")
    @classmethod
    def _file_or_list(cls, urls: Any) -> Any:
        if isinstance(urls, str) and "://" in urls:
            raise ValueError("must be a list of URLs, or a file with one")
        return urls

    @model_validator(mode="after")
    def _one_kind(self) -> "SourceSettings":
        if sum(getattr(self, kind) is not None for kind in SOURCES) != 1:
            raise ValueError("set exactly one of sitemap, folder, urls and llms")
        if self.site_url is not None and self.folder is None:
            raise ValueError("site_url can only be used with folder: the other kinds contain full URLs")
        if self.site_url == FILES and self.site_root is not None:
            raise ValueError("site_root needs the site's URL: set site_url")
        return self

    @property
    def kind(self) -> str:
        """Which of the kinds of source names the pages: ``sitemap``, ``folder``, ``urls`` or ``llms``."""
        return next(kind for kind in SOURCES if getattr(self, kind) is not None)

    @property
    def location(self) -> str:
        """Where the pages are named, in a few words."""
        listed = "a list in the suite" if isinstance(self.urls, tuple) else self.urls
        return str(self.sitemap or self.folder or self.llms or listed)


class EmbeddingSettings(Section):
    """How queries are embedded: exactly as the collection was."""

    provider: str = Field(
        "cohere",
        min_length=1,
        description="cohere, openai, voyage, sentence-transformers, fastembed, static (offline), or module:attr",
    )
    model: str | None = Field(None, description="Null: the provider's default")
    base_url: str | None = Field(
        None, description="URL of the provider, or of a server with the same API; null: the provider's own"
    )
    api_key: SecretStr | None = Field(
        None,
        description="API key of the provider; null: COHERE_API_KEY, or CO_API_KEY; OPENAI_API_KEY without a base_url; "
        "VOYAGE_API_KEY",
    )
    dimension: FromOne | None = Field(None, description="Dimensions of the vectors; null: the model's default")
    max_input_tokens: FromOne | None = Field(
        None, description="Token limit of the model; null: the known limit of the model"
    )
    query_input_type: Literal["search_query", "search_document"] = Field(
        "search_query", description="Input type sent to the provider for queries"
    )
    long_queries: Literal["refuse", "cut"] = Field(
        "refuse",
        description="What to do with a query that exceeds the token limit of cohere or voyage: report an error, or "
        "truncate it",
    )
    identity_sample: FromZero | None = Field(
        None, description="Number of points to re-embed; null: all if free, otherwise 200"
    )

    _blank = field_validator("model", "base_url", "api_key", mode="before")(blank_is_none)


class SparseSettings(Section):
    """Which sparse vectors keyword search uses."""

    vector_name: str | None = Field(
        None, description="Sparse vector that every point must have; null: any of those that the collection has"
    )
    model: Annotated[str, Field(pattern=r"^(bm25|[\w.]+:[\w.]+)$")] | None = Field(
        None,
        description="bm25: the vectors are fastembed's BM25; module:attr: your own function from texts to sparse "
        "vectors; null: found out from their numbers",
    )

    _blank = field_validator("vector_name", "model", mode="before")(blank_is_none)


#: module:attr
_OWN_FUNCTION = r"^[\w.]+:[\w.]+$"


class RerankSettings(Section):
    """Which model puts the first hits in order."""

    provider: Literal["cohere"] = Field("cohere", description="The model's provider")
    model: Text = Field("rerank-v4.0-fast", description="Its name")
    top_n: Rank = Field(50, description="Number of hits that it orders")
    base_url: Annotated[str, AfterValidator(http_address)] | None = Field(
        None, description="URL of the provider; null: CO_API_URL, else its own"
    )
    api_key: SecretStr | None = Field(
        None, description="Its API key; null: that of embedding, if it is Cohere's; else COHERE_API_KEY, or CO_API_KEY"
    )

    _blank = field_validator("base_url", "api_key", mode="before")(blank_is_none)

    @field_validator("provider", mode="before")
    @classmethod
    def _not_a_function(cls, provider: Any) -> Any:
        if isinstance(provider, str) and re.fullmatch(_OWN_FUNCTION, provider):
            raise ValueError(f"is a provider, not a function of your own: write rerank: {provider}")
        return provider


class RetrievalSettings(Section):
    """How queries are asked and judged."""

    mode: Mode = Field(
        "dense",
        description="How your assistant searches, which criteria and gates judge. dense: by embedded texts; sparse: "
        "by the collection's sparse vectors; hybrid: by both, fused; text: by a scored text index (Qdrant 1.20)",
    )
    top_k: Rank = Field(5, description="Number of hits that a query is judged by")
    k: Annotated[tuple[Rank, ...], BeforeValidator(one_is_a_list)] = Field(
        (3, 5), description="Ranks of the page metrics"
    )
    min_similarity: Score = Field(
        0.70,
        description="Score threshold where a score decides: for queries without expectations, and negative queries; "
        "at most 1 if mode is dense",
    )
    relevance_similarity: Score = Field(0.50, description="Score from which a hit counts in relevance_rate")
    judge: Annotated[tuple[Judge, ...], BeforeValidator(one_is_a_list)] | None = Field(
        None, description="Conditions that decide; null: all expectations of the query, or its score if it has none"
    )
    module_match: Literal["exact", "normalised", "prefix", "regex"] = Field(
        "normalised", description="How modules are compared; normalised: case, blanks, - and _ alike"
    )
    exact: bool = Field(False, description="Search exactly instead of through HNSW")
    repeats: Whole = Field(2, ge=1, le=100, description="Searches per query, for determinism")
    self_sample: FromOne = Field(
        400, description="Maximum number of pages to search for by their own title and headings"
    )
    retriever: str | None = Field(None, description="module:attr, your production search")
    also: Annotated[tuple[Way, ...], BeforeValidator(one_is_a_list)] = Field(
        ("bm25",),
        description="Further ways to search, asked the same questions and compared, never a gate: the modes, and "
        "bm25: in memory, over the stored texts; rerank: the mode's first hits, put in order by a model; []: none",
    )
    fusion: Literal["rrf", "dbsf"] = Field(
        "rrf", description="How Qdrant fuses the hits of a hybrid search: by their ranks, or by their scores"
    )
    sparse: SparseSettings = Field(default_factory=SparseSettings, description="The sparse vectors of a collection")

    rerank: RerankSettings | Annotated[str, Field(pattern=_OWN_FUNCTION)] | None = Field(
        None, description="What also: [rerank] orders hits by: a provider's model, or module:attr, your own function"
    )

    _blank = field_validator("retriever", "rerank", mode="before")(blank_is_none)

    @field_validator("min_similarity", "relevance_similarity")
    @classmethod
    def _of_the_mode(cls, threshold: float, info: ValidationInfo) -> float:
        if threshold > 1 and info.data.get("mode") == "dense":
            raise ValueError(f"must be less than or equal to 1 with mode dense, not {threshold:g}")
        return threshold

    @model_validator(mode="after")
    def _one_way_is_judged(self) -> "RetrievalSettings":
        if self.retriever is not None and self.mode != "dense":
            raise ValueError("mode cannot be used with retriever, which searches in its own way")
        if self.retriever is None and self.mode in self.also:
            raise ValueError(f"also names {self.mode}, which mode judges already")
        if "rerank" in self.also and self.rerank is None:
            raise ValueError("also names rerank, and there is no rerank: say which model")
        return self


class GateSettings(Section):
    """One criterion's gate as the suite writes it."""

    threshold: Number | None = Field(None, description="Threshold for the value; null: the default threshold")
    required: bool | None = Field(None, description="True: fails the run. False: a warning")


class RetrySettings(Section):
    """The one retry policy."""

    max: Whole = Field(3, ge=0, le=20, description="Retries after the first try")
    delay_s: Number = Field(1.0, ge=0, description="Seconds before the first retry; doubles")
    deadline_s: Positive = Field(120, description="Seconds after which no retry starts")


class BudgetSettings(Section):
    """What a run may spend on the embedding provider, test queries first. Reached: no further call, and exit code 4."""

    calls: FromOne | None = Field(None, description="Maximum number of calls, including retries; null: no limit")
    tokens: FromOne | None = Field(None, description="Maximum number of tokens billed by the provider; null: no limit")

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self.calls is not None or self.tokens is not None


class HistorySettings(Section):
    """Earlier runs."""

    baseline: str | None = Field(None, description="Run that later runs are compared with; null: the blessed run")
    tolerated_drop: Fraction = Field(0.02, description="Drop of a metric that does not count as a regression")
    keep_runs: FromOne = Field(50, description="Number of runs to keep")

    _blank = field_validator("baseline", mode="before")(blank_is_none)


class ScaleSettings(Section):
    """What does the heavy work of a run; results do not depend on it."""

    workers: FromOne | Literal["auto"] = Field(
        "auto", description="Processes that compare texts; auto: one per processor, or one for a small collection"
    )
    engine: Literal["local", "ray"] = Field(
        "local", description="local: processes of this machine; ray: a Ray cluster (ragval-pipeline[ray])"
    )
    address: str | None = Field(
        None, description="Address of the Ray cluster, or auto for a running one; null: a cluster on this machine"
    )

    _blank = field_validator("address", mode="before")(blank_is_none)


#: A partition of Dagster, which is also a folder of reports.
PartitionKey = Annotated[str, Field(pattern=r"^\w[\w.:+-]*$")]


class PartitionSettings(Section):
    """Dagster's partitions, each validated by itself: one collection, filter or site a partition."""

    static: Annotated[tuple[PartitionKey, ...], Field(min_length=1)] | None = Field(
        None, description="Partition keys, which replace ${partition} in the suite"
    )
    dynamic: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="Name of the ingestion's dynamic partitions in Dagster, which has their keys"
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.static is None) == (self.dynamic is None):
            raise ValueError("needs either static or dynamic")
        if self.static is not None and len(set(self.static)) < len(self.static):
            raise ValueError("static names a partition twice")
        return self


class AutomationSettings(Section):
    """What starts a validation."""

    after_asset: str | None = Field(None, description="Asset key whose materialisation starts a run, a/b/c")
    after_job: str | None = Field(None, description="Job whose success starts a run, job or location:job")
    cron: str | None = Field(None, description="Five cron fields, or a macro such as @daily")
    poll_s: FromOne | None = Field(None, description="Seconds between checks of the collection")
    enabled: bool = Field(False, description="Enable schedules and sensors by default")
    fresh_within_hours: Positive | None = Field(None, description="Hours after which a report is stale")

    _blank = field_validator("after_asset", "after_job", "cron", mode="before")(blank_is_none)

    @field_validator("cron")
    @classmethod
    def _cron_fields(cls, cron: str | None) -> str | None:
        if cron is not None and not cron.startswith("@") and len(cron.split()) != 5:
            raise ValueError("must be five cron fields, such as 0 6 * * *")
        return cron


class QueryFiles(Section):
    """A query file with its ground truth in another file."""

    file: Local = Field(description="Query file: YAML, JSON, JSONL or CSV")
    ground_truth: Local | None = Field(None, description="Relevant pages by query, or a qrels file")

    _blank = field_validator("ground_truth", mode="before")(blank_is_none)


class TrecFiles(Section):
    """TREC topics and relevance judgements."""

    topics: Local = Field(description="Topics: TREC markup, TSV, CSV, JSON, JSONL or YAML")
    qrels: Local = Field(description="Judgements: query, 0, document, grade; or query, document, grade")
