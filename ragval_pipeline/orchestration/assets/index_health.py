"""``index_health``: whether the collection is ready, indexed where it is filtered, and searched well enough."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragval_pipeline.orchestration.assets.query_validation_results import searched_vector
from ragval_pipeline.orchestration.limits import limit_of
from ragval_pipeline.orchestration.names import INDEX_HEALTH
from ragval_pipeline.orchestration.progress import progress_of
from ragval_pipeline.orchestration.resources import open_reader
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.validation.measurement import Measurement, not_measured

#: Test queries and stored vectors that are searched for both ways.
QUERIES_PROBED = POINTS_PROBED = 50


def examine_index(suite: Suite, manifest: SnapshotManifest, connection: Any, embedding: Any) -> Measurement:
    """Judge the collection's facts, and compare default and exact searches where they can differ."""
    from ragval_pipeline.errors import NotMeasurableError, SystemFailure
    from ragval_pipeline.validation.detectors import find_all
    from ragval_pipeline.validation.index.ann import CRITERION
    from ragval_pipeline.validation.index.readiness import Serving
    from ragval_pipeline.validation.measurement import failed_measurement

    facts = manifest.facts
    findings = tuple(find_all(Serving(facts, suite.qdrant.filter)))
    if not manifest.points:
        value = not_measured(CRITERION, "no_data", "the collection holds no points")
        return Measurement(asset=INDEX_HEALTH, values=(value,), findings=findings)
    try:
        reason = _why_not(suite, manifest)
        if reason is None and not facts.strict_mode.exact:
            value = not_measured(CRITERION, "no_data", "the collection's strict mode forbids exact searches")
            return Measurement(asset=INDEX_HEALTH, values=(value,), findings=findings)
        if reason is None:
            measured = _measure_recall(suite, manifest, connection, embedding)
            return measured.model_copy(update={"findings": (*findings, *measured.findings)})
    except (SystemFailure, NotMeasurableError) as error:
        failed = failed_measurement(INDEX_HEALTH, error)
        return failed.model_copy(update={"findings": (*failed.findings, *findings)})
    value = not_measured(CRITERION, "not_applicable", reason)
    return Measurement(asset=INDEX_HEALTH, values=(value,), findings=findings)


def _why_not(suite: Suite, manifest: SnapshotManifest) -> str | None:
    """Why there is no recall to measure; null when there is."""
    from ragval_pipeline.validation.index.ann import why_exact

    if suite.retrieval.retriever is not None:
        return f"searches go through {suite.retrieval.retriever}, which cannot be asked to search exactly"
    return why_exact(manifest.facts, searched_vector(suite, manifest), asked_exact=suite.retrieval.exact)


def _measure_recall(suite: Suite, manifest: SnapshotManifest, connection: Any, embedding: Any) -> Measurement:
    from ragval_pipeline.sources.probes import probe_all
    from ragval_pipeline.validation.index.ann import CRITERION, measure_ann

    vector = searched_vector(suite, manifest)
    with open_reader(connection, suite) as reader, embedding.embedder_for(suite) as embedder:
        probes = probe_all(
            {"query": _query_vectors(suite, vector, embedder), "point": _stored_vectors(manifest, reader)},
            reader=reader,
            limit=suite.retrieval.top_k,
            on_progress=progress_of(INDEX_HEALTH),
        )
    result = measure_ann(probes, manifest.facts, vector, threshold=limit_of(suite, CRITERION))
    return Measurement(asset=INDEX_HEALTH, values=(result.value,), findings=result.findings, sections=result.section)


def _query_vectors(suite: Suite, vector: Any, embedder: Any) -> Mapping[str, Sequence[float]]:
    from ragval_pipeline.sources.reembedding import embed_each
    from ragval_pipeline.suite.queries.load import load_queries
    from ragval_pipeline.validation.spread import spread_over

    queries = spread_over(load_queries(suite), QUERIES_PROBED)
    if not queries:
        return {}
    texts = [query.query_text for query in queries]
    given = embed_each(embedder, vector, texts, suite.embedding.query_input_type).vectors
    return {query.id: given[query.query_text].tolist() for query in queries if query.query_text in given}


def _stored_vectors(manifest: SnapshotManifest, reader: Any) -> Mapping[str, Sequence[float]]:
    from ragval_pipeline.sources.snapshot.reader import Snapshot
    from ragval_pipeline.validation.vectors.sample import id_hash

    ids = [row["point_id"] for row in Snapshot(manifest).rows(("point_id",))]
    chosen = sorted(ids, key=id_hash)[:POINTS_PROBED]
    rows = (pair for batch in reader.vectors(chosen) for pair in zip(batch.ids, batch.matrix, strict=True))
    # A vector of zeros is near to nothing, and some servers refuse it.
    return {name: row.tolist() for name, row in rows if row.any()}
