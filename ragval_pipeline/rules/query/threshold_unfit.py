"""Threshold does not fit the embedder."""

from ragval_pipeline.rules.aspects import Aspect
from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="query.threshold_unfit",
    severity="warning",
    level="run",
    group="queries",
    subject_kind="setting",
    action="setting",
    title="Threshold does not fit the embedder",
    means="does not separate right from wrong hits with this embedder",
    many="do not separate right from wrong hits with this embedder",
    measured=(
        "The scores of right hits are compared with those of wrong hits, and the threshold is compared "
        "with both: the suite's, that of most queries, and one that most of at least 5 queries stating it miss."
    ),
    cause="The threshold was taken from another model.",
    remedy="Calibrate the threshold on this index.",
    breaks={Aspect.REACH, Aspect.SELECTION},
    reads={Aspect.SPACE},
    repair="set_threshold",
    explains_queries_only=True,
    to_copy="calibrate",
)
