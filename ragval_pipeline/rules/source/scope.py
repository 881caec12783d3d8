"""Pages that the suite leaves out."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="source.scope",
    severity="info",
    level="run",
    group="coverage",
    subject_kind="folder",
    action="setting",
    title="Pages that the suite leaves out",
    means="of the site is left out by source.include or source.exclude",
    many="of the site are left out by source.include or source.exclude",
    measured=(
        "The listed pages that do not pass source.include and source.exclude are counted by folder. They are "
        "not expected in the index, and no criterion counts them."
    ),
    cause="source.include or source.exclude does not match them.",
    remedy="If the assistant should answer from these pages, too, widen source.include or source.exclude.",
)
