"""The rules of a suite's own in a run: what they read, and their findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragval_pipeline.lazy import pa
from ragval_pipeline.sources.datasets import dataset_of
from ragval_pipeline.validation.own_rules import checked_rules, own_findings
from ragval_pipeline.validation.query_report import query_results_of
from ragval_pipeline.validation.views.questions import question_tables
from ragval_pipeline.validation.views.tables import raw_schemas

if TYPE_CHECKING:
    from ragval_pipeline.findings.model import Finding
    from ragval_pipeline.sources.site.inventory import SiteInventory
    from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
    from ragval_pipeline.suite.model import Suite
    from ragval_pipeline.validation.facts.manifest import FactsManifest
    from ragval_pipeline.validation.measurement import Measurement


def findings_of_rules(
    suite: Suite,
    measurements: Sequence[Measurement],
    *,
    inventory: SiteInventory | None,
    manifest: SnapshotManifest | None,
    facts: FactsManifest | None,
) -> list[Finding]:
    """The findings of the suite's own rules; none if it has no rules, or the collection was not read."""
    if not suite.rules or manifest is None:
        return []
    sections = {name: section for entry in measurements for name, section in entry.sections.items()}
    tables: dict[str, Any] = {
        "_points": dataset_of([manifest.folder() / part.name for part in manifest.parts]),
        **_facts(facts),
        "_site": _site(inventory),
        **question_tables(query_results_of(sections)),
    }
    return list(
        own_findings(checked_rules(suite), {name: table for name, table in tables.items() if table is not None})
    )


def _facts(facts: FactsManifest | None) -> Mapping[str, Any]:
    if facts is None or not facts.parts:
        return {}
    folder = facts.folder()
    files = {"_chunks": facts.files("chunks"), "_pages": facts.files("pages")}
    return {name: dataset_of([folder / part.name for part in parts]) for name, parts in files.items()}


def _site(inventory: SiteInventory | None) -> pa.Table | None:
    if inventory is None:
        return None
    rows = [
        {
            "url": page.url,
            "page_key": page.key,
            "lastmod": None if page.lastmod is None else str(page.lastmod),
            "sitemap": page.sitemap,
            "in_scope": page.in_scope,
            "out_of_scope": page.out_of_scope,
        }
        for page in inventory.pages
    ]
    return pa.Table.from_pylist(rows, schema=raw_schemas()["_site"])
