"""Search results are not reproducible."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="retrieval.nondeterministic",
    severity="warning",
    level="run",
    group="queries",
    subject_kind="query",
    action="setting",
    title="Search results are not reproducible",
    means="gets different ids, order or scores when repeated",
    many="get different ids, order or scores when repeated",
    measured=(
        "Each query is run several times (retrieval.repeats), and the ids, order and scores of the hits are compared."
    ),
    cause="Search is approximate, the index is changing, or several points have the same score.",
    remedy="Use exact search, or wait until the index no longer changes.",
    breaks={Aspect.STABLE},
    lowers=("determinism",),
)
