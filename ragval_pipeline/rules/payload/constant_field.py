"""Field is the same everywhere."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="payload.constant_field",
    severity="warning",
    level="corpus",
    group="metadata",
    subject_kind="field",
    action="chunker",
    title="Field is the same everywhere",
    means="has the same value in every point",
    many="have the same value in every point",
    measured=(
        "The distinct values of each field that should distinguish points are counted. Fields that may be "
        "the same everywhere, such as the model, are not checked."
    ),
    cause="The ingestion derives the field wrongly: the field is meant to distinguish points.",
    remedy="Correct how the ingestion derives the field.",
    breaks={Aspect.FIELD, Aspect.VARIETY},
    repair="fill",
)
