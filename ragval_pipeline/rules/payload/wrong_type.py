"""Field of the wrong type."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.fields import odd_values, tell_odd
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="payload.wrong_type",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Field of the wrong type",
    means="has a field of the wrong type",
    many="have a field of the wrong type",
    measured="The type of each value is compared with the type that the field needs: text, number, list of headings.",
    cause="The ingestion wrote the value in a different type than readers expect.",
    remedy=(
        "Write the field in the correct type, then re-ingest the pages of these points. "
        "Where text and vector are right, it is enough to set the field in the payload."
    ),
    breaks={Aspect.FIELD},
    repair="fill",
    sql=odd_values("wrong_type"),
    tell=tell_odd,
)
