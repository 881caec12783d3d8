"""Sparse vectors missing."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="sparse.missing",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Sparse vectors missing",
    means="has no sparse vector, so that keyword search cannot find it",
    many="have no sparse vector, so that keyword search cannot find them",
    measured=(
        "The sparse vectors of all points are read: those under retrieval.sparse.vector_name, else every "
        "one of the collection. A point is listed if it has none of them, or only empty ones, although its text has "
        "words."
    ),
    cause="The point was written before hybrid search was switched on, or by another writer.",
    remedy="Ingest these points again with their sparse vectors.",
    reads={Aspect.FIELD},
    fields=("text",),
)
