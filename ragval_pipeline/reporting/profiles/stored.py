"""What the snapshot stores of the chunks that queries returned, beyond what the report shows of a hit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragval_pipeline.reporting.files.bundle import ReportBundle
from ragval_pipeline.reporting.profiles.entities import Rule, RuleViolation

COLUMNS = ("point_id", "chunk_id", "text_hash", "text_sha256", "model", "embedded_at", "original_length")


def stored_chunks(bundle: ReportBundle) -> dict[str, dict[str, Any]]:
    """Stored values of every returned chunk by point id; empty when no snapshot was taken."""
    from ragval_pipeline.sources.snapshot.reader import Snapshot

    wanted = {hit.chunk_id for query in bundle.report.query_results for hit in query.top_results}
    if bundle.manifest is None or not wanted:
        return {}
    rows = Snapshot(bundle.manifest).rows(COLUMNS)
    return {row["point_id"]: row for row in rows if row["point_id"] in wanted}


def searched_vector(bundle: ReportBundle) -> tuple[int | None, str | None]:
    """Size and distance of the vectors that queries search."""
    if bundle.manifest is None:
        return None, None
    vector = bundle.manifest.facts.vector(bundle.setting("qdrant", "vector_name"))
    return (None, None) if vector is None else (vector.size, vector.distance)


def hash_matches(row: Mapping[str, Any]) -> bool | None:
    """Whether a stored SHA-256 is that of the stored text; null when none is stored."""
    text_hash = row.get("text_hash")
    if not isinstance(text_hash, str) or len(text_hash) != 64:
        return None
    return text_hash.lower() == row.get("text_sha256")


def embedding_rules(bundle: ReportBundle) -> tuple[Rule, ...]:
    """What two profiles ask of the embedding of a chunk, as far as the index records it."""
    hash_rule = Rule("text_hash_matches", "the hash must be that of the text", bool)
    model = bundle.report.environment.get("embedding_model")
    if model is None:
        return (hash_rule,)
    return (hash_rule, Rule("model", f"must be the model that queries are embedded with, {model}", model.__eq__))


def dimension_violations(bundle: ReportBundle, entity: str) -> Iterator[RuleViolation]:
    """The collection's dimension, once for all its embeddings, where queries are embedded with another one.

    Args:
        bundle: The run.
        entity: The seed's name for an embedding.
    """
    size, _ = searched_vector(bundle)
    expected = _query_dimension(bundle)
    if size is not None and expected is not None and size != expected:
        rule = f"must be that of the queries, {expected}"
        yield RuleViolation(entity=entity, where="embeddings", field="dimension", rule=rule, value=size)


def _query_dimension(bundle: ReportBundle) -> int | None:
    """The dimension that queries were found to have, else the one that the suite or its model states."""
    from ragval_pipeline.sources.embedders.models import known_dimension

    measured = [finding.details.get("found") for finding in bundle.findings if finding.code == "vector.dimension"]
    stated = bundle.setting("embedding", "dimension")
    model = bundle.report.environment.get("embedding_model")
    known = [*measured, stated, known_dimension(model) if model else None]
    return next((value for value in known if isinstance(value, int)), None)
