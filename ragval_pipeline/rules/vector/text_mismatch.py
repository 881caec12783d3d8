"""Vectors that do not fit their text."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="vector.text_mismatch",
    severity="error",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Vectors that do not fit their text",
    means="has a vector that does not fit its text",
    many="have a vector that does not fit their text",
    measured=(
        "Stored texts are embedded again, and the cosine between the stored and the new vector is "
        "computed. Vectors that are missing, zero, swapped, or from another model are reported under their own "
        "codes instead."
    ),
    cause="The text was changed and not embedded again, or the vector was damaged.",
    remedy="Re-embed these points.",
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.FIELD, Aspect.VECTOR, Aspect.TEXT, Aspect.MODEL, Aspect.KEPT},
    lowers=("embedding_match",),
    repair="embed",
)
