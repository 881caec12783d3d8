"""Index embedded in another way."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="vector.model_mismatch",
    severity="error",
    level="corpus",
    group="vectors",
    subject_kind="collection",
    action="setting",
    title="Index embedded in another way",
    means="holds vectors that re-embedding its texts does not reproduce",
    many="hold vectors that re-embedding their texts does not reproduce",
    measured=(
        "Stored texts are embedded again and compared with the stored vectors. The collection is reported "
        "if it disagrees as a whole, even after other input types and truncated texts were tried."
    ),
    cause="The collection was embedded with another model, input type or preprocessing.",
    remedy="Embed queries exactly as the collection was embedded, or re-embed the collection.",
    breaks={Aspect.SPACE, Aspect.MODEL},
    lowers=("embedding_match",),
    repair="embed",
    repairs_all=True,
)
