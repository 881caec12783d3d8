"""Index embedded in two ways.

A function and no query: that there are two ways, and which, follows from comparing all vectors.
"""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule
from ragval_pipeline.rules.vector.text_mismatch import Details

RULE = Rule(
    code="vector.mixed_models",
    severity="error",
    level="corpus",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Index embedded in two ways",
    means="was embedded differently from the rest",
    many="were embedded differently from the rest",
    measured=(
        "Stored texts are embedded again. A group of points that disagrees as a whole, while the rest "
        "agrees, was made with another model, or with an input type or preprocessing that was tried and fits it."
    ),
    cause="The model, or the text that is embedded, was changed and only new points were embedded that way.",
    remedy="Re-embed these points in the same way as the rest.",
    breaks={Aspect.VECTOR, Aspect.SPACE, Aspect.MODEL},
    lowers=("embedding_match",),
    repair="embed",
    repairs_all=True,
    details=Details,
)
