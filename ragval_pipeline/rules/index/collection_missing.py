"""Collection does not exist."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="index.collection_missing",
    severity="error",
    level="run",
    group="index",
    subject_kind="collection",
    action="setting",
    title="Collection does not exist",
    means="does not exist",
    many="do not exist",
    measured="Qdrant is queried for the collection or alias in qdrant.collection.",
    cause="The name is wrong, or nothing was ingested yet.",
    remedy="Correct qdrant.collection, or ingest first.",
    prevents="run",
)
