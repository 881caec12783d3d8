"""The rules of a suite's own in a run: what they read, and their findings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ragval_pipeline.measuring.facts.files import StoredFacts
from ragval_pipeline.sources.datasets import dataset_of
from ragval_pipeline.sources.snapshot.reader import Snapshot
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.validation.chunks.compared import compare
from ragval_pipeline.validation.chunks.judged import Judged
from ragval_pipeline.validation.coverage.indexed import COLUMNS, collect_pages
from ragval_pipeline.validation.coverage.tables import addresses_table, run_table, site_table
from ragval_pipeline.validation.own_rules import checked_rules, own_findings
from ragval_pipeline.validation.payload.mapped import fields_table
from ragval_pipeline.validation.query_report import query_results_of
from ragval_pipeline.validation.views.questions import question_tables
from ragval_pipeline.validation.views.tables import learnt_tables

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
    rules = checked_rules(suite)
    left_out = manifest.set_aside
    tables: dict[str, Any] = {
        "_points": dataset_of([manifest.folder() / part.name for part in manifest.parts], left_out),
        **_facts(facts),
        "_fields": fields_table(manifest.fields, manifest.required),
        **question_tables(query_results_of(sections)),
        **learnt_tables(sections.get),
    }
    statements = " ".join(written.rule.sql for written in rules)
    if facts is not None and facts.parts and re.search("judged_(chunks|pages)", statements):
        judged = Judged(compare(StoredFacts(facts)))
        tables |= {name: judged.table(name) for name in ("_judged_chunks", "_judged_pages")}
    now, profile = datetime.now(UTC), get_profile(suite.profile)
    located = inventory.location if inventory is not None else None
    own_queries = sections.get("self_retrieval", {})
    tables["_run"] = run_table(
        now,
        located,
        id_rule=profile.id_rule if profile else None,
        collection_points=manifest.points,
        distance=next((vector.distance for vector in manifest.facts.vectors), None),
        pages_to_ask=own_queries.get("pages"),
        pages_asked=own_queries.get("pages_asked"),
    )
    if inventory is not None:
        tables["_site"] = site_table(inventory)
        if re.search(r"\baddresses\b", statements):
            indexed = collect_pages(Snapshot(manifest).rows(COLUMNS), now=now)
            tables["_addresses"] = addresses_table(indexed, inventory.scope_urls, manifest.points)
    return list(own_findings(rules, {name: table for name, table in tables.items() if table is not None}))


def _facts(facts: FactsManifest | None) -> Mapping[str, Any]:
    if facts is None or not facts.parts:
        return {}
    folder = facts.folder()
    chunks, pages = ([folder / part.name for part in facts.files(table)] for table in ("chunks", "pages"))
    return {"_chunks": dataset_of(chunks, facts.points.set_aside), "_pages": dataset_of(pages)}
