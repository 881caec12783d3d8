"""``index_health``: readiness, recall and latency of the collection, and whether vectors match their texts."""

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from ragval_pipeline.errors import NotMeasurableError, SystemFailure
from ragval_pipeline.measuring.asking import Ways, hit_fields, searched_vector
from ragval_pipeline.measuring.connections import limit_of, open_reader
from ragval_pipeline.measuring.facts.files import StoredFacts
from ragval_pipeline.measuring.names import (
    INDEX_HEALTH,
    LATENCY_PROFILE,
    QUERY_VALIDATION_RESULTS,
    SPARSE_VECTORS,
    VECTOR_HEALTH,
    is_selected,
    selected_groups,
)
from ragval_pipeline.measuring.progress import progress_of
from ragval_pipeline.measuring.task import Task
from ragval_pipeline.sources.embedders.cache import asked_anew, uncached
from ragval_pipeline.sources.embedders.reembedding import embed_each, embed_like
from ragval_pipeline.sources.embedders.sparse import TextRow, knows_bm25, own_sparse_model, word_counts
from ragval_pipeline.sources.kept.evidence import Earlier
from ragval_pipeline.sources.kept.matches import Matches
from ragval_pipeline.sources.search.production import production_searcher
from ragval_pipeline.sources.search.searchers import IndexSearcher, Kind, Probe, probe_all, searched_again
from ragval_pipeline.sources.search.timing import Timed, time_queries, time_searcher
from ragval_pipeline.sources.snapshot.manifest import SnapshotManifest
from ragval_pipeline.sources.snapshot.reader import Snapshot, rows_by_id
from ragval_pipeline.sources.stores.qdrant.facts import NONSENSE, VectorFacts, check_sparse_name, no_dense_vector
from ragval_pipeline.sources.stores.qdrant.filtered import filter_words
from ragval_pipeline.sources.stores.qdrant.protocol import VectorBatch
from ragval_pipeline.sources.stores.qdrant.vectors import of_size
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.queries.load import load_queries
from ragval_pipeline.validation import latency
from ragval_pipeline.validation.belonging import Partitions
from ragval_pipeline.validation.detectors import find_all
from ragval_pipeline.validation.facts.manifest import FactsManifest
from ragval_pipeline.validation.index import ann
from ragval_pipeline.validation.index.readiness import Serving
from ragval_pipeline.validation.measurement import MeasuredValue, Measurement, failed_measurement, not_measured
from ragval_pipeline.validation.sparse.compared import compare_counts, compare_weights
from ragval_pipeline.validation.sparse.measure import COLUMNS as SPARSE_COLUMNS
from ragval_pipeline.validation.sparse.measure import measure_sparse
from ragval_pipeline.validation.sparse.vectors import Compared, SparseVectors, read_vectors
from ragval_pipeline.validation.vectors import comparison, sample
from ragval_pipeline.validation.vectors.classification import Lookups, VectorSettings
from ragval_pipeline.validation.vectors.measure import measure_vectors, no_vectors
from ragval_pipeline.validation.vectors.partition import with_texts
from ragval_pipeline.validation.vectors.sample import id_hash, spread_over

#: Test queries and stored vectors searched for both approximately and exactly.
QUERIES_PROBED = POINTS_PROBED = 50


def examine_index(
    suite: Suite, manifest: SnapshotManifest, connection: Any, embedding: Any, partitions: Partitions | None = None
) -> Measurement:
    """Judge the collection's facts, and compare default and exact searches if they can differ."""
    asked_by = list(dict.fromkeys(field for query in load_queries(suite) for field in query.filter or ()))
    findings = find_all(Serving(manifest.facts, suite.qdrant.filter, suite.qdrant.partition_by, asked_by))
    try:
        value = _not_measured(suite, manifest)
        if value is None:
            measured = _measure_recall(suite, manifest, connection, embedding, partitions)
        else:
            measured = Measurement(asset=INDEX_HEALTH, values=(value,))
    except (SystemFailure, NotMeasurableError) as error:
        measured = failed_measurement(INDEX_HEALTH, error)
    return measured.model_copy(update={"findings": (*measured.findings, *findings)})


def _not_measured(suite: Suite, manifest: SnapshotManifest) -> MeasuredValue | None:
    """The recall that cannot be measured; None if it can."""
    if not manifest.points:
        return not_measured(ann.CRITERION, "no_data", "the collection holds no points")
    if suite.retrieval.retriever is not None:
        reason = f"searches go through {suite.retrieval.retriever}, which does not support exact search"
        return not_measured(ann.CRITERION, "not_applicable", reason)
    if suite.retrieval.mode in {"sparse", "text"}:
        reason = f"searches of mode {suite.retrieval.mode} compare no dense vectors, and are exact"
        return not_measured(ann.CRITERION, "not_applicable", reason)
    if manifest.facts.is_sparse_only:
        return not_measured(ann.CRITERION, "not_applicable", f"the collection {no_dense_vector(manifest.facts)[0]}")
    vector = searched_vector(suite, manifest)
    exact = ann.why_exact(manifest.facts, vector, asked_exact=suite.retrieval.exact)
    if exact is not None:
        return not_measured(ann.CRITERION, "not_applicable", exact)
    if not manifest.facts.strict_mode.exact:
        return not_measured(ann.CRITERION, "no_data", "the collection's strict mode forbids exact searches")
    return None


def _measure_recall(
    suite: Suite, manifest: SnapshotManifest, connection: Any, embedding: Any, partitions: Partitions | None
) -> Measurement:
    vector = searched_vector(suite, manifest)
    with open_reader(connection, suite) as reader, embedding.embedder_for(suite) as embedder:
        vectors: dict[Kind, Mapping[str, Sequence[float]]] = {
            "query": _query_vectors(suite, vector, embedder),
            "point": _stored_vectors(manifest, reader),
        }
        how: Any = {"reader": reader, "limit": suite.retrieval.top_k}
        probes = probe_all(vectors, **how, on_progress=progress_of(INDEX_HEALTH))
        under = _under_filters(suite, vectors, how)
        result = ann.measure_ann(
            probes,
            manifest.facts,
            vector,
            threshold=limit_of(suite, ann.CRITERION),
            again=lambda quantization: searched_again(probes, vectors, **how, quantization=quantization),
            partitions=partitions,
            under_filters=under,
        )
    return Measurement(
        asset=INDEX_HEALTH,
        values=(result.value,),
        by_partition=result.by_partition,
        findings=result.findings,
        sections=result.section,
    )


#: Filters of queries under which recall is measured, most used first, and searches under each.
_FILTERS, _PROBES_A_FILTER = 20, 20


def _under_filters(
    suite: Suite, vectors: Mapping[Kind, Mapping[str, Sequence[float]]], how: Mapping[str, Any]
) -> dict[str, list[Probe]]:
    """Searches under each filter that queries use, for its own queries' vectors first, by the filter in words."""
    queries = [query for query in load_queries(suite) if query.filter]
    used = Counter(filter_words(query.filter or {}) for query in queries)
    filters = {filter_words(query.filter or {}): query.filter for query in queries}
    by_words = {}
    for words, _ in used.most_common(_FILTERS):
        own = [query.id for query in queries if query.filter == filters[words]]
        known = {kind: dict(named) for kind, named in vectors.items()}
        first = {name: known["query"].pop(name) for name in own if name in known["query"]}
        ordered = islice([*first.items(), *known["query"].items()], _PROBES_A_FILTER)
        by_words[words] = probe_all({"query": dict(ordered)}, **how, equal=filters[words])
    return by_words


def _query_vectors(suite: Suite, vector: Any, embedder: Any) -> Mapping[str, Sequence[float]]:
    queries = spread_over(load_queries(suite), QUERIES_PROBED)
    if not queries:
        return {}
    texts = [query.query_text for query in queries]
    given = embed_each(embedder, vector, texts, suite.embedding.query_input_type).vectors
    return {query.id: given[query.query_text].tolist() for query in queries if query.query_text in given}


def _stored_vectors(manifest: SnapshotManifest, reader: Any) -> Mapping[str, Sequence[float]]:
    ids = (row["point_id"] for row in Snapshot(manifest).rows(("point_id",)))
    chosen = heapq.nsmallest(POINTS_PROBED, ids, key=id_hash)
    rows = (pair for batch in reader.vectors(chosen) for pair in zip(batch.ids, batch.matrix, strict=True))
    # A zero vector has no neighbours, and some servers refuse it.
    return {name: row.tolist() for name, row in rows if row.any()}


def vector_health(task: Task) -> Measurement:
    """Judge the vectors of a task's collection, and leave for a later run how they match their texts."""
    measured, matches = examine_vectors(
        task.suite,
        task.facts,
        task.qdrant,
        task.embedding,
        asks_queries=is_selected(QUERY_VALIDATION_RESULTS, selected_groups(task.place.tags)),
        partitions=task.partitions,
        earlier=task.read.earlier,
    )
    if matches is not None and task.facts.kept is not None:
        try:
            task.read.facts = task.facts.model_copy(update={"kept": matches.write(task.facts.kept)})
        except OSError as error:
            task.log.warning("the next run embeds every text again: %s", error)
    return measured


#: Providers whose vectors are made for cosine.
_MADE_FOR_COSINE = frozenset({"static", "cohere"})


def examine_vectors(
    suite: Suite,
    facts: FactsManifest,
    connection: Any,
    embedding: Any,
    *,
    asks_queries: bool,
    partitions: Partitions | None = None,
    earlier: Earlier | None = None,
) -> tuple[Measurement, Matches | None]:
    """Read every vector once, re-embed the sampled texts, and judge both.

    Args:
        suite: The resolved suite.
        facts: The facts of the run.
        connection: Opens the collection.
        embedding: Opens the embedder.
        asks_queries: Whether the run asks the test queries too, which have precedence if the budget is not enough for
            both.
        partitions: Those of the collection, if it has any.
        earlier: An earlier run, whose comparisons are used where text, vector and model are the same.

    Returns:
        What was measured, and the comparisons for a later run; None if they say nothing of it.
    """
    manifest = facts.points
    if manifest.facts.has_no_vectors_yet:
        return Measurement(asset=VECTOR_HEALTH, values=(no_vectors(),)), None
    vector, snapshot = searched_vector(suite, manifest), Snapshot(manifest)

    def rows_of(ids: Collection[str], columns: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        return rows_by_id(snapshot.batches(columns), ids) if ids else {}

    if asks_queries and suite.budget.is_limited and suite.retrieval.retriever is None:
        texts = list(dict.fromkeys(query.query_text for query in load_queries(suite)))
        # Whatever fails here fails the queries, which report it.
        with suppress(SystemFailure, NotMeasurableError), embedding.embedder_for(suite) as embedder:
            embed_each(embedder, vector, texts, suite.embedding.query_input_type)
    with (
        open_reader(connection, suite) as reader,
        embedding.embedder_for(suite) as embedder,
        # Cached vectors would hide a model that changed under its name; and vectors that are free are not cached: every
        # text of the index is embedded once.
        uncached(embedder) if embedder.free else asked_anew(embedder),
    ):
        embed = partial(_vectors, embed_like(embedder, vector), vector)
        unsampled = _why_not_embedded(suite, manifest)
        wanted = 0 if unsampled else sample.wanted_points(suite.embedding.identity_sample, free=embedder.free)
        suspected = sample.suspects(StoredFacts(facts)) if wanted else ()
        chosen = sample.choose_sample(snapshot.rows(sample.COLUMNS), wanted, suspected) if wanted else None
        matches = _matches(earlier, embedder, vector) if wanted != 0 else None

        def compare() -> comparison.Comparison:
            return comparison.compare_vectors(
                snapshot.batches(comparison.COLUMNS),
                lambda ids: _centred(of_size(reader.vectors(ids), vector.size, manifest.facts.name), vector),
                embed=None if wanted == 0 else embed,
                sample=chosen,
                points=manifest.points,
                matches=matches,
                on_progress=progress_of(VECTOR_HEALTH),
            )

        compared = with_texts(compare, matches)
        settings = _settings(suite, manifest, embedder, unsampled)
        lookups = _lookups(reader, embed, vector) if wanted else None
        measured = measure_vectors(
            compared, settings, rows_of=rows_of, embed_as=embed, lookups=lookups, partitions=partitions
        )
        coding = {} if vector.coding is None else {"coding": vector.coding.model_dump()}
        section = {**measured.sections.get("vectors", {}), "read_by": getattr(reader, "vector_way", "rest"), **coding}
        return measured.model_copy(update={"sections": {**measured.sections, "vectors": section}}), matches


#: Providers whose vectors depend on nothing but the text and the versions of ragval and its packages.
_FIXED = frozenset({"static"})


def _matches(earlier: Earlier | None, embedder: Any, vector: VectorFacts) -> Matches | None:
    """What is known of the vectors of texts; None if the embedder may give others today."""
    if embedder.provider not in _FIXED:
        return None
    coding = "" if vector.coding is None else vector.coding.model_dump_json()
    return Matches(earlier, embedder.provider, embedder.model, coding)


def examine_sparse(suite: Suite, manifest: SnapshotManifest, connection: Any) -> Measurement:
    """Read every sparse vector once; nothing in a collection without any.

    Raises:
        SuiteError: ``retrieval.sparse.vector_name`` is none of the collection's sparse vectors.
    """
    settings, facts = suite.retrieval.sparse, manifest.facts
    check_sparse_name(settings.vector_name, facts)
    if not facts.sparse:
        return Measurement(asset=SPARSE_VECTORS)
    snapshot = Snapshot(manifest)
    with open_reader(connection, suite) as reader:
        vectors = [
            read_vectors(
                each,
                reader.sparse(each.name),
                judged=settings.vector_name in {None, each.name},
                model=settings.model if settings.vector_name in {None, each.name} else None,
            )
            for each in facts.sparse
        ]
    vectors = [each.with_compared(_computed_again(suite, each, snapshot)) for each in vectors]
    return measure_sparse(
        vectors, collection=facts.name, rows_of=lambda ids: rows_by_id(snapshot.batches(SPARSE_COLUMNS), ids)
    )


def _computed_again(suite: Suite, vectors: SparseVectors, snapshot: Snapshot) -> Compared | None:
    """Sparse vectors compared with those of the texts, computed again; None if their model is not known."""

    def texts() -> Iterator[TextRow]:
        for row in snapshot.rows(("point_id", "text", "embedded_text")):
            yield row["point_id"], row["text"], row["embedded_text"]

    if vectors.model is not None and ":" in vectors.model:
        return compare_weights(vectors.held, texts, own_sparse_model(vectors.model, suite.folder))
    if "bm25" in {vectors.model, vectors.weights} and knows_bm25():
        return compare_counts(vectors.held, texts, word_counts())
    return None


def _why_not_embedded(suite: Suite, manifest: SnapshotManifest) -> str | None:
    """Why no text is re-embedded; None if some are."""
    if manifest.facts.redacted:
        return NONSENSE
    return "embedding.identity_sample is 0" if suite.embedding.identity_sample == 0 else None


def _settings(suite: Suite, manifest: SnapshotManifest, embedder: Any, unsampled: str | None) -> "VectorSettings":
    vector = searched_vector(suite, manifest)
    return VectorSettings(
        collection=manifest.facts.name,
        vector=vector,
        model=embedder.model,
        made_for_cosine=embedder.provider in _MADE_FOR_COSINE,
        unsampled=unsampled,
        embedded_fields=suite.payload.embedded_fields,
        template=suite.payload.embedded_text,
        other_vectors=tuple(each.name for each in manifest.facts.vectors if each.name and each.name != vector.name),
    )


def _lookups(reader: Any, embed: Any, vector: VectorFacts) -> "Lookups":
    def nearest(text: Any) -> list[str]:
        asked = text if vector.coding is None else vector.coding.uncentred(text[None])[0]
        return [hit.id for hit in reader.search(asked.tolist(), limit=3, fields=(), exact=False)]

    return Lookups(nearest=nearest, vectors=lambda ids: list(_centred(reader.vectors(ids), vector)), embed=embed)


def _centred(batches: Iterable[VectorBatch], vector: VectorFacts) -> Iterator[VectorBatch]:
    return (replace(batch, matrix=vector.centred(batch.matrix)) for batch in batches)


def _vectors(embed: Any, vector: VectorFacts, texts: Sequence[str], input_type: str = "search_document") -> Any:
    return vector.centred(embed(texts, input_type).vectors)


#: Maximum queries timed: each is a call to the provider, and 50 give the p95 as well as 5,000.
QUERIES_TIMED = 50


def time_searches(
    suite: Suite, manifest: SnapshotManifest, connection: Any, embedding: Any, partitions: Partitions | None = None
) -> Measurement:
    """Time single searches of a resolved suite."""
    if suite.latency == "off":
        return latency.switched_off()
    on_progress = progress_of(LATENCY_PROFILE)
    queries = [
        Timed(query.id, query.query_text, query.filter) for query in spread_over(load_queries(suite), QUERIES_TIMED)
    ]
    if not manifest.points or not queries:
        return latency.nothing_timed(
            "the suite has no test queries" if manifest.points else "the collection holds no points"
        )
    if suite.retrieval.retriever is not None:
        timings = time_searcher(
            queries, searcher=production_searcher(suite), limit=suite.retrieval.top_k, on_progress=on_progress
        )
    else:
        with Ways(suite, manifest, connection, embedding).judged() as way:
            searcher = way.searcher
            assert isinstance(searcher, IndexSearcher)
            timings = time_queries(
                queries,
                method=searcher.method,
                embedder=searcher.embedder,
                reader=searcher.reader,
                vector=searcher.vector,
                input_type=searcher.input_type,
                fields=hit_fields(suite),
                limit=suite.retrieval.top_k,
                on_progress=on_progress,
            )
    budget_ms = limit_of(suite, latency.CRITERION)
    return latency.measure_latency(timings, budget_ms=budget_ms, partitions=partitions)
