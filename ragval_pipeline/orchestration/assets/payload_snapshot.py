"""``payload_snapshot``: the payload of every point, read once into Parquet parts.

Each row carries the sitemap page that its point belongs to.
"""

from typing import Any

import dagster as dg

from ragval_pipeline.orchestration import names
from ragval_pipeline.orchestration.evidence import COLLECTION
from ragval_pipeline.orchestration.external import observed_collection
from ragval_pipeline.orchestration.measuring import Made
from ragval_pipeline.orchestration.metadata import numbers
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.orchestration.task import Task
from ragval_pipeline.orchestration.values import PayloadSnapshot
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.stores.qdrant.facts import CollectionFacts


def read_points(task: Task) -> Made:
    """The points of the collection.

    Raises:
        SystemFailure: Qdrant cannot be read whole.
    """
    from ragval_pipeline.sources.snapshot.writer import take_snapshot
    from ragval_pipeline.sources.stores.qdrant.change import fingerprint_of

    payload, inventory = task.suite.payload, task.inventory
    with open_reader(task.qdrant, task.suite) as reader:
        # Before the read: a change during it is a change since.
        state = fingerprint_of(reader, payload.fields.get("embedded_at"))
        manifest = take_snapshot(
            reader,
            payload=payload,
            page_key=inventory.folder().key,
            pages=inventory.scope_urls,
            folder=task.place.staged_payload,
            kept_uri=str(task.place.kept_payload),
            run_id=task.place.run_id,
            on_progress=progress_of(names.PAYLOAD_SNAPSHOT),
        )
    task.context.log_event(observed_collection(task.key(names.COLLECTION), manifest))
    value = PayloadSnapshot(stamp=task.stamp(**{COLLECTION: state}), inventory=inventory, manifest=manifest)
    return Made(value, _metadata(manifest))


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
