"""Collection is empty."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="index.empty",
    severity="error",
    level="run",
    group="index",
    subject_kind="collection",
    action="reingest",
    title="Collection is empty",
    means="holds no points",
    many="hold no points",
    measured="The points that pass qdrant.filter are counted.",
    cause="The ingestion wrote nothing, wrote elsewhere, or the filter matches nothing.",
    remedy="Run the ingestion, or correct qdrant.collection and qdrant.filter.",
    prevents="measuring",
)
