"""Vectors missing."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="vector.missing",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Vectors missing",
    means="has no vector under the name that searches use",
    many="have no vector under the name that searches use",
    measured="Every point is checked for a vector under qdrant.vector_name.",
    cause="The point was written without this vector.",
    remedy="Re-embed these points, or correct qdrant.vector_name.",
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.FIELD},
    fields=("text",),
    lowers=("embedding_match",),
    repair="embed",
)
