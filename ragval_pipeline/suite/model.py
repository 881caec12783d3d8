"""The suite as a whole: what to validate."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import Discriminator, Field, PrivateAttr, Tag, field_validator, model_validator

from ragval_pipeline.findings.catalogue import CATALOGUE, OWN_PREFIX
from ragval_pipeline.suite.criteria import is_criterion, known_names, measure_of
from ragval_pipeline.suite.payload import PayloadSettings
from ragval_pipeline.suite.section import Local, Section, Severities, Shown
from ragval_pipeline.suite.sections import (
    AutomationSettings,
    BudgetSettings,
    EmbeddingSettings,
    GateSettings,
    HistorySettings,
    PartitionSettings,
    QdrantSettings,
    QueryFiles,
    RetrievalSettings,
    RetrySettings,
    ScaleSettings,
    SourceSettings,
    TrecFiles,
)
from ragval_pipeline.text.printing import did_you_mean, printable


def _shape_of_queries(queries: Any) -> str | None:
    if isinstance(queries, TrecFiles) or (isinstance(queries, Mapping) and queries.keys() & {"topics", "qrels"}):
        return "trec"
    if isinstance(queries, QueryFiles | Mapping):
        return "files"
    if isinstance(queries, list | tuple):
        return "list"
    return "file" if isinstance(queries, Path) or (isinstance(queries, str) and queries.strip()) else None


Queries = Annotated[
    Annotated[Local, Tag("file")]
    | Annotated[list[dict[str, Any] | str], Tag("list")]
    | Annotated[QueryFiles, Tag("files")]
    | Annotated[TrecFiles, Tag("trec")],
    Discriminator(
        _shape_of_queries,
        custom_error_type="queries",
        custom_error_message="must be a file, a list of queries, {file, ground_truth} or {topics, qrels}",
    ),
]


@dataclass(frozen=True)
class SuiteOrigin:
    """Where a suite was read from, so that it can be read again when a run starts.

    Attributes:
        file: The suite file, absolute.
        folder: Where relative paths start.
        written: Its content before any placeholder was replaced; may hold keys, so it is never shown.
        flags: Settings given on the command line, in the shape of the suite; they win. Never shown either.
        partition: The partition that is validated; None: not chosen, or the suite has none.
    """

    file: Path
    folder: Path
    written: dict[str, Any] = field(repr=False)
    flags: dict[str, Any] = field(repr=False)
    partition: str | None = None


def points_name(points: str) -> str:
    """What a file of points is called where a collection has its name: the file's or folder's own name."""
    return points.rstrip("/").rpartition("/")[2].removesuffix(".parquet") or "points"


class Suite(Section):
    """What to validate, complete and checked. ``load_suite`` reads one from a file."""

    suite: str = Field(
        pattern=r"^[a-z][a-z0-9_]*$", max_length=63, description="Name of the suite: prefix of every asset key"
    )
    profile: str | None = Field(
        None,
        description="One of five profiles, which emulate existing validators; null: only the gates in criteria",
    )
    points: Shown | None = Field(
        None,
        description="Instead of a collection: a Parquet file, a folder of them, or an fsspec URL, with the columns id, "
        "payload (JSON text) and vector or vector.NAME",
    )
    report_uri: Shown = Field("./ragval_reports", description="Folder or fsspec URL for reports and history")
    qdrant: QdrantSettings = Field(description="Location of the collection")
    source: SourceSettings | None = Field(
        None, description="The site that the collection was made from; null: coverage and integrity are not measured"
    )
    payload: PayloadSettings = Field(
        default_factory=PayloadSettings, description="Mapping from the payload's field names to the canonical ones"
    )
    embedding: EmbeddingSettings = Field(
        default_factory=EmbeddingSettings,
        description="How queries are embedded; must be the same as for the collection",
    )
    queries: Queries | None = Field(
        None, description="A query file, a BEIR folder, a list, {file, ground_truth} or {topics, qrels}"
    )
    retrieval: RetrievalSettings = Field(
        default_factory=RetrievalSettings, description="How queries are run and judged"
    )
    criteria: dict[str, GateSettings | None] = Field(
        default_factory=dict, description="Gates by criterion, merged over the profile's; null: no gate"
    )
    severity: dict[str, Severities] = Field(default_factory=dict, description="Severity by finding code")
    rules: list[Annotated[str, Field(min_length=1)]] = Field(
        default_factory=list, description="Files with rules of your own, relative to the suite file; may be globs"
    )
    absent: Local | tuple[int | str | dict[str, Any], ...] | None = Field(
        None,
        repr=False,
        description="Addresses, ids and phrases that no point may hold and no search return: a list, or a file with "
        "one per line",
    )
    traffic: Local | tuple[str | dict[str, Any], ...] | None = Field(
        None,
        repr=False,
        description="A log of real questions (JSONL, CSV, Parquet): text, and optional count, time and filter. "
        "Personal data is masked when it is read",
    )
    retry: RetrySettings = Field(default_factory=RetrySettings, description="Retry policy for all calls")
    history: HistorySettings = Field(default_factory=HistorySettings, description="Earlier runs")
    scale: ScaleSettings = Field(default_factory=ScaleSettings, description="What does the heavy work of a run")
    budget: BudgetSettings = Field(
        default_factory=BudgetSettings, description="What a run may spend on the embedding provider"
    )
    partitions: PartitionSettings | None = Field(
        None,
        description="Partitions that are validated one by one, for themselves: ${partition} in the suite is the "
        "partition of the run",
    )
    latency: Literal["on", "off"] = Field(
        "on", description="Single timed searches; each embeds its query again, which a provider may charge for"
    )
    automation: AutomationSettings = Field(default_factory=AutomationSettings, description="What starts a validation")

    _origin: SuiteOrigin | None = PrivateAttr(None)

    @property
    def folder(self) -> Path:
        """Folder that relative paths start at: the suite file's, else the working directory."""
        return self._origin.folder if self._origin else Path.cwd()

    @property
    def partition(self) -> str | None:
        """The partition that is validated; None: not chosen, or the suite has none."""
        return self._origin.partition if self._origin else None

    @property
    def place(self) -> str:
        """Where its reports are below ``report_uri``: its name, and that of its partition."""
        return self.suite if self.partition is None else f"{self.suite}/{quote(self.partition, safe='')}"

    @property
    def file(self) -> Path | None:
        """The suite file; None for a suite made in Python."""
        return self._origin.file if self._origin else None

    def has_threshold(self, name: str) -> bool:
        """Whether a threshold of ``retrieval`` fits the judged scores: those by default are of cosine similarities."""
        if self.retrieval.mode == "dense":
            return True
        written = self._origin.written.get("retrieval") if self._origin else self.retrieval.model_fields_set
        return name in (written or ())

    @model_validator(mode="before")
    @classmethod
    def _file_is_a_store(cls, settings: Any) -> Any:
        if not isinstance(settings, Mapping):
            return settings
        qdrant, points = settings.get("qdrant"), settings.get("points")
        if isinstance(qdrant, Mapping) and qdrant.get("points") not in (None, points):
            raise ValueError("points must be a key of its own, not one of qdrant's")
        if not isinstance(points, str) or not points.strip():
            return settings
        if qdrant is None or isinstance(qdrant, Mapping):
            own = {"collection": points_name(points), **(qdrant or {})}
            return {**settings, "qdrant": {**own, "points": points}}
        return settings

    @field_validator("points", mode="before")
    @classmethod
    def _blank_is_no_file(cls, points: Any) -> Any:
        return None if isinstance(points, str) and not points.strip() else points

    @field_validator("profile", mode="before")
    @classmethod
    def _blank_is_no_profile(cls, profile: Any) -> Any:
        return None if isinstance(profile, str) and not profile.strip() else profile

    @field_validator("latency", mode="before")
    @classmethod
    def _switch(cls, latency: Any) -> Any:
        # YAML 1.1 reads bare on and off as truth values.
        return {True: "on", False: "off"}[latency] if isinstance(latency, bool) else latency

    @field_validator("criteria", mode="before")
    @classmethod
    def _numbers_are_gates(cls, criteria: Any) -> Any:
        if not isinstance(criteria, Mapping):
            return criteria
        for name in criteria:
            if not is_criterion(str(name)):
                told = did_you_mean(measure_of(str(name)), known_names())
                raise ValueError(f"{printable(name)} is not a criterion. {told}")
        return {
            name: gate if gate is None or isinstance(gate, Mapping | GateSettings) else {"threshold": gate}
            for name, gate in criteria.items()
        }

    @field_validator("severity", mode="before")
    @classmethod
    def _known_codes(cls, severity: Any) -> Any:
        if not isinstance(severity, Mapping):
            return severity
        for code in severity:
            if code not in CATALOGUE and not str(code).startswith(OWN_PREFIX):
                raise ValueError(f"{printable(code)} is not a finding code. {did_you_mean(str(code), CATALOGUE)}")
        # YAML 1.1 reads a bare off as false.
        return {code: "off" if value is False else value for code, value in severity.items()}
