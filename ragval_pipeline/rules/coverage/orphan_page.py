"""Indexed pages that are not on the site."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="coverage.orphan_page",
    severity="warning",
    level="subject",
    group="coverage",
    subject_kind="page",
    action="delete",
    title="Indexed pages that are not on the site",
    means="is in the index but not in scope",
    many="are in the index but not in scope",
    measured=(
        "The pages of all points are compared with the pages of the site in scope. Those without a "
        "counterpart are listed."
    ),
    cause="The page was removed from the site, or was ingested although it is out of scope.",
    remedy="Delete the points of these pages, or bring the pages into scope.",
    breaks={Aspect.FIELD},
    reads={Aspect.FIELD, Aspect.LISTED},
    fields=("source_url",),
    repair="delete",
)
