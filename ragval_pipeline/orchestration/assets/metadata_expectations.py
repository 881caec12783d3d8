"""``metadata_expectations``: whether every point holds the metadata that readers rely on, also as a GX suite."""

from datetime import UTC, datetime
from typing import Any

from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.page_copies.manifest import PageCopiesManifest
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement


def judge_payloads(
    suite: Suite, inventory: SiteInventory, pages: PageCopiesManifest, manifest: SnapshotManifest
) -> Measurement:
    """Judge the payloads of a resolved suite's collection: field by field, then as a whole."""
    from ragval_pipeline.sources.inventory import modules_of
    from ragval_pipeline.sources.page_copies.reader import PageCopies
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.suite.profiles import get_profile
    from ragval_pipeline.validation.payload.measure import PayloadRules, with_payload_findings

    profile = get_profile(suite.profile)
    rules = PayloadRules(
        modules=suite.payload.modules,
        filtered=tuple(suite.qdrant.filter or ()),
        id_rule=profile.id_rule if profile else None,
        path_modules=modules_of(inventory.pages),
    )
    plain = profile.plain_headings if profile else False
    measured = judge_payload(manifest, urls_required=inventory.configured, plain_headings=plain)
    return with_payload_findings(measured, Snapshot(manifest), rules, PageCopies(pages) if pages.parts else None)


def judge_payload(manifest: SnapshotManifest, *, urls_required: bool, plain_headings: bool = False) -> Measurement:
    """Count the four levels over the snapshot and have Great Expectations judge the same points."""
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.metadata.expectations import run_expectations
    from ragval_pipeline.validation.metadata.levels import count_levels, needed_columns, present_fields
    from ragval_pipeline.validation.metadata.measure import measure_metadata

    snapshot, now = Snapshot(manifest), datetime.now(UTC)
    columns = needed_columns(manifest.fields, manifest.required)
    arguments: dict[str, Any] = {"fields": manifest.fields, "now": now, "urls_required": urls_required}
    counts = count_levels(snapshot.batches(columns), required=manifest.required, **arguments)
    present = present_fields(manifest.fields, manifest.required)
    expectations = run_expectations(snapshot.table(columns), required=present, **arguments) if manifest.points else {}
    return measure_metadata(
        counts,
        fields=manifest.fields,
        required=manifest.required,
        plain_headings=plain_headings,
        expectations=expectations,
    )
