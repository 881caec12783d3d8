"""``payload_snapshot``: the payload of every point, read once into Parquet parts.

Each row carries the sitemap page that its point belongs to.
"""

from typing import Any

import dagster as dg

from ragval_pipeline.orchestration.assets.common import suite_asset, upstream
from ragval_pipeline.orchestration.external import collection_deps, observed_collection
from ragval_pipeline.orchestration.measuring import reading_the_world
from ragval_pipeline.orchestration.metadata import numbers, snapshot_schema
from ragval_pipeline.orchestration.names import PAYLOAD_SNAPSHOT, SITEMAP_URLS, resource_key
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.orchestration.run_place import run_place
from ragval_pipeline.sources.inventory import SiteInventory
from ragval_pipeline.sources.qdrant.facts import CollectionFacts
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.load import resolve_suite
from ragval_pipeline.suite.model import Suite


def build_payload_snapshot(suite: Suite, *, ingestion: dg.AssetKey | None = None) -> dg.AssetsDefinition:
    """The asset; it raises when Qdrant cannot be read whole.

    Args:
        suite: The suite.
        ingestion: The asset that fills the collection, for the lineage; its value is not read.
    """

    @suite_asset(
        suite,
        PAYLOAD_SNAPSHOT,
        kinds={"qdrant", "parquet"},
        resources=("qdrant",),
        ins=upstream(suite, inventory=SITEMAP_URLS),
        deps=[*collection_deps(suite), *([ingestion] if ingestion else [])],
        description=__doc__,
        metadata={"dagster/column_schema": snapshot_schema()},
    )
    def payload_snapshot(
        context: dg.AssetExecutionContext, inventory: SiteInventory
    ) -> dg.MaterializeResult[SnapshotManifest]:
        from ragval_pipeline.sources.snapshot.writer import take_snapshot

        resolved = resolve_suite(suite)
        place = run_place(context, resolved)
        connection = getattr(context.resources, resource_key(suite.suite, "qdrant"))
        with reading_the_world(), open_reader(connection, resolved) as reader:
            manifest = take_snapshot(
                reader,
                payload=resolved.payload,
                page_key=inventory.folder().key,
                pages=inventory.scope_urls,
                folder=place.staged_payload,
                kept_uri=str(place.kept_payload),
                run_id=context.run.run_id,
                on_progress=progress_of(PAYLOAD_SNAPSHOT),
            )
        context.log_event(observed_collection(suite, manifest))
        return dg.MaterializeResult(value=manifest, metadata=_metadata(manifest))

    return payload_snapshot


def _metadata(manifest: SnapshotManifest) -> dict[str, Any]:
    facts = manifest.facts
    return {
        **numbers(
            {
                "dagster/row_count": manifest.points,
                "count_before": manifest.count_before,
                "count_after": manifest.count_after,
                "parts": len(manifest.parts),
                "seconds": round(manifest.seconds, 3),
            }
        ),
        "collection": dg.MetadataValue.text(facts.name),
        "status": dg.MetadataValue.text(facts.status),
        "vectors": dg.MetadataValue.text(_vectors(facts)),
        "parts_folder": dg.MetadataValue.path(manifest.kept_uri),
    }


def _vectors(facts: CollectionFacts) -> str:
    shown = [f"{vector.name or '(unnamed)'}: {vector.size}, {vector.distance}" for vector in facts.vectors]
    return "; ".join(shown) or "none"
