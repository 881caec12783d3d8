"""The suite: every key that a suite file can hold, with its type, range and default.

What lives here: the models. What does not: reading the file (``load``), the test queries (``queries``), the profiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, field_validator, model_validator

from ragval_pipeline.findings.catalogue import CATALOGUE
from ragval_pipeline.suite.criteria import is_criterion, known_names
from ragval_pipeline.suite.nearest import did_you_mean

CANONICAL_FIELDS = (
    "text", "source_url", "title", "module", "chapter", "headings", "token_count", "chunk_index",
    "chunk_id", "text_hash", "model", "embedded_at", "original_length",
)  # fmt: skip

DEFAULT_FIELDS = {
    **{name: name for name in CANONICAL_FIELDS},
    "text": "chunk_text",
    "module": "module_name",
    "chapter": "chapter_id",
    "headings": "heading_hierarchy",
}
#: Canonical fields whose payload names are required when neither suite nor profile names any.
DEFAULT_REQUIRED = ("source_url", "chapter", "module", "headings", "token_count", "chunk_index")

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
JUDGEABLE = ("score", "module", "chapter", "url", "keywords", "results")


class Section(BaseModel):
    """Base of all sections: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


def _blank_is_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


class QdrantSettings(Section):
    """Where the collection is. Exactly one of ``url`` and ``path``."""

    url: str | None = Field(None, description="Qdrant server, http(s)://host[:port]")
    path: Path | None = Field(None, description="Folder of an embedded Qdrant (qdrant-client's local mode)")
    api_key: SecretStr | None = None
    collection: str = Field(min_length=1, description="Collection or alias")
    vector_name: str | None = Field(None, description="For collections with named vectors")
    filter: dict[str, str | int | bool] | None = Field(None, description="Payload equality {field: value}")
    prefer_grpc: bool = False
    timeout_s: float = Field(30, gt=0, description="Seconds for one call")

    _blank = field_validator("url", "path", "api_key", "vector_name", mode="before")(_blank_is_none)

    @model_validator(mode="after")
    def _one_place(self) -> QdrantSettings:
        if (self.url is None) == (self.path is None):
            raise ValueError("give exactly one of url and path")
        return self


class SourceSettings(Section):
    """The site that the collection came from."""

    sitemap: str = Field(min_length=1, description="URL or file: sitemap, sitemap index, .gz, or a site's root URL")
    include: tuple[str, ...] = Field((), description="Globs over the URL's path; none: all pages")
    exclude: tuple[str, ...] = Field((), description="Globs over the URL's path; wins over include")
    site_root: Path | None = Field(None, description="Folder holding the built site, read instead of fetching")
    base_path: str | None = Field(None, description="Path that the site is served under; null: found out")
    host_aliases: tuple[str, ...] = Field((), description="Hosts that serve the same site")
    fetch_pages: bool = True
    max_pages: int = Field(5000, ge=1)
    timeout_s: float = Field(30, gt=0, description="Seconds for one request")

    _blank = field_validator("site_root", "base_path", mode="before")(_blank_is_none)


class PayloadSettings(Section):
    """How the payload's names map to the canonical ones."""

    fields: dict[str, str] = Field(
        default_factory=lambda: dict(DEFAULT_FIELDS), description="Canonical name to payload name; dots reach inside"
    )
    required: tuple[str, ...] = Field((), description="Payload names that every point must hold")
    modules: tuple[str, ...] | None = Field(None, description="Allowed modules; null: derived from the sitemap")

    @field_validator("fields")
    @classmethod
    def _canonical(cls, fields: dict[str, str]) -> dict[str, str]:
        for name in fields:
            if name not in CANONICAL_FIELDS:
                raise ValueError(f"{name} is no canonical field. {did_you_mean(name, CANONICAL_FIELDS)}")
        return fields


class EmbeddingSettings(Section):
    """How queries are embedded: exactly as the collection was."""

    provider: str = Field("cohere", min_length=1, description="cohere, static, or module:attr")
    model: str | None = Field(None, description="Null: the provider's default")
    base_url: str | None = None
    api_key: SecretStr | None = None
    dimension: int | None = Field(None, ge=1)
    max_input_tokens: int | None = Field(None, ge=1)
    query_input_type: Literal["search_query", "search_document"] = "search_query"
    identity_sample: int | None = Field(None, ge=0, description="Points re-embedded; null: all if free, else 200")

    _blank = field_validator("model", "base_url", "api_key", "dimension", mode="before")(_blank_is_none)


class RetrievalSettings(Section):
    """How queries are asked and judged."""

    top_k: int = Field(5, ge=1, le=1000, description="Hits per query")
    k: tuple[Annotated[int, Field(ge=1, le=1000)], ...] = Field((3, 5), description="Ranks of the page metrics")
    min_similarity: Fraction = 0.70
    relevance_similarity: Fraction = 0.50
    judge: tuple[Literal["score", "module", "chapter", "url", "keywords", "results"], ...] | None = Field(
        None, description="Conditions that decide; null: all that the query states"
    )
    module_match: Literal["exact", "normalised", "prefix", "regex"] = "normalised"
    exact: bool = Field(False, description="Search exactly instead of through HNSW")
    repeats: int = Field(2, ge=1, le=20, description="Searches per query for determinism")
    retriever: str | None = Field(None, description="module:attr, your production search")


class GateSettings(Section):
    """One criterion's gate as the suite writes it."""

    threshold: float | None = None
    required: bool | None = None


class RetrySettings(Section):
    """The one retry policy."""

    max: int = Field(3, ge=0, le=20, description="Retries after the first try")
    delay_s: float = Field(1.0, ge=0, description="Seconds before the first retry; doubles")
    deadline_s: float = Field(120, gt=0, description="Seconds after which no retry starts")


class HistorySettings(Section):
    """Earlier runs."""

    baseline: str | None = Field(None, description="Run that later ones are held against; null: the blessed one")
    tolerated_drop: Fraction = 0.02
    keep_runs: int = Field(50, ge=1)


class AutomationSettings(Section):
    """What starts a validation."""

    after_asset: str | None = Field(None, description="Asset key whose materialisation starts a run, a/b/c")
    after_job: str | None = Field(None, description="Job whose success starts a run")
    cron: str | None = None
    poll_s: int | None = Field(None, ge=30, description="Seconds between looks at the collection")
    enabled: bool = Field(False, description="Ship schedules and sensors switched on")
    fresh_within_hours: float | None = Field(None, gt=0)


class QueryFiles(Section):
    """A query file with its ground truth apart."""

    file: Path
    ground_truth: Path | None = None


class TrecFiles(Section):
    """TREC topics and relevance judgements."""

    topics: Path
    qrels: Path


@dataclass(frozen=True)
class SuiteOrigin:
    """Where a suite was read from, so that it can be read again when a run starts.

    Args:
        file: The suite file, absolute.
        folder: Where relative paths start.
        written: Its content before any placeholder was replaced.
        flags: Settings given on the command line, in the shape of the suite; they win.
    """

    file: Path
    folder: Path
    written: dict[str, Any]
    flags: dict[str, Any]


class Suite(Section):
    """What to validate, complete and checked. ``load_suite`` reads one from a file."""

    suite: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="Name of the suite: prefix of every asset key")
    profile: str | None = None
    report_uri: str = Field("./ragval_reports", min_length=1, description="Folder or fsspec URL")
    qdrant: QdrantSettings
    source: SourceSettings | None = None
    payload: PayloadSettings = Field(default_factory=PayloadSettings)
    embedding: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    queries: Path | list[dict[str, Any]] | QueryFiles | TrecFiles | None = None
    retrieval: RetrievalSettings = Field(default_factory=RetrievalSettings)
    criteria: dict[str, GateSettings | None] = Field(default_factory=dict)
    severity: dict[str, Literal["error", "warning", "info", "off"]] = Field(default_factory=dict)
    retry: RetrySettings = Field(default_factory=RetrySettings)
    history: HistorySettings = Field(default_factory=HistorySettings)
    automation: AutomationSettings = Field(default_factory=AutomationSettings)

    _origin: SuiteOrigin | None = PrivateAttr(None)

    @property
    def folder(self) -> Path:
        """Folder that relative paths start at: the suite file's, else the working directory."""
        return self._origin.folder if self._origin else Path.cwd()

    @field_validator("queries", mode="before")
    @classmethod
    def _shape_of_queries(cls, queries: Any) -> Any:
        if isinstance(queries, dict):
            return (TrecFiles if "topics" in queries or "qrels" in queries else QueryFiles).model_validate(queries)
        if queries is None or isinstance(queries, str | list | Section | Path):
            return queries
        raise ValueError("must be a file, a list of queries, {file, ground_truth} or {topics, qrels}")

    @field_validator("criteria", mode="before")
    @classmethod
    def _numbers_are_gates(cls, criteria: Any) -> Any:
        if not isinstance(criteria, dict):
            return criteria
        for name in criteria:
            if not is_criterion(str(name)):
                raise ValueError(f"{name} is no criterion. {did_you_mean(str(name), known_names())}")
        return {
            name: gate if gate is None or isinstance(gate, dict | GateSettings) else {"threshold": gate}
            for name, gate in criteria.items()
        }

    @field_validator("severity", mode="before")
    @classmethod
    def _known_codes(cls, severity: Any) -> Any:
        if not isinstance(severity, dict):
            return severity
        for code in severity:
            if code not in CATALOGUE:
                raise ValueError(f"{code} is no finding code. {did_you_mean(str(code), CATALOGUE)}")
        # YAML 1.1 reads a bare off as false.
        return {code: "off" if value is False else value for code, value in severity.items()}
