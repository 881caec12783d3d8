"""The inputs of all outputs of a run: its report, and the evidence behind it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.reporting.history.model import RunHistory
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import KeptParts, SnapshotManifest
from ragval_pipeline.sources.storage import open_folder
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.report import ValidationReport

if TYPE_CHECKING:
    from upath import UPath

logger = logging.getLogger(__name__)


#: Ranks of the right pages of failed queries.
DIAGNOSIS = "query_diagnosis.json"


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
        remedies: ``remediation.json``, the source of the lines to copy.
        history: The stored runs, this one last, and changes since the previous one; None if unknown.
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
    remedies: Mapping[str, Any] = field(default_factory=dict)
    history: RunHistory | None = None

    def setting(self, *path: str) -> Any:
        """The setting at ``path``, e.g. ``setting("retrieval", "min_similarity")``; None if unknown."""
        value: Any = self.settings
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def snapshot_parts(bundle: ReportBundle) -> Mapping[str, UPath]:
    """The parts of the snapshot by name: where they were staged, else in an earlier run.

    A missing snapshot is left out with a warning in the log.
    """
    return _parts(bundle.manifest, "payload snapshot is")


def page_parts(bundle: ReportBundle) -> Mapping[str, UPath]:
    """The parts of the page copies by name, found like those of the snapshot."""
    return _parts(bundle.pages, "page copies are")


def fact_parts(bundle: ReportBundle) -> Mapping[str, UPath]:
    """The files of the facts by name, found like those of the snapshot."""
    return _parts(bundle.facts, "facts are")


def _parts(manifest: KeptParts | None, what: str) -> Mapping[str, UPath]:
    if manifest is None or not manifest.parts:
        return {}
    for uri in (manifest.staged_uri, manifest.kept_uri):
        folder = open_folder(uri)
        found = {part.name: folder / part.name for part in manifest.parts}
        if all(part.exists() for part in found.values()):
            return found
    logger.warning("the %s gone from %s and left out of the evidence", what, manifest.kept_uri)
    return {}
