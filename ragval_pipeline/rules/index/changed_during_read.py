"""Index changed during the run."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="index.changed_during_read",
    severity="warning",
    level="run",
    group="index",
    subject_kind="point",
    action="setting",
    title="Index changed during the run",
    means="changed while the index was validated",
    many="changed while the index was validated",
    measured=(
        "At the end of the run every point is read again: its payload, as far as the run has read it, and its "
        "vector are compared with the first reading, vectors up to rounding. Points are counted before and after "
        "reading, too."
    ),
    cause="An ingestion was running.",
    remedy="Validate after the ingestion has finished.",
)
