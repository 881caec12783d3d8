"""Collection not ready."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="index.not_ready",
    severity="warning",
    level="run",
    group="index",
    subject_kind="collection",
    action="setting",
    title="Collection not ready",
    means="is not ready to serve",
    many="are not ready to serve",
    measured=(
        "The status that Qdrant reports for the collection is read: its colour, the optimiser, and vectors "
        "that are not indexed yet. An embedded Qdrant has none of these."
    ),
    cause="The optimiser is still running or failed, or points are hidden from search.",
    remedy="Wait until the status is green, or look at the optimiser's error.",
)
