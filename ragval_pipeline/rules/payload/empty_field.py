"""Field empty."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="payload.empty_field",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Field empty",
    means="has no value in a field that it needs",
    many="have no value in a field that they need",
    measured=(
        "The text and each required field are checked for a value: null, blanks, invisible characters and "
        "empty lists count as empty, 0 and false do not."
    ),
    cause="The extraction found nothing for this field and stored it anyway.",
    remedy="Correct the extraction of the field, then re-ingest the pages of these points.",
    breaks={Aspect.FIELD},
    reads={Aspect.ORIGIN},
    lowers=("metadata_completeness",),
    judged_by=("metadata_completeness",),
    repair="fill",
    lacks_value=True,
)
