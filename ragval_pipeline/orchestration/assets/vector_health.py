"""``vector_health``: whether every point has a vector, its text's own, by the model that queries are embedded with."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from ragval_pipeline.orchestration.assets.query_validation_results import searched_vector
from ragval_pipeline.orchestration.names import VECTOR_HEALTH
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement

#: Providers whose vectors are known to be made for cosine.
_MADE_FOR_COSINE = frozenset({"static", "cohere"})


def examine_vectors(suite: Suite, manifest: SnapshotManifest, connection: Any, embedding: Any) -> Measurement:
    """Read every vector once, re-embed the sampled texts, and judge both."""
    from ragval_pipeline.sources.embedders.cache import asked_anew
    from ragval_pipeline.sources.reembedding import embed_like
    from ragval_pipeline.sources.snapshot.lookup import rows_by_id
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.vectors import comparison, sample
    from ragval_pipeline.validation.vectors.measure import Lookups, VectorSettings, measure_vectors

    vector, snapshot = searched_vector(suite, manifest), Snapshot(manifest)

    def rows_of(ids: Collection[str], columns: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        return rows_by_id(snapshot.batches(columns), ids) if ids else {}

    with (
        open_reader(connection, suite) as reader,
        embedding.embedder_for(suite) as embedder,
        # Compared with a vector that was kept, a model that changed under its name would not show.
        asked_anew(embedder),
    ):
        embed = partial(_vectors, embed_like(embedder, vector))
        wanted = sample.wanted_points(suite.embedding.identity_sample, free=embedder.free)
        found = comparison.compare_vectors(
            snapshot.batches(comparison.COLUMNS),
            reader.vectors,
            embed=None if wanted == 0 else embed,
            sample=sample.choose_sample(snapshot.rows(sample.COLUMNS), wanted) if wanted else None,
            points=manifest.points,
            on_progress=progress_of(VECTOR_HEALTH),
        )
        settings = VectorSettings(
            collection=manifest.facts.name,
            vector=vector,
            model=embedder.model,
            made_for_cosine=embedder.provider in _MADE_FOR_COSINE,
            sampling=wanted != 0,
        )
        lookups = None
        if wanted:
            lookups = Lookups(
                nearest=lambda text: [hit.id for hit in reader.search(text.tolist(), limit=3, fields=(), exact=False)],
                vectors=lambda ids: list(reader.vectors(ids)),
                embed=embed,
            )
        measured = measure_vectors(found, settings, rows_of=rows_of, embed_as=embed, lookups=lookups)
        section = {**measured.sections.get("vectors", {}), "read_by": getattr(reader, "vector_way", "rest")}
        return measured.model_copy(update={"sections": {**measured.sections, "vectors": section}})


def _vectors(embed: Any, texts: Sequence[str], input_type: str = "search_document") -> Any:
    return embed(texts, input_type).vectors
