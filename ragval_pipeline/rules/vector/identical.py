"""Same vector for different texts."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.copies import Copies
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="vector.identical",
    severity="warning",
    level="subject",
    group="vectors",
    subject_kind="point",
    action="reingest",
    title="Same vector for different texts",
    means="has the same vector as a point with another text",
    many="have the same vector as a point with another text",
    measured="Points with the same vector are grouped, and groups with different texts are listed.",
    cause=(
        "Vectors were written to the wrong points or reused, or a default vector was stored for texts whose embedding "
        "failed."
    ),
    remedy=(
        "Re-embed these points. If a default is stored when an embedding fails, let the ingestion retry and then stop "
        "instead."
    ),
    breaks={Aspect.VECTOR, Aspect.SPACE},
    reads={Aspect.TEXT, Aspect.MODEL},
    lowers=("embedding_match",),
    repair="embed",
    details=Copies,
)
