"""Id breaks the suite's rule."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="payload.id_rule",
    severity="warning",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Id breaks the suite's rule",
    means="has an id that does not follow the suite's rule",
    many="have an id that does not follow the suite's rule",
    measured="The id of each point is computed by the rule of the profile and compared with the stored id.",
    cause="The id rule changed between ingestions, or the points come from elsewhere.",
    remedy=(
        "Re-ingest the pages of these points with the id rule. Then delete these points: "
        "delete_after_ingesting in remediation.json lists them."
    ),
)
