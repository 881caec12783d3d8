"""The inputs of all outputs of a run: its report, and the evidence behind it, also of a stored run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ragval_pipeline.findings.model import Finding, ReportedFinding, Subject
from ragval_pipeline.reporting.history.earlier import answers_of, kept_subjects, read_report
from ragval_pipeline.reporting.history.model import RunHistory
from ragval_pipeline.reporting.history.runs import history_of
from ragval_pipeline.reporting.remediation import kept_plan
from ragval_pipeline.sources.history import EVIDENCE, HistoryNotReadError, KeptRun, reading_from
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import KeptParts, SnapshotManifest
from ragval_pipeline.sources.storage import open_folder
from ragval_pipeline.suite.scores import are_of_vectors
from ragval_pipeline.text.json_text import parse_json
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.repair.repair_plan import RepairPlan
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from upath import UPath

    from ragval_pipeline.sources.stores.qdrant.facts import VectorFacts

logger = logging.getLogger(__name__)


#: Ranks of the right pages of failed queries.
DIAGNOSIS = "query_diagnosis.json"
REMEDIATION = "remediation.json"
#: Folders of the evidence in Parquet files, and what is in them.
Kind = Literal["payload", "prints", "pages", "facts", "kept"]
_PARTS: Mapping[Kind, str] = {
    "payload": "the payload snapshot is", "prints": "the prints of the points are",
    "pages": "the page copies are", "facts": "the facts are",
    "kept": "what a later run reads again is",
}  # fmt: skip


@dataclass(frozen=True)
class ReportBundle:
    """One run's report and the evidence behind it.

    Attributes:
        report: The report, with at most 100 subjects per finding.
        findings: The same findings with all their subjects, graded, in report order.
        inventory: The site, or None if it was not read.
        manifest: The snapshot, or None if the collection was not read.
        pages: The page copies, or None if no page was read.
        facts: The facts of chunks and pages, or None if they were not made.
        rankings: Query id to distinct pages returned, best first.
        judgements: Query id to page to relevance grade, for queries with ground truth.
        asked_at: Query id to the time of its search, UTC; without queries that were not run.
        query_vectors: Query id to its vector, packed; empty if no entity of the profile has vectors.
        chunk_vectors: Id of each returned point to its stored vector, packed; empty if ``query_vectors`` is.
        extras: Further JSON evidence by file name, e.g. ``{"expectations.json": {...}}``.
        queries: Every test query of the suite as given, including those not run.
        settings: The suite's settings as used by the run, without secrets, in the shape of the suite file.
        history: The stored runs, this one last, and changes since the previous one; None if unknown.
        plan: What to do about the findings.
        masked: A text that a run has read, as it may be shown.
    """

    report: ValidationReport
    findings: Sequence[Finding] = ()
    inventory: SiteInventory | None = None
    manifest: SnapshotManifest | None = None
    pages: PageCopiesManifest | None = None
    facts: FactsManifest | None = None
    rankings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    judgements: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    asked_at: Mapping[str, str] = field(default_factory=dict)
    query_vectors: Mapping[str, str] = field(default_factory=dict)
    chunk_vectors: Mapping[str, str] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)
    queries: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    history: RunHistory | None = None
    plan: RepairPlan = field(default_factory=RepairPlan)
    masked: Callable[[str], str] = str

    def setting(self, *path: str) -> Any:
        """The setting at ``path``, e.g. ``setting("retrieval", "min_similarity")``; None if unknown."""
        value: Any = self.settings
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    @property
    def searched_vector(self) -> VectorFacts | None:
        """The vectors that queries search; None if the collection was not read."""
        return None if self.manifest is None else self.manifest.facts.vector(self.setting("qdrant", "vector_name"))

    @property
    def higher_is_better(self) -> bool:
        """Whether higher scores are better; False for distances."""
        of_vectors = are_of_vectors(self.setting("retrieval", "mode"), self.setting("retrieval", "retriever"))
        vector = self.searched_vector
        return not of_vectors or vector is None or vector.higher_is_better

    def kept(self) -> Mapping[Kind, KeptParts | None]:
        """The manifests of the evidence in Parquet files, by its folder."""
        prints, kept = self.manifest and self.manifest.prints, self.facts and self.facts.kept
        return {"payload": self.manifest, "prints": prints, "pages": self.pages, "facts": self.facts, "kept": kept}

    def parts(self, kind: Kind) -> Mapping[str, UPath]:
        """The Parquet files of some evidence by name: where they were staged, else in an earlier run.

        What is missing is left out with a warning in the log.
        """
        manifest = self.kept()[kind]
        if manifest is None or not manifest.parts:
            return {}
        for uri in (manifest.staged_uri, manifest.kept_uri):
            folder = open_folder(uri)
            files = {part.name: folder / part.name for part in manifest.parts}
            if all(part.exists() for part in files.values()):
                return files
        logger.warning("%s gone from %s and left out of the evidence", _PARTS[kind], manifest.kept_uri)
        return {}


def bundle_of(run: KeptRun, *, settings: Mapping[str, Any], baseline: str | None, limit: int) -> ReportBundle:
    """The bundle of a stored run, as far as its files have it.

    Raises:
        HistoryNotReadError: The run cannot be read.
    """
    report = read_report(run)
    answers = answers_of(run, report)
    return ReportBundle(
        report=report,
        findings=[_whole(finding) for finding in report.findings],
        rankings=answers.rankings,
        judgements=answers.judgements,
        extras=_json_files(run.folder / EVIDENCE, "*.json"),
        queries=[{**query.query, "id": query.query_id} for query in report.query_results],
        settings=settings,
        plan=kept_plan(_json_files(run.folder, REMEDIATION).get(REMEDIATION, {}), report.findings),
        history=history_of(
            run.folder.parent, run.name, report, kept_subjects(run, report), baseline=baseline, limit=limit
        ),
    )


def _whole(finding: ReportedFinding) -> Finding:
    """A finding with the subjects in the report: the first hundred."""
    measured = finding.measured
    fields = finding.model_dump(exclude={"count", "subjects", "details"})
    return Finding(
        **fields,
        subjects=tuple(Subject(name=name, details=measured.get(name, {})) for name in finding.subjects),
        details={name: value for name, value in finding.details.items() if name != "subjects"},
    )


def _json_files(folder: UPath, pattern: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with reading_from(folder):
        files = sorted(folder.glob(pattern), key=str) if folder.exists() else []
        for file in files:
            try:
                found[file.name] = parse_json(file.read_bytes())
            except ValueError as error:
                raise HistoryNotReadError(file, str(error)) from None
    return found
