"""A check could not run."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="check.crashed",
    severity="error",
    level="run",
    group="run",
    subject_kind="check",
    action="report",
    title="A check could not run",
    means="failed to run, so its criteria were not measured",
    many="failed to run, so their criteria were not measured",
    measured="An exception in ragval ended a check. Its criteria are not measured; the rest of the run continues.",
    cause="A bug in ragval, or data that it did not expect.",
    remedy="Report the exception together with the run's log.",
    prevents="measuring",
)
