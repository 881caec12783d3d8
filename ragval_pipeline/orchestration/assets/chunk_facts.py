"""``chunk_facts``: one row a chunk and one a page: what stands where, read off the texts once."""

from __future__ import annotations

from ragval_pipeline.errors import RagvalError
from ragval_pipeline.orchestration.assets.content_integrity import limits_of
from ragval_pipeline.orchestration.measuring import Made, log_crash
from ragval_pipeline.orchestration.metadata import numbers
from ragval_pipeline.orchestration.names import CHUNK_FACTS, is_selected, selected_groups
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.task import Task
from ragval_pipeline.orchestration.values import ChunkFacts
from ragval_pipeline.validation.facts.manifest import FactsManifest


def make_chunk_facts(task: Task) -> Made:
    """The facts; none when nothing that needs them is selected, and a defect in making them ends in the manifest."""
    from ragval_pipeline.sources.site.page_copies.reader import PageCopies
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.facts.make import make_facts

    place = task.place
    manifest = FactsManifest(run_id=place.run_id, points=task.manifest, copies=task.pages)
    if is_selected(CHUNK_FACTS, selected_groups(place.tags)):
        progress_of(CHUNK_FACTS)(0, None)
        try:
            manifest = make_facts(
                Snapshot(task.manifest),
                PageCopies(task.pages),
                folder=place.staged_facts,
                kept_uri=str(place.kept_facts),
                run_id=place.run_id,
                limits=limits_of(task.suite, task.manifest),
                scale=task.suite.scale,
                on_progress=progress_of(CHUNK_FACTS),
            )
        except Exception as error:  # noqa: BLE001  content_integrity reports it
            log_crash(task.context, CHUNK_FACTS, error)
            told = str(error) if isinstance(error, RagvalError) else ""
            manifest = manifest.model_copy(update={"crash": type(error).__name__, "problem": told})
    rows = {"chunks": manifest.chunks, "pages": manifest.pages}
    counts = {name: sum(part.rows for part in parts) for name, parts in rows.items()}
    metadata = numbers({"dagster/row_count": counts["chunks"], **counts, "seconds": round(manifest.seconds, 3)})
    return Made(ChunkFacts(stamp=task.stamp(), index=task.index, facts=manifest), metadata)
