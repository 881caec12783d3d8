"""Everything that the outputs of one run are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragval_pipeline.findings.model import Finding
from ragval_pipeline.reporting.history.model import RunHistory
from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.report import ValidationReport


@dataclass(frozen=True)
class ReportBundle:
    """One run's report and the evidence behind it.

    Attributes:
        report: The verdict, with at most 100 subjects a finding.
        findings: The same findings with all their subjects, graded, in report order.
        inventory: The site, or None when it was not read.
        manifest: The snapshot, or None when the collection was not read.
        pages: The page copies, or None when no page was read.
        facts: The facts of chunks and pages, or None when they were not made.
        rankings: Query id to the pages that came back, best first, each once.
        judgements: Query id to page to relevance grade, for queries with ground truth.
        asked_at: Query id to the time when it was asked, UTC; without queries that were not.
        query_vectors: Query id to what it was searched with, packed; empty where no entity of the profile holds any.
        chunk_vectors: Id of each returned point to its stored vector, packed; empty where ``query_vectors`` is.
        extras: Further JSON evidence by file name, e.g. ``{"expectations.json": {...}}``.
        queries: Every test query of the suite as given, also those that were not asked.
        settings: The suite's settings as the run used them, without secrets, in the shape of the suite file.
        remedies: ``remediation.json``: what the lines to copy are made from.
        history: The runs kept so far, this one last, and what changed since the one before; None when not known.
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
        """The setting at ``path``, e.g. ``setting("retrieval", "min_similarity")``; None when it is not known."""
        value: Any = self.settings
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value
