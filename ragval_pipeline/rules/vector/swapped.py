"""Vectors swapped between texts."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="vector.swapped",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Vectors swapped between texts",
    means="has a vector that belongs to another text",
    many="have a vector that belongs to another text",
    measured=(
        "A vector that does not fit its own text is compared with the other texts. It is listed if it fits one of them."
    ),
    cause="Vectors and payloads got out of step when they were written.",
    remedy="Re-embed these points.",
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.OWN},
    lowers=("embedding_match",),
    repair="embed",
)
