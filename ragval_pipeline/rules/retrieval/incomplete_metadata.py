"""Hits with incomplete metadata."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="retrieval.incomplete_metadata",
    severity="error",
    level="subject",
    group="queries",
    subject_kind="point",
    action="reingest",
    title="Hits with incomplete metadata",
    means="was returned for a query but lacks required fields",
    many="were returned for queries but lack required fields",
    measured="The hits of all queries are checked for the required fields.",
    cause="The ingestion did not write these fields.",
    remedy="Make the ingestion write the fields, then re-ingest the pages of these points.",
    reads={Aspect.FIELD},
    lowers=("retrieved_metadata_completeness",),
)
