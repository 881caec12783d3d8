"""Field missing."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="payload.missing_field",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Field missing",
    means="lacks a field that it needs",
    many="lack a field that they need",
    measured=(
        "Each point is checked for its text, for its page if the suite has a site, and for every field in "
        "payload.required. For a field in payload.fields that is not required but that at least 95 % of the points "
        "have, the points without it are a warning."
    ),
    cause="The ingestion did not write this field for these points.",
    remedy="Make the ingestion write the field, then re-ingest the pages of these points.",
    breaks={Aspect.FIELD},
    reads={Aspect.ORIGIN},
    lowers=("metadata_completeness",),
    judged_by=("metadata_completeness",),
    repair="fill",
    lacks_value=True,
)
