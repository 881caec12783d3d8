"""``metadata_expectations``: whether every point holds the metadata that readers rely on, also as a GX suite."""

from datetime import UTC, datetime

from ragval_pipeline.sources.site.inventory import SiteInventory
from ragval_pipeline.sources.site.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def judge_payloads(
    suite: Suite, inventory: SiteInventory, pages: PageCopiesManifest, manifest: SnapshotManifest
) -> Measurement:
    """Judge the payloads of a resolved suite's collection, and have Great Expectations judge their levels."""
    from ragval_pipeline.sources.site.inventory import modules_of
    from ragval_pipeline.sources.site.page_copies.reader import PageCopies
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.validation.metadata import expectations
    from ragval_pipeline.validation.payload.evidence import (
        PayloadRules,
        measure_payloads,
        take_evidence,
        with_expectations,
    )

    profile = get_profile(suite.profile)
    rules = PayloadRules(
        fields=manifest.fields,
        required=manifest.required,
        observed=manifest.observed,
        urls_required=inventory.configured,
        plain_headings=profile.plain_headings if profile else False,
        modules=suite.payload.modules,
        filtered=tuple(suite.qdrant.filter or ()),
        id_rule=profile.id_rule if profile else None,
        path_modules=modules_of(inventory.pages),
    )
    if not manifest.points:
        return measure_payloads(take_evidence(Snapshot(manifest), rules, now=datetime.now(UTC)))
    copies = PageCopies(pages) if pages.parts else None
    with expectations.loading_expectations():
        evidence = take_evidence(Snapshot(manifest), rules, copies=copies, now=datetime.now(UTC))
        measured = measure_payloads(evidence)
        judged = expectations.run_expectations(
            evidence.levels, fields=rules.fields, required=rules.required, urls_required=rules.urls_required
        )
    return with_expectations(measured, judged)
