"""Points without a partition.

A function and no query: if no point has a partition, there is one finding without subjects, and a query finds rows.
"""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="partition.untagged",
    severity="error",
    level="subject",
    group="metadata",
    subject_kind="point",
    action="reingest",
    title="Points without a partition",
    means="has no value of the field that searches filter by",
    many="have no value of the field that searches filter by",
    measured=(
        "The field of qdrant.partition_by is looked for in every point. A filter for a value finds no empty value and "
        "no object, so these are none."
    ),
    cause="The ingestion did not set it.",
    remedy=(
        "Set the field and re-ingest: a search under a filter does not find these points, one without a filter "
        "shows them to everyone."
    ),
)
