"""Payload index missing."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="index.payload_index_missing",
    severity="warning",
    level="run",
    group="index",
    subject_kind="field",
    action="setting",
    title="Payload index missing",
    means="is filtered on but has no payload index",
    many="are filtered on but have no payload index",
    measured="The fields of qdrant.filter are compared with the collection's payload indexes.",
    cause="The index was never created.",
    remedy="Create a payload index for the field.",
    to_copy="payload_index",
)
